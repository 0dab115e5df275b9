// Question: which bytes does a solve with one right-hand side read, and how fast can a loop that does nothing
// else read the same panels in the same order: wide ones eight columns at a time, with requests and without,
// or column after column, from end to end and without requests? The first is counted, the fastest loop is a
// bound for solves on this machine that no change of their arithmetic can pass.
// The least time is that of the factor's entries, without zeros of relaxed supernodes, and of b and x, at the
// rate of one stream; over the time of a loop or a solve it is a fraction of the roof. All are measured in
// turn, since the memory of shared machines changes its speed within seconds: times and fractions are the
// medians of the turns.
//
//   bench_solve_bytes [--repeats N] [--threads N] [problem:n[:kind] …]     (threads: of the factorization)
//   kind: llt, ldlt or lu
#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <vector>

#include "bench/median.hpp"
#include "bench/model_cases.hpp"
#include "palmette/factorize/factorize.hpp"
#include "palmette/solve/panel_layout.hpp"
#include "palmette/solve/solve.hpp"

namespace {

using namespace palmette;
using bench::Case;
using bench::median;
using bench::Options;

using solve_detail::packed_width;
using solve_detail::SupernodeBundle;
using solve_detail::SweepGroups;

constexpr offset_t line_entries = 8, ahead_entries = 768, group_columns = 8;

Options defaults() {
  Options options;
  options.repeats = 9;
  options.cases = {{"poisson2d9", 512, "llt"},    {"poisson2d9", 1024, "llt"},
                   {"thermal2d", 100000, "llt"},  {"poisson3d7", 30, "llt"},
                   {"elasticity3d", 20, "llt"},   {"convection_diffusion3d", 40, "lu"},
                   {"kkt3d", 20, "ldlt"}};
  return options;
}

/// What one sweep reads, in bytes of doubles and of indices.
struct Bytes {
  double exact = 0;        ///< entries of the factor without the zeros of relaxed supernodes
  double entries = 0;      ///< with them: triangles and rows below
  double packed = 0;       ///< packed panels
  double bundles = 0;      ///< packed panels side by side
  double wide = 0;         ///< wide panels, in groups of columns from their diagonals on
  double lists = 0;        ///< 4 bytes for each row below
  double short_lists = 0;  ///< 2 bytes
  double runs = 0;         ///< 8 bytes for each run of rows below
  double own_rows = 0;     ///< b and x in the sweep's numbering

  double all() const { return packed + bundles + wide + lists + own_rows; }
};

/// One block of contiguous columns that a sweep reads.
struct Piece {
  const double* data;
  offset_t rows, cols, ld;
};

struct Half {
  const SweepGroups& groups;
  const SymbolicFactor& symbolic;
  const double* panels;   // of the plan
  offset_t num_panels;    // their entries
  const double* factor;   // of the factor
  bool square;            // diagonal blocks are permuted
};

/// What a sweep reads of a wide panel.
double bytes_of_whole(offset_t w, offset_t r) {
  offset_t entries = 0;
  for (offset_t first = 0; first < w; first += group_columns)
    entries += std::min(group_columns, w - first) * (w + r - first);
  return 8.0 * static_cast<double>(entries);
}

/// The mean of both sweeps.
Bytes bytes_of(const Half& lower, const Half& upper) {
  const SymbolicFactor& symbolic = lower.symbolic;
  const auto& bundles = lower.groups.bundles();
  Bytes sum;
  for (const Half* half : {&lower, &upper})
    sum.bundles += 4.0 * static_cast<double>(bundles.entries(half->square));
  for (index_t number = 0; number < bundles.count(); ++number)
    sum.lists += 4.0 * static_cast<double>(bundle_lanes * (1 + bundles[number].rows_below));
  sum.exact = 8.0 * static_cast<double>(symbolic.nnz_factor);
  sum.own_rows = 16.0 * symbolic.n;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const offset_t w = symbolic.width(s), r = symbolic.num_rows_below(s);
    sum.entries += 8.0 * static_cast<double>(w * (w + 1) / 2 + w * r);
    if (!bundles.holds(s)) sum.lists += 4.0 * static_cast<double>(r);
    sum.short_lists += 2.0 * static_cast<double>(r);
    const auto rows = symbolic.rows_below(s);
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (k == 0 || rows[k] != rows[k - 1] + 1) sum.runs += 8;
    if (bundles.holds(s)) continue;
    if (w <= packed_width) {
      for (const Half* half : {&lower, &upper})
        sum.packed += 4.0 * static_cast<double>(solve_detail::entries_held(half->groups, s, 8, half->square));
      continue;
    }
    sum.wide += bytes_of_whole(w, r);
  }
  return sum;
}

