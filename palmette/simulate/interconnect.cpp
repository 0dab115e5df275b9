// Gates of nodes and other groups of ranks, where messages queue.
#include "palmette/simulate/interconnect.hpp"

#include <algorithm>

namespace palmette {

Interconnect::Interconnect(const Cluster& cluster, index_t num_ranks)
    : cluster_(&cluster), gates_(cluster.links.size()) {
  for (std::size_t level = 0; level + 1 < cluster.links.size(); ++level) {
    const auto groups = static_cast<std::size_t>((num_ranks - 1) / cluster.links[level].ranks) + 1;
    gates_[level].out_free.assign(groups, 0);
    gates_[level].in_free.assign(groups, 0);
  }
}

double Interconnect::arrival(index_t source, index_t destination, std::size_t bytes, double now) {
  const std::vector<LinkLevel>& links = cluster_->links;
  const std::size_t level = cluster_->level_of(source, destination);
  const Link& link = links[level].of_pair(source, destination);
  // Calls use(gate of the source, gate of the destination, time in the gate) for each pair of limited gates.
  const auto over_gates = [&](auto&& use) {
    for (std::size_t below = 0; below < level; ++below)
      if (links[below].injection_gbs > 0)
        use(gates_[below].out_free[source / links[below].ranks],
            gates_[below].in_free[destination / links[below].ranks],
            static_cast<double>(bytes) / (links[below].injection_gbs * 1e9));
  };
  double leaves = now, longest = 0, arrives = 0;
  over_gates([&](double out, double, double passing) {
    leaves = std::max(leaves, out);
    longest = std::max(longest, passing);
  });
  // A message travels while it passes the gates: the narrowest of all decides.
  arrives = leaves + std::max(link.seconds(bytes), link.latency_us * 1e-6 + longest);
  over_gates([&](double, double in, double passing) { arrives = std::max(arrives, in + passing); });
  over_gates([&](double& out, double& in, double passing) {
    out = leaves + passing;
    in = arrives;
  });
  return arrives;
}

}  // namespace palmette
