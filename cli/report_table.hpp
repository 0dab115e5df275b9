// The report of a run as a table for people.
#pragma once

#include <string>

#include "palmette/solver/solver.hpp"

namespace palmette::cli {

/// What the command knows in addition to the Report.
struct RunFigures {
  std::string command;  ///< "solve" or "trisolve"
  std::string path;
  FileHeader header;
  int repeat = 1;
  double read_seconds = 0;
  double write_seconds = 0;  ///< 0: nothing was written
  double total_seconds = 0;
  std::string out;
  const RankReport* ranks = nullptr;  ///< of a solve over ranks
};

/// One line (or a few) for each phase: its time, its result, and how near it ran to the hardware's limit;
/// then the verdict.
std::string report_table(const Report& report, const RunFigures& figures);

/// "4,884 x 4,884, 290,378 entries, real symmetric".
std::string matrix_sentence(const MatrixReport& matrix);

/// "LL^T", "LDL^T" or "LU".
std::string kind_sentence(FactorKind kind);

}  // namespace palmette::cli
