// The door of `transport`: how ranks exchange bytes, and how a rank's program is driven. A rank is a state machine that
// never blocks and never asks for the time; where it lives is the driver's and the transport's business.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// Bytes from one rank to another. `tag` is the sender's business: the programs of one run share its meaning.
struct Message {
  index_t source = 0;
  std::int64_t tag = 0;
  std::vector<std::byte> payload;
};

/// One rank's end of the exchange. Five verbs: send, poll, flush, sum, agree. Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual index_t rank() const = 0;
  virtual index_t num_ranks() const = 0;
  /// Hand a message over; returns at once, the payload may be reused.
  virtual void send(index_t destination, std::int64_t tag, std::span<const std::byte> payload) = 0;
  /// Take the next message that has arrived; false if there is none.
  virtual bool poll(Message& message) = 0;
  /// Let everything sent so far go on its way.
  virtual void flush() = 0;
  /// Sum over ranks; every rank must call it, and gets the same bits.
  virtual double sum(double value) = 0;
  /// The largest status over ranks: 0 means that all are well. Every rank must call it.
  virtual int agree(int status) = 0;
};

/// The transport of a rank that is alone: messages to itself arrive in the order sent.
std::unique_ptr<Transport> make_loopback();

/// A rank's part of a factorization or a solve.
class RankProgram {
 public:
  virtual ~RankProgram() = default;
  /// Make the first tasks ready. Called once, before anything else.
  virtual void start() = 0;
  /// A message has arrived: count it against the tasks that wait for it.
  virtual void on_message(const Message& message) = 0;
  /// Run the ready task of highest priority, if there is one; false if none is ready now. May be called by several
  /// threads at once, each with its own `member` number.
  virtual bool run_one_task(int member) = 0;
  /// True once nothing is left to run, or once the program has failed and will run nothing more.
  virtual bool done() const = 0;
};

/// Drive one rank until it is done: member 0 polls the transport, all members run tasks. An exception thrown by a task
/// stops all members and is rethrown.
void drive(RankProgram& program, Transport& transport, ThreadTeam& team);

}  // namespace palmette
