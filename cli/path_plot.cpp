// Rectangles on a square of dots.
#include "cli/path_plot.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace palmette::cli {
namespace {

constexpr double side = 800, margin = 30;

/// One block as drawn, in tenths of a dot, so that equal blocks can be recognized.
using Box = std::tuple<int, int, int, int>;

class Plot {
 public:
  explicit Plot(const SymbolicFactor& symbolic)
      : symbolic_(symbolic), scale_(symbolic.n > 0 ? side / symbolic.n : 1) {}

  Box box(index_t row_supernode, index_t column_supernode) const {
    const auto begin = [&](index_t s) {
      return scale_ * symbolic_.supernode_begin[s];
    };
    const auto length = [&](index_t s) { return std::max(1.0, scale_ * symbolic_.width(s)); };
    return {tenths(begin(column_supernode)), tenths(begin(row_supernode)), tenths(length(column_supernode)),
            tenths(length(row_supernode))};
  }
  void draw(const std::set<Box>& boxes, const char* colour) {
    text_ += fmt::format("<path fill=\"{}\" d=\"", colour);
    for (const auto& [x, y, width, height] : boxes)
      text_ += fmt::format("M{:g} {:g}h{:g}v{:g}h-{:g}z", margin + x / 10.0, margin + y / 10.0, width / 10.0,
                           height / 10.0, width / 10.0);
    text_ += "\"/>\n";
  }
  void line(const std::vector<Box>& boxes) {
    text_ += "<polyline fill=\"none\" stroke=\"#1f5fbf\" stroke-width=\"1\" points=\"";
    for (const auto& [x, y, width, height] : boxes)
      text_ += fmt::format("{:g},{:g} ", margin + x / 10.0 + width / 20.0, margin + y / 10.0 + height / 20.0);
    text_ += "\"/>\n";
  }
  std::string finished(const std::string& title) const {
    const double all = side + 2 * margin;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {0:g}\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n"
        "<rect width=\"{0:g}\" height=\"{0:g}\" fill=\"white\"/>\n<text x=\"{1:g}\" "
        "y=\"20\">{2}</text>\n{3}</svg>\n",
        all, margin, title, text_);
  }

 private:
  static int tenths(double dots) { return static_cast<int>(dots * 10); }
  const SymbolicFactor& symbolic_;
  double scale_;
  std::string text_;
};

}  // namespace

std::string path_svg(const SymbolicFactor& symbolic, const PathModel& model, const std::string& title) {
  Plot plot(symbolic);
  std::set<Box> all, beside, initial;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    all.insert(plot.box(s, s));
    for (const Block& block : symbolic.blocks_of(s)) all.insert(plot.box(block.row_supernode, s));
  }
  std::vector<Box> line;
  for (const PathBlock& block : model.path) {
    const Box box = plot.box(block.row_supernode, block.column_supernode);
    (block.is_initial ? initial : beside).insert(box);
    if (block.is_initial) line.push_back(box);
  }
  plot.draw(all, "#c8c8c8");
  plot.draw(beside, "#f08c1e");
  plot.draw(initial, "#1f5fbf");
  plot.line(line);
  return plot.finished(title);
}

}  // namespace palmette::cli