/// One supernode: a packed panel, or a whole one.
void add_pieces(const Half& half, index_t s, const double* panel, std::vector<Piece>& pieces) {
  const index_t w = half.symbolic.width(s), r = half.symbolic.num_rows_below(s);
  if (w <= packed_width) {
    const offset_t held = packed_entries(8, w, r, half.square);
    pieces.push_back({panel, held, 1, held});
  } else {
    const offset_t rows = offset_t{w} + r;
    pieces.push_back({half.factor + half.symbolic.panel_offset[s], rows, w, rows});
  }
}

/// The pieces of a sweep in its order: of each group the bundles, then the other supernodes.
std::vector<Piece> pieces_of(const Half& half) {
  const solve_detail::PanelLayout layout = solve_detail::panel_layout(half.groups, 8, half.square);
  const auto& bundles = half.groups.bundles();
  // Behind the last panel whole registers may be read.
  if (layout.end != half.num_panels) throw std::logic_error("the panels of this sweep lie in another way");
  std::vector<Piece> pieces;
  for (index_t group = 0; group < half.groups.num_groups(); ++group) {
    for (index_t number = bundles.begin(group); number < bundles.end(group); ++number) {
      const SupernodeBundle& bundle = bundles[number];
      const offset_t held = bundle.entries(half.square);
      pieces.push_back({half.panels + layout.bundles + bundle.before(half.square), held, 1, held});
    }
    for (const auto& one : bundles.singles(group))
      add_pieces(half, one.supernode, half.panels + layout.offset[one.supernode], pieces);
  }
  return pieces;
}

typedef double Line __attribute__((vector_size(64), aligned(8)));

/// Vectors longer than a register are not returned: processors differ in how.
void add_line(const double* from, Line& sum) { sum += *reinterpret_cast<const Line*>(from); }

/// How a loop reads.
struct Loop {
  bool asks;    ///< for what follows
  bool by_one;  ///< wide panels column after column, with what stands above their diagonals
};

/// Sums of eight lines at a time, so that no addition waits for another one.
struct Sums {
  Line line[8] = {};

