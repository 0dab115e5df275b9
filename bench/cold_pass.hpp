// What both programs of cold starts share: the matrix, the right-hand side, and what each phase of a pass took.
#pragma once

#include <sys/resource.h>

#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/refine/refine.hpp"

namespace cold {

using namespace palmette;
using nlohmann::ordered_json;

/// Page faults of the process so far that needed no disk.
inline long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Seconds and page faults of one phase after another, as NAME_s and NAME_faults of a row.
class Phases {
 public:
  explicit Phases(ordered_json& row) : row_(row) { begin(); }
  void begin() {
    faults_ = page_faults();
    watch_.restart();
  }
  double end(const std::string& name) {
    const double seconds = watch_.seconds();
    row_[name + "_s"] = seconds;
    row_[name + "_faults"] = page_faults() - faults_;
    begin();
    return seconds;
  }

 private:
  ordered_json& row_;
  Stopwatch watch_;
  long faults_ = 0;
};

inline int threads_of_environment() {
  const char* threads = std::getenv("PEERS_THREADS");
  return threads != nullptr ? std::max(1, std::atoi(threads)) : 1;
}

inline std::shared_ptr<const SparseMatrix<double>> read(const std::string& path, int threads) {
  ReadOptions how;
  how.threads = threads;
  AnyMatrix any = read_matrix(path, how).matrix;
  auto* given = std::get_if<SparseMatrix<double>>(&any);
  if (given == nullptr) throw UsageError("the comparison is of real matrices");
  return std::make_shared<const SparseMatrix<double>>(std::move(*given));
}

/// b = A·x for a repeatable x with entries in [−1, 1].
inline DenseMatrix<double> right_hand_side(const SparseMatrix<double>& matrix) {
  DenseMatrix<double> x(matrix.rows(), 1), b(matrix.rows(), 1);
  std::uint64_t state = 12345;
  for (double& value : x.values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = double(state >> 11) / double(1ULL << 52) - 1;
  }
  multiply_add(matrix, Operation::plain, 1.0, std::as_const(x).view(), b.view());
  return b;
}

inline ordered_json names(const std::string& solver, const std::string& path, int threads) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return {{"solver", solver}, {"threads", threads}, {"ranks", 1}, {"matrix", name.substr(0, name.find(".mtx"))}};
}

}  // namespace cold
