// What does the first answer of a process cost with MKL's PARDISO? Prints the row of bench_cold_row, with the
// same reader and the same verification.
//
//   bench_cold_pardiso MATRIX.mtx MTYPE
//
// MTYPE as PARDISO numbers matrices: 2 positive definite, -2 symmetric indefinite, 11 general. MKL_RT names
// libmkl_rt, which is loaded at run time; PEERS_THREADS the threads. Turning the matrix into PARDISO's form
// is not timed.
#include <dlfcn.h>

#include <cstdio>
#include <vector>

#include "bench/cold_pass.hpp"

namespace {

using namespace cold;

using PardisoCall = void (*)(void*, const int*, const int*, const int*, const int*, const int*, const double*,
                             const int*, const int*, int*, const int*, int*, const int*, double*, double*,
                             int*);
using SetThreads = void (*)(int);

/// Rows of A, or of its upper triangle with every diagonal entry present.
struct CompressedRows {
  std::vector<int> row_ptr = {0}, column;
  std::vector<double> value;

  CompressedRows(const SparseMatrix<double>& matrix, bool symmetric) {
    const SparseMatrix<double> turned = transpose(matrix);
    for (index_t row = 0; row < turned.cols(); ++row) {
      if (symmetric) column.push_back(row), value.push_back(0);
      for (offset_t entry = turned.pattern.column_ptr[row]; entry < turned.pattern.column_ptr[row + 1];
           ++entry) {
        const index_t other = turned.pattern.row_index[entry];
        if (symmetric && other == row) value.back() = turned.values[entry];
        if (symmetric ? other <= row : false) continue;
        column.push_back(other), value.push_back(turned.values[entry]);
      }
      row_ptr.push_back(static_cast<int>(column.size()));
    }
  }
};

class Pardiso {
 public:
  Pardiso(int type, int threads) : type_(type) {
    const char* path = std::getenv("MKL_RT");
    void* const library = dlopen(path != nullptr ? path : "libmkl_rt.so", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) throw UsageError(std::string("MKL_RT: ") + dlerror());
    call_ = reinterpret_cast<PardisoCall>(dlsym(library, "pardiso"));
    const auto set_threads = reinterpret_cast<SetThreads>(dlsym(library, "MKL_Set_Num_Threads"));
    if (call_ == nullptr) throw UsageError("libmkl_rt has no pardiso");
    if (set_threads != nullptr) set_threads(threads);
    settings_[0] = 1;
    settings_[1] = 2;  // METIS
    settings_[9] = type == 11 ? 13 : 8;
    settings_[10] = settings_[12] = type == 2 ? 0 : 1;  // scaling and matching
    settings_[17] = settings_[18] = -1;
    settings_[20] = 1;
    settings_[23] = 1;  // the factorization for several threads
    settings_[34] = 1;  // indices from 0
  }

  void run(int phase, const CompressedRows& a, double* b, double* x) {
    const int one = 1, n = static_cast<int>(a.row_ptr.size()) - 1, silent = 0;
    int error = 0;
    call_(handle_, &one, &one, &type_, &phase, &n, a.value.data(), a.row_ptr.data(), a.column.data(), nullptr,
          &one, settings_, &silent, b, x, &error);
    if (error != 0)
      throw UsageError("PARDISO's phase " + std::to_string(phase) + " returned " + std::to_string(error));
  }
  long factor_entries() const { return settings_[17]; }

 private:
  PardisoCall call_ = nullptr;
  void* handle_[64] = {};
  int settings_[64] = {};
  const int type_;
};

ordered_json row_of(const std::string& path, int type) {
  ordered_json row = names("pardiso_cold", path, threads_of_environment());
  Pardiso pardiso(type, threads_of_environment());
  Phases phases(row);
  const auto matrix = read_real(path, threads_of_environment());
  double first = phases.end("read");
  const CompressedRows rows(*matrix, type != 11);
  DenseMatrix<double> b = right_hand_sides(*matrix, 1), x(matrix->rows(), 1);
  phases.begin();
  pardiso.run(11, rows, b.values.data(), x.values.data());
  first += phases.end("analyze");
  pardiso.run(22, rows, b.values.data(), x.values.data());
  first += phases.end("factor");
  pardiso.run(33, rows, b.values.data(), x.values.data());
  first += phases.end("solve");
  const Verification found = verify<double>(*matrix, Operation::plain, b.view(), std::as_const(x).view());
  row["first_s"] = first + phases.end("verify");
  row["berr"] = found.backward_error;
  row["verified"] = found.verified;
  row["nnz_l"] = pardiso.factor_entries();
  phases.begin();
  pardiso.run(22, rows, b.values.data(), x.values.data());
  phases.end("again");
  row["again_factor_s"] = row["again_s"];
  row["rss_mb"] = static_cast<double>(peak_memory_bytes()) / 1e6;
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_cold_pardiso MATRIX.mtx MTYPE\n");
    return 2;
  }
  try {
    std::puts(row_of(argv[1], std::atoi(argv[2])).dump().c_str());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
