// Inside `solver`: what the files of Solver and of RankSolver both hold: figures, a matrix, its order and its
// structure.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "palmette/archive/archive.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette {

/// How a figure passes between its place and the file.
using FigureVisit = std::function<void(double& figure)>;

/// @throws UsageError if the file's number is out of the range of its type
template <class Figure>
void pass(const FigureVisit& visit, Figure& figure) {
  double number = static_cast<double>(figure);
  visit(number);
  // The largest number that the type holds; enumerations go by way of int.
  constexpr double most = sizeof(Figure) < sizeof(std::int64_t) ? 2147483647.0 : 9.0e18;
  if (!std::is_floating_point_v<Figure> && !(std::abs(number) <= most))
    throw UsageError("a figure of its solver is out of range");
  if constexpr (std::is_enum_v<Figure>)
    figure = static_cast<Figure>(static_cast<int>(number));
  else
    figure = static_cast<Figure>(number);
}

void visit_kind(const FigureVisit& visit, std::optional<FactorKind>& kind);
void visit_analysis(const FigureVisit& visit, AnalyzeOptions& options);
/// Of order, analyze and factorize, which the report must have.
void visit_phases(const FigureVisit& visit, Report& report);

/// Figures are written and read by the same walk, so that both agree.
using FigureWalk = std::function<void(const FigureVisit& visit)>;
void save_figures(ArchiveWriter& file, const FigureWalk& walk);
/// @throws IoError if there are fewer
void load_figures(const Archive& file, const FigureWalk& walk);

template <class T>
void save_matrix(ArchiveWriter& file, const SparseMatrix<T>& matrix);
/// @throws IoError, UsageError
template <class T>
std::shared_ptr<const SparseMatrix<T>> load_matrix(const Archive& file);

void save_structure(ArchiveWriter& file, const Ordering& ordering, const SymbolicFactor& symbolic);
/// @param report  has method and seconds @throws IoError, UsageError
Ordering load_ordering(const Archive& file, const OrderReport& report, index_t n);
/// @throws IoError, UsageError
SymbolicFactor load_structure(const Archive& file, index_t n);

}  // namespace palmette
