// A rank: its end of the exchange, its program, and the driver that brings both together. A rank is a state
// machine that never blocks and never asks for the time; where it lives is the driver's and the transport's
// business.
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

/// Bytes from one rank to another. `tag` is the sender's business: the programs of one run share its meaning.
struct Message {
  index_t source = 0;
  std::int64_t tag = 0;
  SharedBytes payload;
};

/// Bytes that a rank holds ready for others: what it tells them, so that they can get the bytes. Travels as
/// it is.
struct Offer {
  std::int64_t tag = 0;      ///< of the message in which they will arrive
  std::uint64_t place = 0;   ///< the transport's business
  std::uint64_t bytes = 0;
};

/// The run cannot go on: a rank has died or fallen silent, or a message arrived damaged. Names who waits for
/// what.
class BrokenRun : public Error {
 public:
  using Error::Error;
};

/// @throws UsageError if there is no such rank
void check_rank(index_t rank, index_t num_ranks);
/// @throws UsageError if a world of so many ranks cannot be
void check_num_ranks(index_t num_ranks);

/// Wait for a moment, the `turns`-th time in a row: at first the processor is only offered to others, then
/// the thread sleeps, so that ranks may outnumber processors.
void wait_politely(int turns);

/// One rank's end of the exchange. Five verbs: send, poll, flush, sum, agree; and two for those who let
/// others fetch: offer, get. Messages between two ranks may overtake each other. send, offer and get may be
/// called by several threads at once, the others by one at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual index_t rank() const = 0;
  virtual index_t num_ranks() const = 0;
  /// Hand a message over; returns at once. Nobody may write to the payload from now on.
  /// @throws UsageError if there is no such rank
  virtual void send(index_t destination, std::int64_t tag, SharedBytes payload) = 0;
  /// Take the next message that has arrived; false if there is none.
  /// @throws BrokenRun if the run has been ended by another rank, or the message is damaged
  virtual bool poll(Message& message) = 0;
  /// Let everything sent so far go on its way.
  virtual void flush() = 0;
  /// Hold bytes ready until all ranks have agreed on something; nobody may write to them from now on.
  /// @throws UsageError if this transport cannot
  virtual Offer offer(std::int64_t tag, SharedBytes bytes);
  /// Fetch what `source` offers: it arrives as a message of `source`, of whose program nothing is asked.
  virtual void get(index_t source, const Offer& offer);
  /// Sum over ranks in the order of ranks; every rank must call it, and gets the same bits.
  virtual double sum(double value) = 0;
  /// The largest status over ranks: 0 means that all are well. Every rank must call it.
  virtual int agree(int status) = 0;
  /// How many seconds sum and agree wait for the other ranks before they end the run, naming those that have
  /// not come; 0, as at the beginning: for ever. Wrappers hand it on; a transport whose ranks cannot be late
  /// ignores it.
  virtual void set_watchdog(double) {}
  /// A driver with nothing to do for the `turns`-th time in a row rests here: shortly at first, then until a
  /// message comes or a millisecond has gone, so that ranks may outnumber processors.
  virtual void rest(int turns);
  /// End the run for all ranks: each finds BrokenRun with this text at its next poll.
  virtual void abandon(const std::string& why) = 0;
};

/// Which part of a program a task belongs to, for reports that tell them apart.
enum class SweepPhase : char { none, forward, between, backward };

/// What a task was, for timelines and simulated time.
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
  /// Run the ready task of highest priority, if there is one; false if none is ready now. May be called by
  /// several threads at once, each with its own `thread` number.
  virtual bool run_one_task(int thread) = 0;
  /// True once nothing is left to run, or once the program has failed and will run nothing more.
  virtual bool done() const = 0;
  /// For the watchdog: what this rank waits for, and from whom.
  virtual std::string waiting_for() const { return "nothing that it names"; }
  /// Cost of the task that ran last, in the unit of its TaskGraph: simulated time is charged by it.
  virtual double last_cost() const { return 0; }
  /// The task that this thread ran last; asked by nobody but that thread's driver.
  virtual TaskNote last_task(int /*thread*/) const {
    TaskNote note;
    note.work.flops = last_cost();
    return note;
  }
};

class RankRecord;

struct DriveOptions {
  /// A rank that is not done and has neither run a task nor received a message for so long ends the run with
  /// BrokenRun; 0: it waits for ever.
  double watchdog_seconds = 0;
  /// Where to write down what the time goes into; for as many threads as the team has. Null: nothing is, and
  /// no clock is asked.
  RankRecord* record = nullptr;
  /// See ThreadTeam::share.
  ThreadTeam::Called called = ThreadTeam::Called::worth_calling;
};

/// Drive one rank until it is done: thread 0 polls the transport, all threads run tasks. An exception thrown
/// by a task stops all threads and is rethrown.
/// @returns how many threads were called to it
/// @throws BrokenRun see DriveOptions and Transport::poll
int drive(RankProgram& program, Transport& transport, ThreadTeam& team, const DriveOptions& options = {});

}  // namespace palmette
