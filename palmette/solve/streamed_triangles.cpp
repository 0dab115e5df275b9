// A piece holds up to three runs of panels: those of the plan, of supernodes in no bundle and in bundles, and
// those of the factor. In each run panels that follow each other in the file are read together.
#include "palmette/solve/streamed_triangles.hpp"

#include <algorithm>

namespace palmette::solve_detail {
namespace {

constexpr std::uint64_t cache_line = 64;
constexpr std::uint64_t most_piece_bytes = 64 << 20;
/// Pieces in memory: enough to overlap reading and computing, few enough to choose among quickly.
constexpr std::uint64_t usual_buffers = 8, most_buffers = 64;
constexpr int num_runs = 3;

std::uint64_t bytes_needed(const PanelReadsOf& reads) {
  return reads.values.bytes + reads.panel.bytes;
}

/// Collects the panels of one piece.
class PieceBuilder {
 public:
  explicit PieceBuilder(PiecesOfTriangle& made) : made_(made) {}
  bool is_empty() const { return bytes_ == 0; }
  std::uint64_t bytes() const { return bytes_; }

  void add(index_t s, const PanelReadsOf& reads) {
    if (is_empty()) begin_ = s;
    end_ = s + 1;
    bytes_ += bytes_needed(reads);
    PanelWindow& window = made_.window;
    window.values[s] = append(values_run(reads.values_apart), reads.values);
    window.panel[s] = append(1, reads.panel);
    values_apart_.push_back(reads.values_apart);
  }

  void finish() {
    if (is_empty()) return;
    PanelPiece piece{begin_, end_, {}};
    std::uint64_t start[num_runs], next = 0;
    for (int run = 0; run < num_runs; ++run) {
      start[run] = next;
      for (PanelRead read : reads_[run]) {
        read.place += next;
        piece.reads.push_back(read);
      }
      next += (length_[run] + cache_line - 1) / cache_line * cache_line;
    }
    PanelWindow& window = made_.window;
    for (index_t s = begin_; s < end_; ++s) {
      window.values[s] += start[values_run(values_apart_[s - begin_])];
      window.panel[s] += start[1];
    }
    made_.pieces.push_back(std::move(piece));
    *this = PieceBuilder(made_);
  }

  PieceBuilder& operator=(PieceBuilder&& other) noexcept {
    for (int run = 0; run < num_runs; ++run) {
      reads_[run] = std::move(other.reads_[run]);
      length_[run] = other.length_[run];
    }
    values_apart_ = std::move(other.values_apart_);
    bytes_ = other.bytes_;
    return *this;
  }

 private:
  static int values_run(bool apart) { return apart ? 2 : 0; }
  /// @returns its place in the run
  std::uint64_t append(int run, PanelRead read) {
    const std::uint64_t place = length_[run];
    if (read.bytes == 0) return place;
    std::vector<PanelRead>& reads = reads_[run];
    length_[run] += read.bytes;
    if (!reads.empty() && reads.back().position + reads.back().bytes == read.position) {
      reads.back().bytes += read.bytes;
      return place;
    }
    read.place = place;
    reads.push_back(read);
    return place;
  }

