// Stands in for libcusparse.so.12 in a test: the functions that the benchmark calls, on memory that the host
// can read. It holds callers to the order of calls: attributes, analysis with a buffer, solve.
#include <cstddef>
#include <cstdint>

namespace {

constexpr int success = 0, invalid_value = 3, not_supported = 10;
constexpr std::size_t buffer_bytes = 64;

struct Matrix {
  std::int64_t n, nnz;
  const int *row_ptr, *column;
  const double* value;
  int fill = -1, diagonal = -1;
};
struct Dense {
  std::int64_t n, num_rhs;
  double* values;
};
struct Analysis {
  const Matrix* of = nullptr;
  void* buffer = nullptr;
};

void substitute(const Matrix& a, const double* b, double* x) {
  const bool lower = a.fill == 0;
  for (std::int64_t turn = 0; turn < a.n; ++turn) {
    const std::int64_t row = lower ? turn : a.n - 1 - turn;
    double sum = b[row], diagonal = 0;
    for (int entry = a.row_ptr[row]; entry < a.row_ptr[row + 1]; ++entry) {
      const int column = a.column[entry];
      if (column == row) diagonal = a.value[entry];
      else if ((column < row) == lower) sum -= a.value[entry] * x[column];
    }
    x[row] = sum / diagonal;
  }
}

int analyze(const Matrix* matrix, Analysis* analysis, void* buffer) {
  if (matrix->fill < 0 || matrix->diagonal != 0 || buffer == nullptr) return invalid_value;
  analysis->of = matrix;
  analysis->buffer = buffer;
  return success;
}

int solve(const Matrix* matrix, const Dense* b, const Dense* x, const Analysis* analysis) {
  if (analysis->of != matrix || analysis->buffer == nullptr) return invalid_value;
  for (std::int64_t rhs = 0; rhs < b->num_rhs; ++rhs)
    substitute(*matrix, b->values + rhs * b->n, x->values + rhs * x->n);
  return success;
}

bool is_plain(int operation, const void* alpha, int type, int algorithm) {
  return operation == 0 && *static_cast<const double*>(alpha) == 1 && type == 1 && algorithm == 0;
}

}  // namespace

extern "C" {

int cusparseCreate(void** handle) {
  *handle = new int(1);
  return success;
}
int cusparseDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return success;
}
int cusparseCreateCsr(void** matrix, std::int64_t rows, std::int64_t columns, std::int64_t nnz, void* row_ptr,
                      void* column, void* value, int offset_type, int index_type, int base, int type) {
  if (rows != columns || offset_type != 2 || index_type != 2 || base != 0 || type != 1) return not_supported;
  *matrix = new Matrix{rows, nnz, static_cast<int*>(row_ptr), static_cast<int*>(column),
                       static_cast<double*>(value)};
  return success;
}
int cusparseDestroySpMat(void* matrix) {
  delete static_cast<Matrix*>(matrix);
  return success;
}
int cusparseSpMatSetAttribute(void* matrix, int attribute, const void* data, std::size_t size) {
  if (size != sizeof(int)) return invalid_value;
  (attribute == 0 ? static_cast<Matrix*>(matrix)->fill : static_cast<Matrix*>(matrix)->diagonal) =
      *static_cast<const int*>(data);
  return success;
}
int cusparseCreateDnVec(void** vector, std::int64_t size, void* values, int type) {
  *vector = new Dense{size, 1, static_cast<double*>(values)};
  return type == 1 ? success : not_supported;
}
int cusparseDestroyDnVec(void* vector) {
  delete static_cast<Dense*>(vector);
  return success;
}
int cusparseCreateDnMat(void** matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                        void* values, int type, int order) {
  *matrix = new Dense{rows, columns, static_cast<double*>(values)};
  return type == 1 && order == 1 && stride == rows ? success : not_supported;
}
int cusparseDestroyDnMat(void* matrix) { return cusparseDestroyDnVec(matrix); }

int cusparseSpSV_createDescr(void** analysis) {
  *analysis = new Analysis;
  return success;
}
int cusparseSpSV_destroyDescr(void* analysis) {
  delete static_cast<Analysis*>(analysis);
  return success;
}
int cusparseSpSV_bufferSize(void*, int, const void*, void*, void*, void*, int, int, void*,
                            std::size_t* bytes) {
  *bytes = buffer_bytes;
  return success;
}
int cusparseSpSV_analysis(void*, int operation, const void* alpha, void* matrix, void*, void*, int type,
                          int algorithm, void* analysis, void* buffer) {
  if (!is_plain(operation, alpha, type, algorithm)) return not_supported;
  return analyze(static_cast<Matrix*>(matrix), static_cast<Analysis*>(analysis), buffer);
}
int cusparseSpSV_solve(void*, int operation, const void* alpha, void* matrix, void* b, void* x, int type,
                       int algorithm, void* analysis) {
  if (!is_plain(operation, alpha, type, algorithm)) return not_supported;
  return solve(static_cast<Matrix*>(matrix), static_cast<Dense*>(b), static_cast<Dense*>(x),
               static_cast<Analysis*>(analysis));
}

int cusparseSpSM_createDescr(void** analysis) { return cusparseSpSV_createDescr(analysis); }
int cusparseSpSM_destroyDescr(void* analysis) { return cusparseSpSV_destroyDescr(analysis); }
int cusparseSpSM_bufferSize(void*, int, int, const void*, void*, void*, void*, int, int, void*,
                            std::size_t* bytes) {
  *bytes = buffer_bytes;
  return success;
}
int cusparseSpSM_analysis(void*, int operation, int of_rhs, const void* alpha, void* matrix, void*, void*,
                          int type, int algorithm, void* analysis, void* buffer) {
  if (!is_plain(operation, alpha, type, algorithm) || of_rhs != 0) return not_supported;
  return analyze(static_cast<Matrix*>(matrix), static_cast<Analysis*>(analysis), buffer);
}
int cusparseSpSM_solve(void*, int operation, int of_rhs, const void* alpha, void* matrix, void* b, void* x,
                       int type, int algorithm, void* analysis) {
  if (!is_plain(operation, alpha, type, algorithm) || of_rhs != 0) return not_supported;
  return solve(static_cast<Matrix*>(matrix), static_cast<Dense*>(b), static_cast<Dense*>(x),
               static_cast<Analysis*>(analysis));
}

}  // extern "C"
