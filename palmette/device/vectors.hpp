// What the kernels of vector_kernels.cuh are given: vectors on their way into a solve and out of it, the
// residual of a system, and the corrections of refinement, all in device memory.
#pragma once

namespace palmette::device {

/// Columns of a caller, and rows of right-hand sides as sweeps want them: row k of `rows` is row place[k] of
/// the columns, times scale[place[k]].
template <class T>
struct VectorMove {
  T* columns;
  long long ld;
  T* rows;               ///< n × stride; right-hand sides beyond num_rhs are zero
  int n;
  int num_rhs;
  int stride;
  const int* place;      ///< null: the identity
  const double* scale;   ///< n, by rows of the columns; null: ones
  bool conjugated;
};

/// Columns in working precision, and columns in single precision: low = high · scale[row] / size[column], or
/// high = low · scale[row] · size[column].
template <class T>
struct PrecisionChange {
  T* high;
  long long ld;
  void* low;             ///< n × num_columns of the scalar in single precision
  int n;
  int num_columns;
  const double* scale;   ///< n
  const double* size;    ///< num_columns
};

/// Maxima of |value·factor|, or of (|re| + |im|)·scale[row]; infinity where a value is not finite. Each part
/// takes every num_parts-th run of 32 rows, so the number of blocks has no influence on what lies where.
template <class T>
struct ColumnMaxima {
  const T* columns;
  long long ld;
  int n;
  int num_columns;
  bool cheap;            ///< of |re| + |im|
  double factor;         ///< unless cheap
  const double* scale;   ///< n, if cheap; null: ones
  int num_parts;
  double* partial;       ///< num_columns × num_parts
};

/// result[k] ← the largest of partial[k·num_parts …].
template <class R>
struct LargestOfParts {
  const R* partial;
  int num_parts;
  int count;
  R* result;
};

/// Rows of op(A) in slices of 32, so that the lanes of a warp, a row for each, load neighbours together. Rows
/// are sorted by their length; the entries of a row keep their order.
template <class T>
struct SlicedRows {
  int num_rows;
  const long long* begin;   ///< by slice: its first entry
  const int* row;           ///< num_rows: which row lies in a place
  const int* length;        ///< num_rows: of the row in a place
  const int* column;        ///< entry e of a lane lies at begin + 32·e + lane
  const T* value;
};

/// residual ← b − op(A)·x in twice the working precision, and figures of its rows.
template <class T>
struct ResidualCall {
  SlicedRows<T> a;
  const T* b;
  long long ldb;
  const int* b_column;   ///< num_columns; null: the identity
  const T* x;
  long long ldx;
  int num_columns;
  bool conjugated;
  void* residual;        ///< num_rows × num_columns, in double precision
  double forgiven;       ///< an absolute error that is not counted in rows whose magnitude is suspicious
  double suspicious;
  int num_parts;
  /// num_columns × num_parts: the largest |residual|; then as many: the largest |residual| over |op(A)||x| +
  /// |b|
  double* partial;
};

/// to ← residual[:, column[k]] · first[k] · second[k]
template <class T>
struct ScaledResidual {
  const void* residual;  ///< n rows, in double precision
  T* to;                 ///< n × count
  int n;
  int count;
  const int* column;
  const double* first;
  const double* second;
};

/// candidate[:, k] ← x[:, column[k]] + correction[:, k] · first[k] · second[k]
template <class T>
struct CorrectionCall {
  const T* x;
  long long ldx;
  const T* correction;   ///< n × count
  T* candidate;          ///< n × count
  int n;
  int count;
  const int* column;
  const double* first;
  const double* second;
};

/// to[:, to_column[k]] ← from[:, from_column[k]]
template <class T>
struct ColumnCopy {
  T* to;
  long long ld;
  const T* from;         ///< n rows
  int n;
  int count;
  const int* to_column;
  const int* from_column;
};

}  // namespace palmette::device
