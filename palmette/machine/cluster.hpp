// Part of the door of `machine`: a machine of many nodes, as predictions and simulated clusters describe it:
// how much its ranks read and compute per second, and what a message between two of them costs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// A rate measured at some size or number.
struct RatePoint {
  double at = 0;
  double rate = 0;
};

/// Points ascending in `at`, linear between them, constant before the first and after the last. Empty: not
/// known.
using RateCurve = std::vector<RatePoint>;
/// @returns 0 if nothing is known
double rate_at(const RateCurve& curve, double at);

/// What one message costs: o + L + bytes / BW, the overheads occupy the processors of sender and receiver,
/// the rest is transit.
struct Link {
  double latency_us = 0;
  double bandwidth_gbs = 0;          ///< of one message, 10⁹ bytes/s
  double send_overhead_us = 0;       ///< the sender cannot compute during this time
  double receive_overhead_us = 0;
  /// From leaving the sender to arrival, seconds.
  double seconds(std::size_t bytes) const {
    return latency_us * 1e-6 + static_cast<double>(bytes) / (bandwidth_gbs * 1e9);
  }
};

/// Groups of consecutive ranks that are near to each other: the devices of a node, the nodes of a rack, all
/// of a network.
struct LinkLevel {
  std::string name;
  index_t ranks = 0;         ///< of a group, a multiple of the level below; 0: all ranks
  Link link;                 ///< between two ranks of a group that lie in different groups of the level below
  double injection_gbs = 0;  ///< limit of what leaves a group, all its ranks together, and of what enters it;
                             ///< 0: not limited
  /// of the first level only: the link of each pair of ranks of a group, by the first and then the second,
  /// for devices that are not joined alike; length ranks², or empty: `link` joins all
  std::vector<Link> pairs = {};
  const Link& of_pair(index_t source, index_t destination) const {
    if (pairs.empty()) return link;
    return pairs[offset_t{source % ranks} * ranks + destination % ranks];
  }
};

/// Two levels: nodes, and the network between them.
std::vector<LinkLevel> node_links(index_t ranks_per_node, const Link& on_node, const Link& network,
                                  double injection_gbs = 0);

/// What the tasks of a solve cost in addition to the bytes that they read.
struct TaskOverheads {
  double task_us = 0;   ///< taking a task from the queue and finishing it
  double panel_us = 0;  ///< a supernode's panel, or a block of one
  double row_ns = 0;    ///< a row below the diagonal, gathered or scattered
  // How much slower a solve reads than a stream of the same bytes.
  double byte_ns = 0;         ///< per byte of the factor
  /// in addition, per byte of the factor that is not in the cache, for a reader that has the memory to itself
  double memory_byte_ns = 0;
  /// per column of a supernode: its entries of the vectors are loaded, solved for and stored
  double column_ns = 0;
  double handoff_us = 0;      ///< a task, in an engine of several threads, whose results another thread uses
};

/// The work of a task, whatever runs it.
struct TaskWork {
  double bytes = 0;   ///< of the factor, read once
  double flops = 0;
  double panels = 0;  ///< panels and blocks processed
  double rows = 0;    ///< rows gathered or scattered
  double num_rhs = 1;   ///< number of right-hand sides, the width of products
  double columns = 0; ///< of diagonal blocks
};

/// The fraction of `bytes` bytes, read repeatedly, that is found in a cache of `cache_bytes`; 0 if `bytes` is
/// 0. A sweep back and forth finds the end of what it read last, as much as the cache holds.
double cached_share(double cache_bytes, double bytes);

/// A rank is a core or a device, as the description says. Constant after construction.
struct Cluster {
  std::string name;
  std::string description;
  /// ranks (or threads, or processors) that share one memory and the last-level cache
  index_t ranks_per_memory = 1;
  /// of a rank's share of the last-level cache while all ranks of its memory read; 0: not known
  double cache_bytes = 0;
  /// the most of it that a rank can use while others do not read; 0: no more than its share
  double lone_cache_bytes = 0;
  /// what one rank reads per second if its part of the factor is there; 0: as from memory
  double cache_gbs = 0;
  /// by number of ranks (or threads) of a memory that read at the same time: the sum of their rates, 10⁹
  /// bytes/s
  RateCurve memory_gbs;
  RateCurve kernel_gflops;    ///< by size n: products of n × n blocks on one rank, 10⁹ flops/s
  /// of the engines of one machine, and of rank programs unless those have their own
  TaskOverheads overheads;
  std::optional<TaskOverheads> rank_overheads;  ///< of rank programs
  /// Tasks that a rank runs at a time: 1 for a core; the blocks of threads that a GPU holds.
  index_t workers = 1;
  /// the most that one worker reads per second, 10⁹ bytes/s; 0: as much as its rank
  double worker_gbs = 0;
  double launch_us = 0;       ///< before the first task of a sweep on a rank: starting its kernel
  index_t launch_tasks = 0;   ///< tasks that one launch starts; 0: all tasks of a sweep on a rank
  /// of a device beside a host: products of whole matrices that lie there, by the side of square ones with as
  /// many flops, 10⁹ flops/s, without the launch
  RateCurve dense_gflops;
  double bus_gbs = 0;         ///< of a device: copies to and from its host, each way; 0: not known
  double bus_latency_us = 0;  ///< of one such copy
  /// nearest ranks first; the last level holds all ranks
  std::vector<LinkLevel> links = {{"network", 0, {}, 0}};

  /// The number of the lowest level that holds both ranks in one group.
  std::size_t level_of(index_t source, index_t destination) const;
  const Link& link(index_t source, index_t destination) const {
    return links[level_of(source, destination)].of_pair(source, destination);
  }
  /// The widest link that messages among so many ranks need.
  const Link& link_among(index_t ranks) const { return link(0, ranks - 1); }
  const TaskOverheads& overheads_of_ranks() const { return rank_overheads ? *rank_overheads : overheads; }
  /// The part of the cache that one of `ranks` ranks (or threads) has.
  double rank_cache(index_t ranks) const;
  /// What one of `ranks` ranks reads from memory per second while all others of its memory read too, 10⁹
  /// bytes/s.
  double rank_memory_gbs(index_t ranks) const;
  /// The same for a rank that reads `bytes` bytes repeatedly: from the cache, as far as they are there.
  double rank_read_gbs(index_t ranks, double bytes) const;
  /// The same in a rank's solve, with the overheads per byte.
  double rank_solve_gbs(index_t ranks, double bytes) const;
  /// The rate of a reader that finds this fraction of its data in the cache and reads the rest from memory at
  /// the given rate.
  double solve_gbs(const TaskOverheads& extra, double cached, double memory_gbs) const;
  /// The time of a task for a reader of this rate: that of its bytes or its flops, whichever is longer, plus
  /// overheads.
  double seconds(const TaskWork& work, double read_gbs, const TaskOverheads& extra) const;
  /// The same for a rank program, which runs one task after the other: by how much a task delays the next one
  /// while all workers of the rank have panels under way.
  double rank_seconds(const TaskWork& work, double read_gbs) const;
  /// The same for one of `busy` workers of a rank, which share what it reads and computes.
  double worker_seconds(const TaskWork& work, double read_gbs, index_t busy) const;
};

/// The same nodes with `ranks_each` ranks on each processor, which take turns: each is as slow as if the
/// others always had work.
/// @throws UsageError if ranks_each < 1
Cluster with_shared_processors(const Cluster& cluster, index_t ranks_each);

/// @throws UsageError naming the field, its value and the remedy, if a description cannot be used
void check(const Cluster& cluster);

}  // namespace palmette
