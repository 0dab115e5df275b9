// Problems for the forward sweeps of the room device, and trials of each kernel in the emulator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "palmette/device/device.hpp"

namespace palmette::sweeps {
using namespace palmette::device;
using namespace palmette::emulate;

struct Problem {  // on the host; panels column-major
  std::vector<int> begin{0}, parent, chunk;
  std::vector<std::vector<int>> below, children;
  std::vector<std::vector<double>> panel;  // (w + r) × w
  int n() const { return begin.back(); }
  int count() const { return static_cast<int>(below.size()); }
  int width(int s) const { return begin[s + 1] - begin[s]; }
};
/// A random elimination tree of supernodes whose structure is closed under elimination.
inline Problem make_problem(int supernodes, int max_width, int extra_rows, unsigned seed, int reach = 8) {
  std::mt19937 random(seed);
  Problem p;
  for (int s = 0; s < supernodes; ++s)
    p.begin.push_back(p.begin.back() + 1 + static_cast<int>(random() % max_width));
  std::vector<int> owner;
  for (int s = 0; s < supernodes; ++s) owner.insert(owner.end(), p.width(s), s);
  p.below.resize(supernodes), p.children.resize(supernodes), p.parent.assign(supernodes, -1);
  std::vector<std::set<int>> rows(supernodes);
  for (int s = 0; s < supernodes; ++s) {
    if (s + 1 < supernodes) {
      const int near = std::min(
          supernodes - 1, s + 1 + static_cast<int>(random() % (1 + std::min(reach, supernodes - s - 1))));
      rows[s].insert(p.begin[near]);
      for (int k = 0; k < extra_rows; ++k)
        rows[s].insert(p.begin[near] + static_cast<int>(random() % (p.n() - p.begin[near])));
    }
    for (int row : rows[s]) p.below[s].push_back(row);
    if (!p.below[s].empty()) {
      const int up = owner[p.below[s].front()];
      p.parent[s] = up;
      p.children[up].push_back(s);
      for (int row : p.below[s])
        if (row >= p.begin[up + 1]) rows[up].insert(row);
    }
    const int m = p.width(s) + static_cast<int>(p.below[s].size());
    int h = 4;
    while (h < 32 && h < m) h *= 2;
    p.chunk.push_back(h);
    std::vector<double> values(static_cast<std::size_t>(m) * p.width(s));
    for (int c = 0; c < p.width(s); ++c)
      for (int i = 0; i < m; ++i)
        values[static_cast<std::size_t>(c) * m + i] =
            i < c    ? 0
            : i == c ? 1.0
                     : (static_cast<int>(random() % 2001) - 1000) * 1e-3 / (m + 4);
    p.panel.push_back(values);
  }
  return p;
}
/// In extended precision: x = B⁻¹·t, rows below lose C·B⁻¹·t.
inline std::vector<long double> reference(const Problem& p, const std::vector<double>& b) {
  std::vector<long double> t(b.begin(), b.end()), x(b.size());
  for (int s = 0; s < p.count(); ++s) {
    const int w = p.width(s), m = w + static_cast<int>(p.below[s].size());
    for (int i = 0; i < m; ++i) {
      long double sum = 0;
      for (int c = 0; c < w; ++c) sum += p.panel[s][static_cast<std::size_t>(c) * m + i] * t[p.begin[s] + c];
      if (i < w)
        x[p.begin[s] + i] = sum;
      else
        t[p.below[s][i - w]] -= sum;
    }
  }
  return x;
}
template <class T>
T* upload(const std::vector<T>& v, int device = 0) {
  T* p = allocate_array<T>(v.size() + 16);
  std::copy(v.begin(), v.end(), on_device(p, device));
  return p;
}
inline void pack(const std::vector<double>& panel, int m, int w, const std::vector<int>& rows, int h,
                 std::vector<double>& to) {
  for (int q = 0; q * h < static_cast<int>(rows.size()); ++q)
    for (int c = 0; c < w; ++c)
      for (int i = q * h; i < (q + 1) * h; ++i)
        to.push_back(i < static_cast<int>(rows.size()) ? panel[static_cast<std::size_t>(c) * m + rows[i]]
                                                       : 0);
}

struct OnDevice {
  Tree tree;
  TreeRun tree_run;
  ColumnRun column_run;
  std::vector<int> fmod;
  int max_width;
};
inline OnDevice load_device(const Problem& p, const std::vector<double>& b) {
  std::vector<long long> panel{0}, below{0};
  std::vector<double> values;
  std::vector<int> row, into, child_ptr{0}, child, order(p.count()), target_ptr{0}, target, fmod(p.count());
  std::iota(order.begin(), order.end(), 0);
  int max_width = 0;
  std::vector<int> owner;
  for (int s = 0; s < p.count(); ++s) owner.insert(owner.end(), p.width(s), s);
  for (int s = 0; s < p.count(); ++s) {
    const int w = p.width(s), m = w + static_cast<int>(p.below[s].size());
    max_width = std::max(max_width, w);
    std::vector<int> all(m);
    std::iota(all.begin(), all.end(), 0);
    pack(p.panel[s], m, w, all, p.chunk[s], values);
    panel.push_back(static_cast<long long>(values.size()));
    std::set<int> targets;
    for (int k : p.below[s]) {
      row.push_back(k);
      const int up = p.parent[s];
      const auto& rows = p.below[up];
      into.push_back(
          k < p.begin[up + 1]
              ? k - p.begin[up]
              : p.width(up) + static_cast<int>(std::lower_bound(rows.begin(), rows.end(), k) - rows.begin()));
      targets.insert(owner[k]);
    }
    for (int k : targets) target.push_back(k), ++fmod[k];
    target_ptr.push_back(static_cast<int>(target.size()));
    below.push_back(static_cast<long long>(row.size()));
    child.insert(child.end(), p.children[s].begin(), p.children[s].end());
    child_ptr.push_back(static_cast<int>(child.size()));
  }
  OnDevice d;
  d.max_width = max_width;
  d.fmod = fmod;
  d.tree = {p.count(),     upload(p.begin), upload(order), upload(p.chunk),   upload(panel), upload(values),
            upload(below), upload(row),     upload(into),  upload(child_ptr), upload(child)};
  const double* rhs = upload(b);
  double* x = allocate_array<double>(p.n());
  d.tree_run = {
      rhs, x, allocate_array<double>(row.size() + 1), allocate_array<int>(p.count()), allocate_array<int>(1),
      1};
  d.column_run = {rhs,
                  x,
                  allocate_array<double>(p.n()),
                  upload(fmod),
                  upload(target_ptr),
                  upload(target),
                  allocate_array<int>(1)};
  return d;
}
inline double worst(const std::vector<long double>& want, const double* got) {
  double e = 0, scale = 0;
  for (std::size_t k = 0; k < want.size(); ++k)
    e = std::max(e, std::abs(static_cast<double>(want[k] - got[k]))),
    scale = std::max(scale, std::abs(static_cast<double>(want[k])));
  return std::isfinite(e) ? e / scale : 1e300;
}
inline std::uint64_t hash(const double* x, int n) {
  std::uint64_t h = 1469598103934665603u;
  for (int k = 0; k < n; ++k) h = (h ^ to_bits(x[k])) * 1099511628211u;
  return h;
}
inline std::vector<double> rhs(int n) {
  std::vector<double> b(n);
  std::mt19937 random(7);
  for (double& v : b) v = (static_cast<int>(random() % 2001) - 1000) * 1e-3;
  return b;
}

struct Trial {
  Report report;
  double error;
  std::uint64_t bits;
};
inline Trial try_tree(const Problem& p, Fault fault, const Options& o, device::LaunchShape shape) {
  reset_memory(1);
  const auto b = rhs(p.n());
  const OnDevice d = load_device(p, b);
  Report report =
      run({forward_tree(fault, d.tree, d.tree_run, {shape.blocks, shape.threads, d.max_width})}, o);
  return {report, worst(reference(p, b), d.tree_run.x), hash(d.tree_run.x, p.n())};
}
inline Trial try_columns(const Problem& p, const Options& o, device::LaunchShape shape) {
  reset_memory(1);
  const auto b = rhs(p.n());
  const OnDevice d = load_device(p, b);
  Report report = run({forward_columns(d.tree, d.column_run, {shape.blocks, shape.threads, d.max_width})}, o);
  return {report, worst(reference(p, b), d.column_run.x), hash(d.column_run.x, p.n())};
}
inline Trial try_pes(const Problem& p, int pes, Fault fault, const Options& options,
                     device::LaunchShape shape) {
  reset_memory(pes);
  const auto b = rhs(p.n());
  std::vector<int> owner;
  for (int s = 0; s < p.count(); ++s) owner.insert(owner.end(), p.width(s), s);
  const int* begin = upload(p.begin);
  for (int q = 1; q < pes; ++q)
    std::copy(p.begin.begin(), p.begin.end(), on_device(const_cast<int*>(begin), q));
  PeRun at{upload(b),
           allocate_array<double>(p.n()),
           allocate_array<double>(p.n()),
           allocate_array<int>(p.count()),
           allocate_array<double>(p.n()),
           allocate_array<Signal>(p.count()),
           allocate_array<int>(1),
           1};
  for (int q = 1; q < pes; ++q) std::copy(b.begin(), b.end(), on_device(const_cast<double*>(at.b), q));
  std::vector<Launch> launches;
  for (int q = 0; q < pes; ++q) {
    std::vector<int> column, rows, chunk, place, target_ptr{0}, target, peer_ptr{0}, peer;
    std::vector<long long> panel, place_ptr{0};
    std::vector<double> values;
    for (int s = 0; s < p.count(); ++s) {
      const int w = p.width(s), m = w + static_cast<int>(p.below[s].size());
      std::vector<int> mine, places;
      std::set<int> targets, others;
      if (s % pes == q)
        for (int k = 0; k < w; ++k) mine.push_back(k), places.push_back(-1 - (p.begin[s] + k));
      for (int k = w; k < m; ++k) {
        const int to = p.below[s][k - w], block_row = owner[to];
        if (block_row % pes == q)
          mine.push_back(k), places.push_back(to), targets.insert(block_row);
        else
          others.insert(block_row % pes);
      }
      for (int k : targets) ++on_device(at.fmod, q)[k];
      if (mine.empty()) continue;
      column.push_back(s);
      rows.push_back(static_cast<int>(mine.size()));
      int h = 4;
      while (h < 32 && h < static_cast<int>(mine.size())) h *= 2;
      chunk.push_back(h);
      panel.push_back(static_cast<long long>(values.size()));
      pack(p.panel[s], m, w, mine, h, values);
      place.insert(place.end(), places.begin(), places.end());
      place_ptr.push_back(static_cast<long long>(place.size()));
      target.insert(target.end(), targets.begin(), targets.end());
      target_ptr.push_back(static_cast<int>(target.size()));
      if (s % pes == q) peer.insert(peer.end(), others.begin(), others.end());
      peer_ptr.push_back(static_cast<int>(peer.size()));
    }
    const auto put = [q](const auto& v) { return on_device(upload(v, q), q); };
    const ShareOfPe share{static_cast<int>(column.size()),
                          on_device(begin, q),
                          put(column),
                          put(rows),
                          put(chunk),
                          put(panel),
                          put(values),
                          put(place_ptr),
                          put(place),
                          put(target_ptr),
                          put(target),
                          put(peer_ptr),
                          put(peer)};
    const PeRun here{
        on_device(at.b, q),     on_device(at.x, q),       on_device(at.lsum, q),   on_device(at.fmod, q),
        on_device(at.ready, q), on_device(at.arrived, q), on_device(at.ticket, q), 1};
    launches.push_back(forward_pes(fault, q, share, here, shape));
  }
  Options o = options;
  o.devices = pes;
  Report report = run(launches, o);
  std::vector<double> x(p.n());
  for (int s = 0; s < p.count(); ++s)
    for (int k = p.begin[s]; k < p.begin[s + 1]; ++k) x[k] = on_device(at.x, s % pes)[k];
  return {report, worst(reference(p, b), x.data()), hash(x.data(), p.n())};
}
/// A random sparse lower triangle, dealt out in tasks of `task` columns.
inline Trial try_read_only(int n, int per_column, int pes, int task, Fault fault, const Options& options,
                           device::LaunchShape shape) {
  reset_memory(pes);
  std::mt19937 random(11);
  std::vector<std::vector<std::pair<int, double>>> below(n);
  for (int c = 0; c + 1 < n; ++c) {
    std::set<int> rows;
    for (int k = 0; k < per_column; ++k)
      rows.insert(c + 1 + static_cast<int>(random() % std::min(n - c - 1, 40)));
    for (int r : rows) below[c].push_back({r, (static_cast<int>(random() % 2001) - 1000) * 2e-4});
  }
  const auto b = rhs(n);
  std::vector<long double> want(b.begin(), b.end());
  for (int c = 0; c < n; ++c) {
    want[c] /= 1.5L;
    for (auto [r, v] : below[c]) want[r] -= v * want[c];
  }
  const ReadOnlyRun at{upload(b), allocate_array<double>(n), allocate_array<double>(n),
                       allocate_array<int>(n), allocate_array<int>(1)};
  std::vector<Launch> launches;
  for (int q = 0; q < pes; ++q) {
    std::copy(b.begin(), b.end(), on_device(const_cast<double*>(at.b), q));
    std::vector<int> column, ptr{0}, row;
    std::vector<double> value, diagonal;
    for (int c = 0; c < n; ++c) {
      if (c / task % pes != q) continue;
      column.push_back(c);
      for (auto [r, v] : below[c]) row.push_back(r), value.push_back(v), ++on_device(at.remaining, q)[r];
      ptr.push_back(static_cast<int>(row.size()));
      diagonal.push_back(1.5);
    }
    const auto put = [q](const auto& v) { return on_device(upload(v, q), q); };
    const Columns a{
        static_cast<int>(column.size()), put(column), put(ptr), put(row), put(value), put(diagonal)};
    const ReadOnlyRun here{on_device(at.b, q), on_device(at.x, q), on_device(at.left_sum, q),
                           on_device(at.remaining, q), on_device(at.ticket, q)};
    launches.push_back(forward_read_only(fault, q, a, here, shape));
  }
  Options o = options;
  o.devices = pes;
  Report report = run(launches, o);
  std::vector<double> x(n);
  for (int c = 0; c < n; ++c) x[c] = on_device(at.x, c / task % pes)[c];
  return {report, worst(want, x.data()), hash(x.data(), n)};
}

}  // namespace palmette::sweeps
