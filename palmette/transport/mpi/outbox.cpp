// A window over outstanding sends.
#include "palmette/transport/mpi/outbox.hpp"

#include <algorithm>

namespace palmette::transport_detail {

void Outbox::add(index_t destination, int tag, SharedBytes wire) {
  waiting_.push_back({destination, tag, std::move(wire)});
}

void Outbox::start(Waiting send) {
  requests_.push_back(MPI_REQUEST_NULL);
  check(MPI_Isend(send.wire.data(), static_cast<int>(send.wire.size()), MPI_BYTE, send.destination, send.tag,
                  comm_, &requests_.back()),
        "MPI_Isend");
  on_the_wire_.push_back(std::move(send.wire));
}

void Outbox::post() {
  while (!waiting_.empty() && requests_.size() < most_outstanding) {
    start(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void Outbox::advance() {
  forget_complete();
  post();
}

void Outbox::advance_all() {
  post();
  // Whole rounds over the window without a complete send mean that the others must receive first.
  for (std::size_t tested = 0; !waiting_.empty() && tested < requests_.size(); tested += tested_at_once) {
    if (forget_complete() == 0) continue;
    tested = 0;
    post();
  }
}

void Outbox::finish() {
  for (; !waiting_.empty(); waiting_.pop_front()) start(std::move(waiting_.front()));
  if (!requests_.empty())
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  on_the_wire_.clear();
}

/// Asks about a few sends in turn, so that a call costs the same however many are outstanding.
/// @returns how many were complete
std::size_t Outbox::forget_complete() {
  if (requests_.empty()) return 0;
  if (next_test_ >= requests_.size()) next_test_ = 0;
  const std::size_t begin = next_test_, tested = std::min(tested_at_once, requests_.size() - begin);
  int count = 0;
  check(MPI_Testsome(static_cast<int>(tested), requests_.data() + begin, &count, finished_.data(),
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  next_test_ = begin + tested;
  if (count <= 0) return 0;
  // From the last one down, so that the send that moves to a free place is never a complete one.
  for (std::size_t at = begin + tested; at-- > begin;)
    if (requests_[at] == MPI_REQUEST_NULL) forget(at);
  return static_cast<std::size_t>(count);
}

void Outbox::forget(std::size_t at) {
  if (at + 1 != requests_.size()) {
    requests_[at] = requests_.back();
    on_the_wire_[at] = std::move(on_the_wire_.back());
  }
  requests_.pop_back();
  on_the_wire_.pop_back();
}

}  // namespace palmette::transport_detail
