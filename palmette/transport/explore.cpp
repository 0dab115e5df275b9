// Every order of deliveries and tasks. A rank depends only on what it sees itself, so orders that differ only
// in which of two ranks acts first are tried once: the lowest rank that can act and has not been deferred
// either acts, or is deferred until another message is sent to it.
#include <algorithm>

#include "palmette/transport/simulated_state.hpp"

namespace palmette {

/// The choices of one order, from which the next order follows: the last choice that has an alternative is
/// changed.
struct OrderExplorer {
  struct Choice {
    std::size_t taken;
    std::size_t options;
  };
  std::vector<Choice> choices;
  std::size_t depth = 0;

  std::size_t choose(std::size_t options) {
    if (depth == choices.size()) choices.push_back({0, options});
    return choices[depth++].taken;
  }
  /// False if there is no other order.
  bool next() {
    while (!choices.empty() && choices.back().taken + 1 == choices.back().options) choices.pop_back();
    if (choices.empty()) return false;
    ++choices.back().taken;
    depth = 0;
    return true;
  }

  struct Side {
    std::vector<Message> coming;
    bool awake = true;    // may have a task to run
    bool put_off = false;
    bool can_act() const { return awake || !coming.empty(); }
  };

  /// Messages were just sent to these ranks, which are no longer deferred.
  static void depart(SimulatedWorld::State& world, std::vector<Side>& sides) {
    for (transport_detail::Flight& flight : world.sent) {
      Side& side = sides[flight.destination];
      side.coming.push_back(std::move(flight.message));
      side.put_off = false;
    }
    world.sent.clear();
  }

  /// @returns false if this order does not occur: all ranks that can act were deferred for ever
  bool run_one_order(SimulatedWorld::State& world, std::span<RankProgram* const> programs) {
    const SubnormalsAsZero scope;
    std::vector<Side> sides(programs.size());
    for (RankProgram* program : programs) {
      program->start();
      depart(world, sides);
    }
    for (;;) {
      const auto side =
          std::find_if(sides.begin(), sides.end(), [](const Side& s) { return s.can_act() && !s.put_off; });
      if (side == sides.end())
        return std::none_of(sides.begin(), sides.end(), [](const Side& s) { return s.can_act(); });
      act(world, *programs[side - sides.begin()],
          static_cast<index_t>(side - sides.begin()), *side);
      depart(world, sides);
    }
  }

  void act(SimulatedWorld::State& world, RankProgram& program, index_t rank, Side& side) {
    const std::size_t deliveries = side.coming.size(), tasks = side.awake ? 1 : 0;
    const std::size_t choice = choose(deliveries + tasks + 1);
    if (choice == deliveries + tasks) {
      side.put_off = true;
    } else if (choice < deliveries) {
      world.inbox[rank].push_back(std::move(side.coming[choice]));
      side.coming.erase(side.coming.begin() + static_cast<std::ptrdiff_t>(choice));
      Message message;
      Transport& transport = world.transport(rank);
      while (transport.poll(message)) program.on_message(message);
      side.awake = true;
    } else {
      side.awake = program.run_one_task(0);
    }
  }
};

Exploration explore_orders(index_t num_ranks, std::int64_t most_orders,
                           const std::function<ExploredRun(SimulatedWorld& world)>& make) {
  OrderExplorer explorer;
  Exploration result;
  do {
    SimulatedWorld world(num_ranks, {});
    ExploredRun run = make(world);
    std::vector<RankProgram*> programs;
    for (const auto& program : run.programs) programs.push_back(program.get());
    if (static_cast<index_t>(programs.size()) != num_ranks)
      throw DimensionError(std::to_string(programs.size()) + " programs for " + std::to_string(num_ranks) +
                           " ranks");
    if (!explorer.run_one_order(*world.state_, programs)) continue;
    ++result.orders;
    const std::string waiting = transport_detail::who_waits(programs);
    if (!waiting.empty()) throw BrokenRun("nothing more can happen: " + waiting);
    if (run.check) run.check();
    if (result.orders >= most_orders) return result;
  } while (explorer.next());
  result.complete = true;
  return result;
}

}  // namespace palmette
