// A rank: its transport, its program, and the driver that connects both. A program is a state machine that
// never blocks and never reads the clock; the driver and the transport determine where it runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/machine/machine.hpp"
#include "palmette/transport/shared_bytes.hpp"

namespace palmette {

/// Seconds of one clock for all ranks of this machine.
double clock_seconds();

/// Bytes from one rank to another. The programs of one run define the meaning of `tag`.
struct Message {
  index_t source = 0;
  std::int64_t tag = 0;
  SharedBytes payload;
};

/// A description of bytes that a rank offers to others, with which they can get the bytes. Sent unchanged in
/// messages.
struct Offer {
  std::int64_t tag = 0;      ///< of the message in which they will arrive
  std::uint64_t place = 0;   ///< defined by the transport
  std::uint64_t bytes = 0;
};

/// The run cannot continue: a rank has died or stopped responding, or a message arrived damaged. Names the
/// waiting ranks and what they wait for.
class BrokenRun : public Error {
 public:
  using Error::Error;
};

/// @throws UsageError if the rank is out of range
void check_rank(index_t rank, index_t num_ranks);
/// @throws UsageError if the number of ranks is invalid
void check_num_ranks(index_t num_ranks);

/// Wait briefly, for the `turns`-th time in a row: first only yield the processor, later sleep, so that there
/// may be more ranks than processors.
void wait_politely(int turns);

/// The communication of one rank. Five verbs: send, poll, flush, sum, agree; and two for one-sided transfers:
/// offer, get. Messages between two ranks may overtake each other. Several threads at once may call send,
/// offer and get, but only one at a time the others.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual index_t rank() const = 0;
  virtual index_t num_ranks() const = 0;
  /// Send a message; returns at once. The payload must not be changed after that.
  /// @throws UsageError if the rank is out of range
  virtual void send(index_t destination, std::int64_t tag, SharedBytes payload) = 0;
  /// Take the next message that has arrived; false if there is none.
  /// @throws BrokenRun if the run has been ended by another rank, or the message is damaged
  virtual bool poll(Message& message) = 0;
  /// Start the transfer of everything sent so far.
  virtual void flush() = 0;
  /// Offer bytes until the next call of agree on all ranks; they must not be changed after that.
  /// @throws UsageError if this transport does not support it
  virtual Offer offer(std::int64_t tag, SharedBytes bytes);
  /// Fetch what `source` offers: it arrives as a message from `source`, without any action of its program.
  virtual void get(index_t source, const Offer& offer);
  /// Sum over ranks in the order of ranks; every rank must call it, and gets the same bits.
  virtual double sum(double value) = 0;
  /// The largest status over ranks: 0 means that no rank failed. Every rank must call it.
  virtual int agree(int status) = 0;
  /// How many seconds sum and agree wait for the other ranks before they end the run, naming those that have
  /// not called it; 0, the initial value: forever. Wrappers pass it on; a transport whose ranks cannot be
  /// late ignores it.
  virtual void set_watchdog(double) {}
  /// A driver with nothing to do for the `turns`-th time in a row waits here: briefly at first, then until a
  /// message arrives or a millisecond has passed, so that there may be more ranks than processors.
  virtual void rest(int turns);
  /// End the run for all ranks: the next poll of each throws BrokenRun with this text.
  virtual void abandon(const std::string& why) = 0;
  /// From now on payloads that lie in such memory are sent as they are, and arrive in buffers of this pool or
  /// as the sender's. Every rank must call it. @returns whether this transport can; if not, nothing changes
  virtual bool carry_from(const std::shared_ptr<BytePool>&) { return false; }
};

/// The part of a program that a task belongs to, for reports.
enum class SweepPhase : char { none, forward, between, backward };

/// A description of a task, for timelines and simulated time.
struct TaskNote {
  std::string_view name = "task";  ///< a literal
  SweepPhase phase = SweepPhase::none;
  std::int64_t number = 0;         ///< supernode, or whatever the program counts by
  TaskWork work;
};

/// A rank's part of a factorization or a solve.
class RankProgram {
 public:
  virtual ~RankProgram() = default;
  /// Make the first tasks ready. Called once, before anything else.
  virtual void start() = 0;
  /// A message has arrived: count it against the tasks that wait for it.
  virtual void on_message(const Message& message) = 0;
  /// Run the ready task of highest priority, if there is one; false if none is ready now. Several threads may
  /// call it at once, each with its own `thread` number.
  virtual bool run_one_task(int thread) = 0;
  /// For virtual time, in which a task ends later than it begins, and several are under way at once: take the
  /// ready task of highest priority without running it. last_task(0) and last_cost describe it. @returns the
  /// ticket with which it must be finished; −1 if none is ready. A program without tickets runs the task.
  virtual int take_task() { return run_one_task(0) ? 0 : -1; }
  /// Run the task of this ticket: from now on its results are there, and its messages are sent.
  virtual void finish_task(int /*ticket*/) {}
  /// False: the program has at most one task under way.
  virtual bool has_tickets() const { return false; }
  /// True once all tasks have run, or once the program has failed and will run no more.
  virtual bool done() const = 0;
  /// The mode in which the caller's thread and its team drive the program: factors and solutions are computed
  /// with subnormal numbers as zero.
  virtual ArithmeticMode mode() const { return ArithmeticMode::of_this_thread().with_subnormals_as_zero(); }
  /// For the watchdog: what this rank waits for, and from whom.
  virtual std::string waiting_for() const { return "nothing that it names"; }
  /// Cost of the task that ran last, in the unit of its TaskGraph, for simulated time.
  virtual double last_cost() const { return 0; }
  /// The task that this thread ran last; only the driver of that thread calls it.
  virtual TaskNote last_task(int /*thread*/) const {
    TaskNote note;
    note.work.flops = last_cost();
    return note;
  }
};

class RankRecord;

struct DriveOptions {
  /// A rank that is not done and has neither run a task nor received a message for this time ends the run
  /// with BrokenRun; 0: it waits forever.
  double watchdog_seconds = 0;
  /// Where to record how the time is spent, with the number of threads of the team. Null: nothing is
  /// recorded, and no clock is read.
  RankRecord* record = nullptr;
  /// See ThreadTeam::share.
  ThreadTeam::Called called = ThreadTeam::Called::worth_calling;
};

/// Drive one rank until it is done: thread 0 polls the transport, all threads run tasks. An exception thrown
/// by a task stops all threads and is rethrown.
/// @returns how many threads were called
/// @throws BrokenRun see DriveOptions and Transport::poll
int drive(RankProgram& program, Transport& transport, ThreadTeam& team, const DriveOptions& options = {});

}  // namespace palmette
