// Part of the door of `simulate`: when messages arrive that share the links of a cluster.
#pragma once

#include <vector>

#include "palmette/machine/machine.hpp"

namespace palmette {

/// The links of a cluster during one run. A group of ranks with an injection bandwidth lets one message in or
/// out at a time at that rate; the message travels meanwhile, so the narrowest of all gates and the link
/// decides.
class Interconnect {
 public:
  /// @param cluster  must outlive the interconnect
  Interconnect(const Cluster& cluster, index_t num_ranks);
  /// A message that leaves its rank at `now`; calls must come in the order of time. @returns the time of its
  /// arrival
  double arrival(index_t source, index_t destination, std::size_t bytes, double now);

 private:
  struct Gates {
    std::vector<double> out_free, in_free;  // by group: when its gates are free
  };
  const Cluster* cluster_;
  std::vector<Gates> gates_;  // by level
};

}  // namespace palmette
