// Stands in for libcudss.so.1 in a test: the functions that the benchmark calls, on memory that the host can
// read, by dense elimination. It holds callers to the order of phases.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

constexpr int success = 0, invalid_value = 3, not_supported = 4;

struct Matrix {
  std::int64_t n = 0, num_rhs = 0;  ///< the latter of dense ones
  const int* row_ptr = nullptr;
  const int* column = nullptr;
  double* value = nullptr;
  bool is_half = false;
};
struct Data {
  int done = 0;               ///< phases
  std::vector<double> dense;  ///< row-major
};

void expand(const Matrix& a, std::vector<double>& dense) {
  dense.assign(static_cast<std::size_t>(a.n * a.n), 0);
  for (std::int64_t row = 0; row < a.n; ++row)
    for (int entry = a.row_ptr[row]; entry < a.row_ptr[row + 1]; ++entry) {
      dense[row * a.n + a.column[entry]] = a.value[entry];
      if (a.is_half) dense[a.column[entry] * a.n + row] = a.value[entry];
    }
}

/// With partial pivoting.
void eliminate(std::vector<double> a, std::int64_t n, const double* b, double* x) {
  std::vector<double> t(b, b + n);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t row = k; row < n; ++row)
      if (std::abs(a[row * n + k]) > std::abs(a[pivot * n + k])) pivot = row;
    for (std::int64_t column = 0; column < n; ++column) std::swap(a[k * n + column], a[pivot * n + column]);
    std::swap(t[k], t[pivot]);
    for (std::int64_t row = k + 1; row < n; ++row) {
      const double factor = a[row * n + k] / a[k * n + k];
      for (std::int64_t column = k; column < n; ++column) a[row * n + column] -= factor * a[k * n + column];
      t[row] -= factor * t[k];
    }
  }
  for (std::int64_t row = n; row-- > 0;) {
    x[row] = t[row];
    for (std::int64_t column = row + 1; column < n; ++column) x[row] -= a[row * n + column] * x[column];
    x[row] /= a[row * n + row];
  }
}

}  // namespace

extern "C" {

int cudssCreate(void** handle) {
  *handle = new int(1);
  return success;
}
int cudssDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return success;
}
int cudssConfigCreate(void** config) { return cudssCreate(config); }
int cudssConfigDestroy(void* config) { return cudssDestroy(config); }
int cudssDataCreate(void* handle, void** data) {
  *data = new Data;
  return handle != nullptr ? success : invalid_value;
}
int cudssDataDestroy(void*, void* data) {
  delete static_cast<Data*>(data);
  return success;
}
int cudssMatrixCreateCsr(void** matrix, std::int64_t rows, std::int64_t columns, std::int64_t,
                         const void* row_ptr, const void* row_end, const void* column, const void* value,
                         int offset_type, int index_type, int type, int kind, int view, int base) {
  const bool is_half = view == 2;
  if (rows != columns || row_end != nullptr || offset_type != 10 || index_type != 10 || type != 1 ||
      base != 0 || is_half != (kind == 1 || kind == 3))
    return not_supported;
  *matrix = new Matrix{rows, 0, static_cast<const int*>(row_ptr), static_cast<const int*>(column),
                       static_cast<double*>(const_cast<void*>(value)), is_half};
  return success;
}
int cudssMatrixCreateDn(void** matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                        const void* values, int type, int layout) {
  *matrix = new Matrix{rows, columns, nullptr, nullptr, static_cast<double*>(const_cast<void*>(values))};
  return type == 1 && layout == 0 && stride == rows ? success : not_supported;
}
int cudssMatrixDestroy(void* matrix) {
  delete static_cast<Matrix*>(matrix);
  return success;
}
int cudssExecute(void*, int phase, void* config, void* data, void* matrix, void* solution, void* rhs) {
  if (config == nullptr) return invalid_value;
  auto& all = *static_cast<Data*>(data);
  const auto& a = *static_cast<const Matrix*>(matrix);
  constexpr int analysis = 3, factorization = 4, solve = 0x3f0;
  if (phase == factorization && (all.done & analysis) != analysis) return invalid_value;
  if (phase == solve && (all.done & factorization) == 0) return invalid_value;
  if (phase != analysis && phase != factorization && phase != solve) return not_supported;
  all.done |= phase;
  if (phase == factorization) expand(a, all.dense);
  const auto &b = *static_cast<const Matrix*>(rhs), &x = *static_cast<const Matrix*>(solution);
  if (phase == solve)
    for (std::int64_t k = 0; k < b.num_rhs; ++k)
      eliminate(all.dense, a.n, b.value + k * a.n, x.value + k * a.n);
  return success;
}

}  // extern "C"