  /// A whole panel, group after group from the first column and row on. @param asks  for the next group
  void add_groups_up(const Piece& piece, bool asks) {
    const offset_t ahead = asks ? group_columns * piece.ld : 0;
    for (offset_t column = 0; column < piece.cols; column += group_columns)
      for (offset_t row = column; row + line_entries <= piece.rows; row += line_entries)
        add_group(piece, column, row, ahead);
  }
  /// From the last group and row on.
  void add_groups_down(const Piece& piece, bool asks) {
    const offset_t ahead = asks ? -group_columns * piece.ld : 0;
    for (offset_t column = (piece.cols - 1) / group_columns * group_columns; column >= 0;
         column -= group_columns)
      for (offset_t row = piece.rows - line_entries; row >= column; row -= line_entries)
        add_group(piece, column, row, ahead);
  }
  void add_group(const Piece& piece, offset_t column, offset_t row, offset_t ahead) {
    const offset_t columns = std::min(group_columns, piece.cols - column);
    const auto add = [&](offset_t c) {
      const double* const from = piece.data + (column + c) * piece.ld + row;
      if (ahead != 0) __builtin_prefetch(from + ahead, 0, 2);
      add_line(from, line[c]);
    };
    if (columns == group_columns)
      for (offset_t c = 0; c < group_columns; ++c) add(c);
    else
      for (offset_t c = 0; c < columns; ++c) add(c);
  }
  /// A packed panel from its first line to its last. @param ahead  of the requests, in entries; 0: none
  void add_up(const Piece& piece, offset_t ahead) {
    for (offset_t row = 0; row + line_entries <= piece.rows;)
      for (int k = 0; k < 8; ++k) {
        if (row + line_entries > piece.rows) break;
        if (ahead != 0) __builtin_prefetch(piece.data + row + ahead, 0, 2);
        add_line(piece.data + row, line[k]);
        row += line_entries;
      }
  }
  /// From its last line to its first.
  void add_down(const Piece& piece, offset_t ahead) {
    for (offset_t row = piece.rows; row >= line_entries;)
      for (int k = 0; k < 8; ++k) {
        if (row < line_entries) break;
        row -= line_entries;
        if (ahead != 0) __builtin_prefetch(piece.data + row - ahead, 0, 2);
        add_line(piece.data + row, line[k]);
      }
  }
  /// All columns of a panel one after the other, up or down.
  void add_in_order(const Piece& piece, bool up) {
    const offset_t entries = piece.ld * (piece.cols - 1) + piece.rows;
    up ? add_up({piece.data, entries, 1, entries}, 0) : add_down({piece.data, entries, 1, entries}, 0);
  }
  void add(const Piece& piece, bool up, const Loop& how) {
    const offset_t ahead = how.asks ? ahead_entries : 0;
    if (piece.cols == 1) up ? add_up(piece, ahead) : add_down(piece, ahead);
    else if (how.by_one) add_in_order(piece, up);
    else up ? add_groups_up(piece, how.asks) : add_groups_down(piece, how.asks);
  }
  double value() const {
    Line all = {};
    for (const Line& one : line) all += one;
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane) sum += all[lane];
    return sum;
  }
};

/// Times of several works, measured in turn.
class Turns {
 public:
  template <class Work>
  void time(std::size_t number, Work&& work) {
    const Stopwatch watch;
    work();
    if (number >= seconds_.size()) seconds_.resize(number + 1);
    seconds_[number].push_back(watch.seconds());
  }
  /// The first turn only warms up.
  void forget() { seconds_.clear(); }
  double median_of(std::size_t number) const { return median(seconds_[number]); }
  /// The median of `factor` times a work's time over the least of some others' in the same turn.
  double ratio(std::size_t number, double factor, std::initializer_list<std::size_t> others) const {
    std::vector<double> ratios;
    for (std::size_t turn = 0; turn < seconds_[number].size(); ++turn) {
      double least = seconds_[*others.begin()][turn];
      for (const std::size_t other : others) least = std::min(least, seconds_[other][turn]);
      ratios.push_back(factor * seconds_[number][turn] / least);
    }
    return median(ratios);
  }

 private:
  std::vector<std::vector<double>> seconds_;
};

/// Keeps a loop whose result nobody needs.
volatile double kept = 0;

void read_panels(const std::vector<Piece>& up, const std::vector<Piece>& down, const Loop& how) {
  Sums sums;
  for (const Piece& piece : up) sums.add(piece, true, how);
  for (std::size_t k = down.size(); k-- > 0;) sums.add(down[k], false, how);
  kept = sums.value();
}

/// As many bytes in one piece, twice.
void read_stream(const PanelArray<double>& all) {
  Sums sums;
  for (int sweep = 0; sweep < 2; ++sweep) sums.add_up({all.data(), all.size(), 1, all.size()}, 0);
  kept = sums.value();
}

