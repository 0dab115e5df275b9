// What the threads of a block or warp do together, and where a thread goes on.
#include "palmette/device/emulator_state.hpp"
#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {
namespace {

void synchronize_block(Thread& t, const Instruction& i) {
  if (read<std::uint32_t>(t, i, 0) != 0)
    world->error("a barrier other than 0 at " + place(where(t, i)) + ", which the emulator does not know");
  block_barrier(where(t, i));
}
void synchronize_warp(Thread& t, const Instruction& i) {
  warp_barrier(read<std::uint32_t>(t, i, 0), where(t, i));
}

enum class Vote { ballot, any, all };
template <Vote vote>
void take_vote(Thread& t, const Instruction& i) {
  const auto mask = read<std::uint32_t>(t, i, 2);
  const std::uint32_t votes = ballot(mask, read<bool>(t, i, 1), where(t, i));
  if constexpr (vote == Vote::ballot)
    write(t, i, 0, votes);
  else
    write(t, i, 0, vote == Vote::any ? votes != 0 : (votes & mask) == mask);
}

enum class Shuffle { up, down, butterfly, index };

/// Operands of a shuffle as PTX defines them: the lane or distance, and the bounds of the lane's segment.
struct Lanes {
  int by, clamp, segment;
};

/// The lane to read from. @returns the own lane where that would leave the segment; `inside` says which
template <Shuffle kind>
int source_lane(const Lanes& lanes, bool& inside) {
  const int own = lane(), first = own & lanes.segment;
  const int last = first | (lanes.clamp & ~lanes.segment);
  const int from = kind == Shuffle::up          ? own - lanes.by
                   : kind == Shuffle::down      ? own + lanes.by
                   : kind == Shuffle::butterfly ? own ^ lanes.by
                                                : first | (lanes.by & ~lanes.segment);
  inside = kind == Shuffle::up ? from >= last : from <= last;
  return inside ? from : own;
}

/// @tparam first  operand behind the destinations; with two, the second says whether the lane was inside
template <Shuffle kind, int first>
void shuffle_lanes(Thread& t, const Instruction& i) {
  const auto bounds = read<std::uint32_t>(t, i, first + 2);
  const Lanes lanes{static_cast<int>(read<std::uint32_t>(t, i, first + 1) & 31),
                    static_cast<int>(bounds & 31), static_cast<int>(bounds >> 8 & 31)};
  bool inside = false;
  const int from = source_lane<kind>(lanes, inside);
  const std::uint64_t bits = exchange(read<std::uint32_t>(t, i, first + 3), read<std::uint32_t>(t, i, first),
                                      from, kind == Shuffle::butterfly ? 'x' : 's', where(t, i));
  write(t, i, 0, static_cast<std::uint32_t>(bits));
  if constexpr (first == 2) write(t, i, 1, inside);
}

template <Shuffle kind>
void add_shuffle(InstructionSet& set, const std::string& name) {
  set.add("shfl.sync." + name + ".b32", "rrrrr", shuffle_lanes<kind, 1>);
  set.add("shfl.sync." + name + ".b32", "prrrr", shuffle_lanes<kind, 2>);
}

void branch(Thread& t, const Instruction& i) {
  t.next = i.target;
}
void end(Thread& t, const Instruction&) {
  t.next = -1;
}
void trap(Thread& t, const Instruction& i) {
  world->error("trap at " + place(where(t, i)));
  t.next = -1;
}

}  // namespace

void add_collectives(InstructionSet& set) {
  for (const std::string name : {"bar.sync", "barrier.sync", "barrier.sync.aligned"})
    set.add(name, "r", synchronize_block);
  set.add("bar.warp.sync", "r", synchronize_warp);
  set.add("vote.sync.ballot.b32", "rrr", take_vote<Vote::ballot>);
  set.add("vote.sync.any.pred", "rrr", take_vote<Vote::any>);
  set.add("vote.sync.all.pred", "rrr", take_vote<Vote::all>);
  add_shuffle<Shuffle::up>(set, "up");
  add_shuffle<Shuffle::down>(set, "down");
  add_shuffle<Shuffle::butterfly>(set, "bfly");
  add_shuffle<Shuffle::index>(set, "idx");
  set.add("nanosleep.u32", "r", [](Thread&, const Instruction&) { pause(); });
  set.add("bra", "l", branch);
  set.add("bra.uni", "l", branch);
  set.add("ret", "", end);
  set.add("exit", "", end);
  set.add("trap", "", trap);
}

const InstructionSet& instruction_set() {
  static const InstructionSet all = [] {
    InstructionSet set;
    add_arithmetic(set);
    add_bit_operations(set);
    add_comparisons(set);
    add_conversions(set);
    add_memory(set);
    add_atomics(set);
    add_collectives(set);
    add_calls(set);
    return set;
  }();
  return all;
}

}  // namespace palmette::emulate::ptx
