// A whole direct solver: cuDSS 1, with its own ordering and factors.
#include "bench/device/rivals.hpp"
#include "bench/device/vendor_library.hpp"

namespace palmette::benchmarks {
namespace {

// Numbers of the library's enumerations.
constexpr int phase_analysis = 1 | 2, phase_factorization = 4, phase_solve = 0x3f0;
constexpr int type_general = 0, type_symmetric = 1, type_spd = 3;
constexpr int view_full = 0, view_upper = 2, rows_from_zero = 0, by_columns = 0;

/// Of a symmetric matrix its upper triangle by rows, which is the lower one by columns; else all rows.
SparseMatrix<double> rows_for(const SparseMatrix<double>& matrix, FactorKind kind) {
  if (kind == FactorKind::lu) return transpose(matrix);
  SparseMatrix<double> half;
  half.pattern.rows = matrix.rows();
  half.pattern.cols = matrix.cols();
  half.pattern.column_ptr = {0};
  for (index_t column = 0; column < matrix.cols(); ++column) {
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      if (matrix.pattern.row_index[entry] < column) continue;
      half.pattern.row_index.push_back(matrix.pattern.row_index[entry]);
      half.values.push_back(matrix.values[entry]);
    }
    half.pattern.column_ptr.push_back(static_cast<offset_t>(half.values.size()));
  }
  return half;
}

class Cudss final : public Rival {
 public:
  Cudss(const RivalNeeds& needs, const SparseMatrix<double>& rows, FactorKind kind)
      : Rival(needs.device, rows.cols(), needs.num_rhs), library_("cuDSS", needs.folder, {"libcudss.so.1"}) {
    library_.call<void**>("cudssCreate", handle_.place());
    library_.call<void**>("cudssConfigCreate", config_.place());
    library_.call<void*, void**>("cudssDataCreate", handle_.get(), &data_);
    try {
      create_matrices(rows, kind);
      execute(phase_analysis);
      execute(phase_factorization);
    } catch (...) {
      release_data();
      throw;
    }
  }
  ~Cudss() override { release_data(); }

  void sweep() override { execute(phase_solve); }

 private:
  void create_matrices(const SparseMatrix<double>& rows, FactorKind kind) {
    if (rows.nnz() > std::numeric_limits<int>::max())
      throw VendorError("cuDSS: the matrix has more entries than 32-bit offsets can count");
    const std::vector<int> row_ptr(rows.pattern.column_ptr.begin(), rows.pattern.column_ptr.end());
    rows_.row_ptr = DeviceArray<int>(device_, row_ptr);
    rows_.column = DeviceArray<int>(device_, rows.pattern.row_index);
    rows_.value = DeviceArray<double>(device_, rows.values);
    const int type = kind == FactorKind::llt    ? type_spd
                     : kind == FactorKind::ldlt ? type_symmetric
                                                : type_general;
    library_.call<void**, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, const void*,
                  const void*, int, int, int, int, int, int>(
        "cudssMatrixCreateCsr", matrix_.place(), n_, n_, rows.nnz(), rows_.row_ptr.data(), nullptr,
        rows_.column.data(), rows_.value.data(), cuda_int32, cuda_int32, cuda_double, type,
        kind == FactorKind::lu ? view_full : view_upper, rows_from_zero);
    create_dense(x_view_, x_.data());
    create_dense(b_view_, b_.data());
  }
  void create_dense(VendorObject& view, double* values) {
    library_.call<void**, std::int64_t, std::int64_t, std::int64_t, const void*, int, int>(
        "cudssMatrixCreateDn", view.place(), n_, num_rhs_, n_, values, cuda_double, by_columns);
  }
  void execute(int phase) {
    library_.call<void*, int, void*, void*, void*, void*, void*>("cudssExecute", handle_.get(), phase,
                                                                 config_.get(), data_, matrix_.get(),
                                                                 x_view_.get(), b_view_.get());
  }
  /// It alone is destroyed with the handle as an argument.
  void release_data() noexcept {
    try {
      if (data_ != nullptr) library_.call<void*, void*>("cudssDataDestroy", handle_.get(), data_);
    } catch (const VendorError&) {
    }
    data_ = nullptr;
  }

  VendorLibrary library_;
  VendorObject handle_{library_, "cudssDestroy"};
  VendorObject config_{library_, "cudssConfigDestroy"};
  void* data_ = nullptr;
  DeviceRows rows_;
  VendorObject matrix_{library_, "cudssMatrixDestroy"}, x_view_{library_, "cudssMatrixDestroy"},
      b_view_{library_, "cudssMatrixDestroy"};
};

}  // namespace

std::unique_ptr<Rival> make_cudss(const SparseMatrix<double>& matrix, FactorKind kind,
                                  const RivalNeeds& needs) {
  return std::make_unique<Cudss>(needs, rows_for(matrix, kind), kind);
}

}  // namespace palmette::benchmarks
