// What order and analyze share: the kind of factorization for a matrix, and the structure of its factor.
#pragma once

#include "cli/input.hpp"
#include "palmette/analyze/analyze.hpp"
#include "palmette/order/order.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::cli {

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
  index_t max_width = AnalyzeOptions().max_width;  ///< of a supernode
};

/// Order and analyze. @throws NumericalError if the matrix is structurally singular
template <class T>
Structure find_structure(const SparseMatrix<T>& matrix, const StructureOptions& options,
                         ProgressBar& progress);

/// The sections `matrix`, `order` and `analyze` of the report, and `version`.
Json structure_json(const Report& report);

}  // namespace palmette::cli
