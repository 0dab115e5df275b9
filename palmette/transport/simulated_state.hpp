// Inside `transport`: what simulated ranks share.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <random>

#include "palmette/transport/held_offers.hpp"
#include "palmette/transport/simulated.hpp"
#include "palmette/transport/wrappers.hpp"

namespace palmette {

namespace transport_detail {

/// A message in transit.
struct Flight {
  index_t destination = 0;
  Message message;
  bool fetched = false;  ///< its receiver requested it
};

/// "rank 3 waits for …" for every rank that is not done, at most ten of them.
std::string who_waits(std::span<RankProgram* const> programs);

}  // namespace transport_detail

struct SimulatedWorld::State {
  class Rank;
  explicit State(index_t num_ranks, SimulationOptions chosen);
  ~State();

  SimulationOptions options;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::unique_ptr<Aggregator>> packers;  // length num_ranks, with packing
  std::vector<transport_detail::Flight> sent;  // by the task or handler that runs now
  std::vector<std::deque<Message>> inbox;  // length num_ranks: arrived, not yet polled
  std::optional<index_t> taken_from;       // who sent what the last poll took from an inbox
  std::map<std::pair<index_t, index_t>, TrafficEntry> counts, fetched;
  std::vector<transport_detail::HeldOffers> offers;  // length num_ranks
  std::string why;  // the run was abandoned

  /// In [0, 1), the same on every platform.
  double draw() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  Transport& transport(index_t rank);
};

}  // namespace palmette
