// Gates of nodes, where messages queue.
#include "palmette/simulate/interconnect.hpp"

#include <algorithm>

namespace palmette {

Interconnect::Interconnect(const Cluster& cluster, index_t num_ranks) : cluster_(&cluster) {
  const auto nodes = static_cast<std::size_t>(cluster.node_of(num_ranks - 1)) + 1;
  out_free_.assign(nodes, 0);
  in_free_.assign(nodes, 0);
}

double Interconnect::arrival(index_t source, index_t destination, std::size_t bytes, double now) {
  const Link& link = cluster_->link(source, destination);
  const index_t from = cluster_->node_of(source), to = cluster_->node_of(destination);
  if (from == to || cluster_->injection_gbs <= 0) return now + link.seconds(bytes);
  const double passing = static_cast<double>(bytes) / (cluster_->injection_gbs * 1e9);
  double& out = out_free_[from];
  double& in = in_free_[to];
  const double leaves = std::max(now, out);
  out = leaves + passing;
  // A message travels while it passes the gates: the narrowest of the three decides.
  const double arrives =
      std::max(leaves + std::max(link.seconds(bytes), link.latency_us * 1e-6 + passing), in + passing);
  in = arrives;
  return arrives;
}

}  // namespace palmette
