// Part of the door of `machine`: a machine of many nodes, as predictions and simulated clusters see it: what
// its ranks read and compute in a second, and what a message costs between two of them.
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

/// Points ascending in `at`: straight lines between them, constant before the first and behind the last.
/// Empty: not known.
using RateCurve = std::vector<RatePoint>;
/// @returns 0 if nothing is known
double rate_at(const RateCurve& curve, double at);

/// What one message costs: o + L + bytes / BW, the overheads on the processors of sender and receiver, the
/// rest on the way.
struct Link {
  double latency_us = 0;
  double bandwidth_gbs = 0;          ///< of one message, 10⁹ bytes/s
  double send_overhead_us = 0;       ///< the sender computes nothing meanwhile
  double receive_overhead_us = 0;
  /// From leaving the sender to arrival, seconds.
  double seconds(std::size_t bytes) const {
    return latency_us * 1e-6 + static_cast<double>(bytes) / (bandwidth_gbs * 1e9);
  }
};

/// What tasks of a solve cost beside the bytes that they read.
struct TaskOverheads {
  double task_us = 0;   ///< taking a task from the queue and finishing it
  double panel_us = 0;  ///< a supernode's panel, or a block of one
  double row_ns = 0;    ///< a row below the diagonal, gathered or scattered
  // What a solve is slower in reading than a stream of the same bytes.
  double byte_ns = 0;         ///< a byte of the factor
  /// a byte of the factor that does not stand in the cache, besides, for a reader that has the memory for
  /// itself
  double memory_byte_ns = 0;
  /// a column of a supernode: its entries of the vectors are brought, solved for and put back
  double column_ns = 0;
  double handoff_us = 0;      ///< a task of several threads' engine whose results another thread takes up
};

/// What a task does, whatever runs it.
struct TaskWork {
  double bytes = 0;   ///< of the factor, read once
  double flops = 0;
  double panels = 0;  ///< panels and blocks taken up
  double rows = 0;    ///< rows gathered or scattered
  double num_rhs = 1;   ///< right-hand sides: products are as wide
  double columns = 0; ///< of diagonal blocks
};

/// The share of `bytes` bytes, read again and again, that is found in a cache of so many; 0 of nothing. A
/// sweep back and forth finds the end of what it read last: as much as the cache holds.
double cached_share(double cache_bytes, double bytes);

/// A rank is a core or a device, as the description says. Constant once made.
struct Cluster {
  std::string name;
  std::string description;
  index_t ranks_per_node = 1;
  /// of a rank's share of the last-level cache while all ranks of its node read; 0: not known
  double cache_bytes = 0;
  /// what a rank has of it at most, while others do not read; 0: no more than its share
  double lone_cache_bytes = 0;
  /// what one rank reads in a second while its part of the factor stands there; 0: as from memory
  double cache_gbs = 0;
  /// by number of ranks (or threads) of a node that read at once: all of them together, 10⁹ bytes/s
  RateCurve memory_gbs;
  RateCurve kernel_gflops;    ///< by size n: products of n × n blocks on one rank, 10⁹ flops/s
  /// of the engines of one machine, and of rank programs where nothing else is known of these
  TaskOverheads overheads;
  std::optional<TaskOverheads> rank_overheads;  ///< of rank programs
  Link network;               ///< between two nodes
  Link on_node;               ///< between two ranks of a node
  double injection_gbs = 0;   ///< what leaves a node, all ranks together, and what enters it; 0: not limited

  index_t node_of(index_t rank) const { return rank / ranks_per_node; }
  const Link& link(index_t source, index_t destination) const {
    return node_of(source) == node_of(destination) ? on_node : network;
  }
  const TaskOverheads& overheads_of_ranks() const { return rank_overheads ? *rank_overheads : overheads; }
  /// What one of `ranks` ranks (or threads) has of the cache.
  double rank_cache(index_t ranks) const;
  /// What one of `ranks` ranks reads from memory in a second while all others of its node read too, 10⁹
  /// bytes/s.
  double rank_memory_gbs(index_t ranks) const;
  /// The same for a rank that reads `bytes` bytes again and again: from the cache, as far as they stand
  /// there.
  double rank_read_gbs(index_t ranks, double bytes) const;
  /// The same in a rank's solve, with the overheads of bytes.
  double rank_solve_gbs(index_t ranks, double bytes) const;
  /// What a reader gets that finds this share of what it reads in the cache, where memory gives it so much.
  double solve_gbs(const TaskOverheads& besides, double cached, double memory_gbs) const;
  /// What a task takes a reader that reads so fast: its bytes or its flops, whichever take longer, and what
  /// comes on top of either.
  double seconds(const TaskWork& work, double read_gbs, const TaskOverheads& besides) const;
  /// The same for a rank.
  double rank_seconds(const TaskWork& work, double read_gbs) const {
    return seconds(work, read_gbs, overheads_of_ranks());
  }
};

/// The same nodes with so many times as many ranks as processors, which take turns: each is as slow as if the
/// others always had something to do.
/// @throws UsageError if ranks_each < 1
Cluster with_shared_processors(const Cluster& cluster, index_t ranks_each);

/// @throws UsageError naming the field, its value and the remedy, where a description cannot be computed with
void check(const Cluster& cluster);

}  // namespace palmette
