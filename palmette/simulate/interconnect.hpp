// Part of the door of `simulate`: when messages arrive that share the links of a cluster.
#pragma once

#include <vector>

#include "palmette/machine/machine.hpp"

namespace palmette {

/// The links of a cluster during one run. Nodes let one message in or out at a time at their injection
/// bandwidth; the message travels meanwhile, so the narrowest of both gates and the link decides.
class Interconnect {
 public:
  /// @param cluster  must outlive the interconnect
  Interconnect(const Cluster& cluster, index_t num_ranks);
  /// A message that leaves its rank at `now`; calls must come in the order of time. @returns the time of its
  /// arrival
  double arrival(index_t source, index_t destination, std::size_t bytes, double now);

 private:
  const Cluster* cluster_;
  std::vector<double> out_free_, in_free_;  // by node: when its gates are free
};

}  // namespace palmette
