// Inside `solve`: the triangles of a core whose panels stay in a file, in pieces that fit the buffers.
#pragma once

#include <memory>

#include "palmette/solve/panel_stream.hpp"
#include "palmette/solve/supernodal_triangle.hpp"
#include "palmette/solve/sweep_steps.hpp"

namespace palmette::solve_detail {

/// Pieces of a triangle, and where each panel lies in them.
struct PiecesOfTriangle {
  /// of ascending supernodes; a group with bundles is in one piece
  std::vector<PanelPiece> pieces;
  PanelWindow window;
};

/// @param piece_bytes  of one piece at most, unless a supernode, or a group with bundles, alone needs more
template <class T>
PiecesOfTriangle pieces_of(const SupernodalTriangle<T>& triangle, const PanelPositions& at,
                           std::uint64_t piece_bytes);

/// Bytes of the largest piece that cannot be cut.
template <class T>
std::uint64_t largest_panel_bytes(const SupernodalTriangle<T>& triangle, const PanelPositions& at);

/// The least memory for buffers. @param largest  largest_panel_bytes of all triangles
inline std::uint64_t least_buffer_bytes(std::uint64_t largest) {
  return PanelStream::fewest_buffers * (largest + PanelStream::slack_bytes);
}

/// The panels of one core. One solve at a time; others wait.
class StreamedTriangles {
 public:
  /// @param largest  largest_panel_bytes of both
  /// @param cut  (upper, bytes of a piece) → its pieces; called for the upper triangle if there is one
  template <class Cut>
  StreamedTriangles(const PanelsInFile& file, std::uint64_t largest, bool has_upper, const Cut& cut)
      : StreamedTriangles(file, piece_bytes_for(file, largest), cut(false, piece_bytes_for(file, largest)),
                          has_upper ? cut(true, piece_bytes_for(file, largest)) : PiecesOfTriangle()) {}

  const PanelWindow& window(bool upper) const { return upper ? upper_ : lower_; }
  PanelReads reads() const { return stream_->reads(); }
  offset_t memory_bytes() const { return stream_->memory_bytes(); }

  /// The sweeps of one solve.
  class Pass {
   public:
    Pass(StreamedTriangles& triangles, const SweepOrder& steps);
    /// Before the next step's first panel.
    void begin_step();
    /// Before the panel of supernode s: brings it to its place in the window. Pieces ascend or descend
    /// through a step; within one, supernodes come in any order.
    void need(index_t s);

   private:
    std::vector<index_t> order_of(const SweepOrder& steps);

    StreamedTriangles& triangles_;
    std::vector<std::size_t> step_begin_;  // in the order
    const std::vector<index_t> order_;
    PanelStream::Pass pass_;
    int step_ = -1;
    std::size_t place_ = 0;
    index_t begin_ = 0, end_ = 0;  // supernodes in memory
  };

 private:
  static std::uint64_t piece_bytes_for(const PanelsInFile& file, std::uint64_t largest);
  StreamedTriangles(const PanelsInFile& file, std::uint64_t piece_bytes, PiecesOfTriangle lower,
                    PiecesOfTriangle upper);

  PanelWindow lower_, upper_;
  index_t num_lower_pieces_;  // the first of the stream's
  std::unique_ptr<PanelStream> stream_;
};

}  // namespace palmette::solve_detail
