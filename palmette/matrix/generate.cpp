// The list of generators, the checks at its door, and the call of the maker.
#include "palmette/matrix/generate.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <new>
#include <numeric>

#include "palmette/matrix/generate_problems.hpp"

namespace palmette {
namespace {

constexpr double largest_index = 2147483647.0;

using Rows = double (*)(double n);
double rows_line(double n) { return n; }
double rows_square(double n) { return n * n; }
double rows_cube(double n) { return n * n * n; }
double rows_elasticity(double n) { return 3.0 * n * (n + 1.0) * (n + 1.0); }
double rows_kkt(double n) { return 3.0 * n * n * n; }

/// What the door checks before the maker is called.
struct Generator {
  GeneratorInfo info;
  SparseMatrix<double> (*make)(const GenerateOptions&);
  Rows rows;
  double largest_n = largest_index;  ///< if something other than the number of rows limits n
  double smallest_parameter = 0;
  double largest_parameter = 0;
};

const std::vector<Generator>& generators() {
  using namespace matrix_detail;
  static const std::string points = "grid points a side", unknowns = "rows";
  static const std::string levels = "number of levels, 1 to n; default: the square root of n, rounded down";
  static const std::vector<Generator> list = {
      {{"poisson2d5", "Poisson on a square, 5-point stencil; symmetric positive definite", points, "", 0},
       make_poisson2d5, rows_square},
      {{"poisson2d9", "Poisson on a square, 9-point stencil; symmetric positive definite", points, "", 0},
       make_poisson2d9, rows_square},
      {{"poisson3d7", "Poisson on a cube, 7-point stencil; symmetric positive definite", points, "", 0},
       make_poisson3d7, rows_cube},
      {{"poisson3d27", "Poisson on a cube, 27-point stencil; symmetric positive definite", points, "", 0},
       make_poisson3d27, rows_cube},
      {{"elasticity3d",
        "linear elasticity on a cube of 8-node bricks, one face clamped; symmetric positive definite",
        "elements a side", "", 0},
       make_elasticity3d, rows_elasticity},
      {{"thermal2d",
        "heat conduction with jumps, linear elements on a Delaunay mesh of random points; "
        "symmetric positive definite",
        "mesh points", "weight of the mass term (one over the time step)", 10},
       make_thermal2d, rows_line, 1073741824.0, 1e-6, 1e12},
      {{"rmat", "Laplacian plus identity of a scale-free R-MAT graph; symmetric positive definite", unknowns,
        "edges drawn for each vertex", 8},
       make_rmat, rows_line, largest_index, 1e-6, 1000},
      {{"road", "Laplacian plus identity of a road-like planar graph; symmetric positive definite",
        "crossings a side", "share of the streets built beyond a spanning tree", 0.2},
       make_road, rows_square, largest_index, 1e-6, 1},
      {{"random_spd", "random pattern, dominant diagonal; symmetric positive definite", unknowns,
        "entries drawn for each row off the diagonal", 4},
       make_random_spd, rows_line, largest_index, 1e-6, 1000},
      {{"indefinite2d", "5-point Laplacian minus a shift, as in the Helmholtz equation; symmetric indefinite",
        points, "shift; nonsingular for every shift that is a fraction and not an integer", 0.75},
       make_indefinite2d, rows_square, largest_index, 1e-9, 8.0},
      {{"kkt3d", "optimal control of the Poisson equation on a cube, a saddle point; symmetric indefinite",
        points, "weight of the control's cost", 0.001},
       make_kkt3d, rows_kkt, largest_index, 1e-12, 1e12},
      {{"convection_diffusion2d",
        "convection-diffusion on a square, upwind differences, recirculating flow; unsymmetric",
        points, "largest cell Peclet number (convection against diffusion)", 1},
       make_convection_diffusion2d, rows_square, largest_index, 1e-9, 1e9},
      {{"convection_diffusion3d",
        "convection-diffusion on a cube, upwind differences, helical flow; unsymmetric",
        points, "largest cell Peclet number (convection against diffusion)", 1},
       make_convection_diffusion3d, rows_cube, largest_index, 1e-9, 1e9},
      {{"circuit",
        "circuit with long wires, controlled sources and supply rails (dense rows and columns); unsymmetric",
        unknowns, "number of supply rails", 6},
       make_circuit, rows_line, largest_index, 1, 1000},
      {{"random_unsymmetric",
        "random pattern, nonsingular by a hidden transversal, badly scaled; unsymmetric",
        unknowns, "entries drawn for each column beside the transversal", 4},
       make_random_unsymmetric, rows_line, largest_index, 1e-6, 1000},
      {{"bidiagonal", "lower bidiagonal: one long chain", unknowns, "", 0}, make_bidiagonal, rows_line},
      {{"dense_triangle", "dense lower triangle", unknowns, "", 0}, make_dense_triangle, rows_line, 262144.0},
      {{"random_triangular", "random lower triangular with a given number of levels", unknowns, levels, 0},
       make_random_triangular, rows_line, largest_index, 1, largest_index},
  };
  return list;
}

/// Least number of characters to insert, delete or replace (Levenshtein).
std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void refuse_name(const std::string& name) {
  const Generator* nearest = nullptr;
  std::size_t least = 0;
  std::string names;
  for (const Generator& generator : generators()) {
    const std::size_t distance = edit_distance(name, generator.info.name);
    if (nearest == nullptr || distance < least) {
      nearest = &generator;
      least = distance;
    }
    names += (names.empty() ? "" : ", ") + generator.info.name;
  }
  // A name may have any length; the message repeats only its beginning.
  const std::string beginning = name.size() > 40 ? name.substr(0, 40) + "..." : name;
  throw UsageError("unknown model problem '" + beginning + "': did you mean '" + nearest->info.name +
                   "'? There are " + names);
}

const Generator& find_generator(const std::string& name) {
  for (const Generator& generator : generators())
    if (generator.info.name == name) return generator;
  refuse_name(name);
}

/// Largest n with rows(n) ≤ 2³¹ − 1, by halving.
offset_t largest_size(const Generator& generator) {
  double low = 1, high = generator.largest_n;
  if (generator.rows(high) <= largest_index) return static_cast<offset_t>(high);
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (generator.rows(middle) <= largest_index ? low : high) = middle;
  }
  return static_cast<offset_t>(low);
}

void check_size(const Generator& generator, index_t n) {
  const offset_t largest = largest_size(generator);
  if (n >= 1 && n <= largest) return;
  const std::string range =
      "choose n (" + generator.info.n_meaning + ") from 1 to " + std::to_string(largest);
  const std::string given = generator.info.name + " with n = " + std::to_string(n);
  const double rows = generator.rows(n);
  if (n > 0 && rows > largest_index)
    throw DimensionError(given + " would have " +
                         std::to_string(static_cast<offset_t>(std::min(rows, 9e18))) +
                         " rows, more than the 2147483647 that indices can count: " + range);
  throw UsageError(given + " is out of range: " + range);
}

/// Shortest text that reads back as the same number; std::to_string would show 1e-9 as 0.000000.
std::string shown(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

/// The parameter with its default filled in. Zero stays zero where the maker derives the default from n.
double checked_parameter(const Generator& generator, const GenerateOptions& options) {
  const GeneratorInfo& info = generator.info;
  if (options.parameter == 0) return info.default_parameter;
  if (info.parameter_meaning.empty())
    throw UsageError(info.name + " takes no parameter, but " + shown(options.parameter) +
                     " was given: leave it out");
  const bool counts_levels = info.name == "random_triangular";
  const double largest = counts_levels ? options.n : generator.largest_parameter;
  if (!(options.parameter >= generator.smallest_parameter && options.parameter <= largest))
    throw UsageError(info.name + " with parameter " + shown(options.parameter) + " (" +
                     info.parameter_meaning + ") is out of range: choose it from " +
                     shown(generator.smallest_parameter) + " to " + shown(largest) +
                     ", or 0 for the default");
  if ((counts_levels || info.name == "circuit") && options.parameter != std::floor(options.parameter))
    throw UsageError(info.name + " with parameter " + shown(options.parameter) + " (" +
                     info.parameter_meaning + "): choose a whole number");
  return options.parameter;
}

}  // namespace

const std::vector<GeneratorInfo>& generator_list() {
  static const std::vector<GeneratorInfo> list = [] {
    std::vector<GeneratorInfo> infos;
    for (const Generator& generator : generators()) infos.push_back(generator.info);
    return infos;
  }();
  return list;
}

SparseMatrix<double> generate(const GenerateOptions& options) {
  const Generator& generator = find_generator(options.problem);
  check_size(generator, options.n);
  GenerateOptions checked = options;
  checked.parameter = checked_parameter(generator, options);
  try {
    return generator.make(checked);
  } catch (const std::bad_alloc&) {
    throw MemoryError(options.problem + " with n = " + std::to_string(options.n) +
                      " does not fit into memory: choose a smaller n");
  }
}

}  // namespace palmette
