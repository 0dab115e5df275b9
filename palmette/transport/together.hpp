// Collective operations of all ranks around their programs: agree that all have succeeded, and distribute
// pieces to all.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "palmette/transport/rank.hpp"

namespace palmette {

/// Do work that needs no other rank; then agree that all ranks have succeeded. Every rank must call it.
/// @throws what this rank's work threw; BrokenRun naming the rank, if only another rank's work threw: no rank
///   continues alone
void agree_after(Transport& transport, const std::function<void()>& work);

/// Also a base of errors that all ranks throw at the same point, where no message is in transit: they end the
/// work, not the run.
struct AgreedError {};

/// Do work that exchanges messages; then all agree, so that no message of the next exchange arrives in this
/// one. Every rank must call it.
///
/// A rank that throws inside leaves the others waiting for messages that never come, so it ends the run for
/// all.
/// @throws what this rank's work threw, BrokenRun for the others; an AgreedError on all, and the run goes on
void exchange(Transport& transport, const std::function<void()>& work);

/// As `exchange`, of work with a result. Every rank must call it.
template <class Work>
auto result_of_exchange(Transport& transport, const Work& work) {
  std::optional<decltype(work())> result;
  exchange(transport, [&] { result.emplace(work()); });
  return *std::move(result);
}

/// Every rank contributes some bytes, and gets those of all, by rank (its own included). Every rank must call
/// it, and no other messages may be in transit: `exchange` ensures that.
/// @cost  one message to each other rank
std::vector<SharedBytes> gather_from_all(Transport& transport, ThreadTeam& team, SharedBytes mine,
                                         const DriveOptions& options = {});

/// As gather_from_all, from those ranks alone that have something to give; the others' pieces are empty.
/// @param gives  by rank, the same on all
/// @cost  of each rank that gives, one message to each other rank
std::vector<SharedBytes> gather_from(std::span<const char> gives, Transport& transport, ThreadTeam& team,
                                     SharedBytes mine, const DriveOptions& options = {});

/// As gather_from_all, but every rank has separate bytes for each rank: pieces[r] is for rank r (its own
/// included). @returns by rank, its bytes for this one
std::vector<SharedBytes> deal_to_all(Transport& transport, ThreadTeam& team,
                                     const std::vector<SharedBytes>& pieces,
                                     const DriveOptions& options = {});

}  // namespace palmette
