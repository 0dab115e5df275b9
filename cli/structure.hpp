// What order and analyze share: the kind of factorization that a matrix is meant for, and the structure it leads to.
#pragma once

#include "cli/input.hpp"
#include "palmette/analyze/analyze.hpp"
#include "palmette/order/order.hpp"

namespace palmette::cli {

/// The kind that solve begins with: the one asked for, or llt, ldlt, lu by symmetry and diagonal.
template <class T>
FactorKind first_kind(const SparseMatrix<T>& matrix, std::optional<FactorKind> asked);

/// The pivots that a kind of factorization has to choose.
PivotNeed pivot_need(FactorKind kind);

/// Matrix, order and analyze sections of a report.
struct Structure {
  FactorKind kind = FactorKind::llt;
  Ordering ordering;
  SymbolicFactor symbolic;
  Report report;
};

struct StructureOptions {
  KindAndOrder kind_and_order;
  int threads = 0;
};

/// Order and analyze. @throws NumericalError if the matrix is structurally singular
template <class T>
Structure find_structure(const SparseMatrix<T>& matrix, const StructureOptions& options, ProgressBar& progress);

/// The sections `matrix`, `order` and `analyze` of the report, and `version`.
Json structure_json(const Report& report);

}  // namespace palmette::cli