  PiecesOfTriangle& made_;
  std::vector<PanelRead> reads_[num_runs];
  std::uint64_t length_[num_runs] = {};
  std::vector<char> values_apart_;
  std::uint64_t bytes_ = 0;
  index_t begin_ = 0, end_ = 0;
};

/// use(begin, end, bytes) for supernodes that must be in one piece, ascending: those of a group with bundles,
/// since these come first in a forward sweep through the group; any other supernode for itself.
template <class T, class Use>
void over_inseparable(const SupernodalTriangle<T>& triangle, const PanelPositions& at, Use&& use) {
  const SweepGroups& groups = triangle.structure();
  const auto use_all = [&](index_t begin, index_t end) {
    std::uint64_t bytes = 0;
    for (index_t s = begin; s < end; ++s) bytes += bytes_needed(triangle.reads(s, at));
    use(begin, end, bytes);
  };
  for (index_t group = 0; group < groups.num_groups(); ++group) {
    const index_t begin = groups.supernode_begin(group), end = groups.supernode_end(group);
    if (groups.bundles().any_in(group)) use_all(begin, end);
    else
      for (index_t s = begin; s < end; ++s) use_all(s, s + 1);
  }
}

}  // namespace

template <class T>
std::uint64_t largest_panel_bytes(const SupernodalTriangle<T>& triangle, const PanelPositions& at) {
  std::uint64_t largest = 0;
  over_inseparable(triangle, at,
                   [&](index_t, index_t, std::uint64_t bytes) { largest = std::max(largest, bytes); });
  return largest + num_runs * cache_line;
}

template <class T>
PiecesOfTriangle pieces_of(const SupernodalTriangle<T>& triangle, const PanelPositions& at,
                           std::uint64_t piece_bytes) {
  const index_t count = triangle.structure().symbolic().num_supernodes();
  PiecesOfTriangle made;
  made.window.values.resize(count);
  made.window.panel.resize(count);
  PieceBuilder builder(made);
  over_inseparable(triangle, at, [&](index_t begin, index_t end, std::uint64_t bytes) {
    if (!builder.is_empty() && builder.bytes() + bytes + num_runs * cache_line > piece_bytes)
      builder.finish();
    for (index_t s = begin; s < end; ++s) builder.add(s, triangle.reads(s, at));
  });
  builder.finish();
  return made;
}

std::uint64_t StreamedTriangles::piece_bytes_for(const PanelsInFile& file, std::uint64_t largest) {
  const std::uint64_t memory = file.memory_bytes;
  const std::uint64_t wanted =
      std::max(std::min(memory / usual_buffers, most_piece_bytes), memory / most_buffers);
  return std::clamp(wanted, largest + PanelStream::slack_bytes, memory / PanelStream::fewest_buffers) -
         PanelStream::slack_bytes;
}

StreamedTriangles::StreamedTriangles(const PanelsInFile& file, std::uint64_t piece_bytes,
                                     PiecesOfTriangle lower, PiecesOfTriangle upper)
    : lower_(std::move(lower.window)),
      upper_(std::move(upper.window)),
      num_lower_pieces_(static_cast<index_t>(lower.pieces.size())) {
  std::vector<PanelPiece> pieces = std::move(lower.pieces);
  pieces.insert(pieces.end(), upper.pieces.begin(), upper.pieces.end());
  const auto fitting = static_cast<index_t>(file.memory_bytes / (piece_bytes + PanelStream::slack_bytes));
  const index_t count = std::min(fitting, static_cast<index_t>(pieces.size()));
  stream_ = std::make_unique<PanelStream>(file.reader, std::move(pieces), piece_bytes, count);
}

StreamedTriangles::Pass::Pass(StreamedTriangles& triangles, const SweepOrder& steps)
    : triangles_(triangles), order_(order_of(steps)), pass_(*triangles.stream_, order_) {}

std::vector<index_t> StreamedTriangles::Pass::order_of(const SweepOrder& steps) {
  const index_t lower = triangles_.num_lower_pieces_, all = triangles_.stream_->num_pieces();
  std::vector<index_t> order;
  for (int nth = 0; nth < steps.count; ++nth) {
    const SweepStep& step = steps.step[nth];
    const index_t begin = step.upper ? lower : 0, end = step.upper ? all : lower;
    step_begin_.push_back(order.size());
    for (index_t k = 0; k < end - begin; ++k) order.push_back(step.forward ? begin + k : end - 1 - k);
  }
  return order;
}

void StreamedTriangles::Pass::begin_step() {
  place_ = step_begin_[++step_];
  begin_ = end_ = 0;
}

void StreamedTriangles::Pass::need(index_t s) {
  if (s >= begin_ && s < end_) return;
  const auto piece_at = [&](std::size_t place) -> const PanelPiece& {
    return triangles_.stream_->piece(order_[place]);
  };
  while (s < piece_at(place_).begin || s >= piece_at(place_).end) ++place_;
  PanelWindow& window = order_[place_] < triangles_.num_lower_pieces_ ? triangles_.lower_ : triangles_.upper_;
  window.base = pass_.take(place_);
  begin_ = piece_at(place_).begin;
  end_ = piece_at(place_).end;
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template std::uint64_t largest_panel_bytes<T>(const SupernodalTriangle<T>&, const PanelPositions&); \
  template PiecesOfTriangle pieces_of<T>(const SupernodalTriangle<T>&, const PanelPositions&, std::uint64_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