void run_case(const Case& what, const Options& options) {
  const SparseMatrix<double> matrix = generate({what.problem, what.n});
  OrderOptions order_options;
  FactorizeOptions how;
  ThreadTeam team(options.threads);
  how.kind = what.kind == "lu" ? FactorKind::lu : what.kind == "ldlt" ? FactorKind::ldlt : FactorKind::llt;
  order_options.pivot_need = how.kind == FactorKind::lu ? PivotNeed::unsymmetric
                             : how.kind == FactorKind::ldlt ? PivotNeed::indefinite : PivotNeed::none;
  const Ordering ordering = order(matrix, order_options).value();
  const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering));
  const auto factor =
      std::make_shared<const Factor<double>>(factorize(matrix, symbolic, ordering, how).value());
  const auto structure = plan_structure(symbolic, ScalarType::float64);
  const SolvePlan<double> plan = plan_solve(factor, {}, structure);
  const PlanValues<double> values = plan.values();
  const bool square = how.kind != FactorKind::llt;
  const auto half = [&](std::span<const double> panels, const double* entries, bool permuted) {
    const auto count = static_cast<offset_t>(panels.size());
    return Half{*structure, *symbolic, panels.data(), count, entries, permuted};
  };
  const Half lower = half(values.lower.panels, factor->lower.data(), square);
  const Half upper = how.kind == FactorKind::lu
                         ? half(values.upper.panels, factor->upper.data(), false)
                         : lower;
  const Bytes bytes = bytes_of(lower, upper);
  const std::vector<Piece> up = pieces_of(lower), down = pieces_of(upper);

  DenseMatrix<double> b(plan.size(), 1), x(plan.size(), 1);
  std::fill(b.values.begin(), b.values.end(), 1.0);
  const double panels = bytes.packed + bytes.bundles + bytes.wide;
  PanelArray<double> stream(static_cast<offset_t>(panels / 8));  // on large pages, as panels
  std::fill_n(stream.data(), stream.size(), 1.0);
  enum : std::size_t { solving, asking, unasked, by_one, streaming };
  Turns turns;
  for (int turn = 0; turn <= options.repeats; ++turn) {
    turns.time(solving, [&] {
      plan.solve(Operation::plain, b.view(), x.view(), {SolveMethod::serial, nullptr});
    });
    turns.time(asking, [&] { read_panels(up, down, {true, false}); });
    turns.time(unasked, [&] { read_panels(up, down, {false, false}); });
    turns.time(by_one, [&] { read_panels(up, down, {false, true}); });
    turns.time(streaming, [&] { read_stream(stream); });
    if (turn == 0) turns.forget();
  }
  const double least = (2 * bytes.exact + bytes.own_rows) / (2 * panels);  // of the stream's time
  const auto ms = [&](std::size_t work) { return 1e3 * turns.median_of(work); };
  const auto of_entries = [&](double part) { return part / bytes.entries; };
  std::printf("| %s %d %s | %.1f | %.2f | %.2f | %.2f | %.3f | %.3f | %.3f | %.3f | %.3f "
              "| %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n",
              what.problem.c_str(), what.n, what.kind.c_str(), 1e-6 * bytes.entries,
              of_entries(bytes.exact), of_entries(bytes.packed), of_entries(bytes.bundles),
              of_entries(bytes.wide), of_entries(bytes.lists), of_entries(bytes.short_lists),
              of_entries(bytes.runs), of_entries(bytes.all()), ms(solving), ms(asking), ms(unasked),
              ms(by_one), ms(streaming), least * ms(streaming),
              turns.ratio(streaming, least, {asking, unasked, by_one}),
              turns.ratio(streaming, least, {solving}));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  palmette::hand_overs_of_process().call_all();
  try {
    const Options options = bench::parse(argc, argv, defaults());
    std::puts(
        "Bytes of one sweep over those of its entries (8 each, zeros of relaxed supernodes included); ms of "
        "both sweeps, one thread\n\n"
        "| problem | MB of entries | without zeros | packed | bundles | wide panels | lists | 16-bit lists "
        "| runs | all | solve ms | loop over panels ms "
        "| without requests ms | column after column ms | one stream ms | least ms "
        "| of the roof: fastest loop | solve |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (const Case& what : options.cases) run_case(what, options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
