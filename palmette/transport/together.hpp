// What all ranks of a run do together around their programs: agree that all are well, and bring pieces to
// everybody.
#pragma once

#include <functional>
#include <vector>

#include "palmette/transport/rank.hpp"

namespace palmette {

/// Work that needs no other rank; then all agree that all are well. Every rank must call it.
/// @throws what this rank's work threw; BrokenRun naming the rank, where only another rank's did: no rank
///   goes on alone
void agree_after(Transport& transport, const std::function<void()>& work);

/// Work that exchanges messages; then all agree, so that nothing of the next exchange arrives in this one.
/// Every rank must call it.
///
/// A rank that throws inside leaves the others waiting for messages that never come, so it ends the run for
/// all.
/// @throws what this rank's work threw, BrokenRun for the others
void exchange(Transport& transport, const std::function<void()>& work);

/// Every rank brings some bytes, and gets those of all, by rank (its own included). Every rank must call it,
/// and other messages must not be on their way: exchange sees to that.
/// @cost  one message to each other rank
std::vector<SharedBytes> gather_from_all(Transport& transport, ThreadTeam& team, SharedBytes mine,
                                         const DriveOptions& options = {});

/// As gather_from_all, but every rank brings bytes for each: pieces[r] is for rank r (one's own included).
/// @returns by rank, what it brought for this one
std::vector<SharedBytes> deal_to_all(Transport& transport, ThreadTeam& team,
                                     const std::vector<SharedBytes>& pieces,
                                     const DriveOptions& options = {});

}  // namespace palmette
