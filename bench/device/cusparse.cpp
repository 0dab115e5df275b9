// Triangular solves by the generic interface of cuSPARSE 11.3 and later.
#include "bench/device/rivals.hpp"
#include "bench/device/vendor_library.hpp"

namespace palmette::benchmarks {
namespace {

// Numbers of the library's enumerations.
enum Fill : int { fill_lower = 0, fill_upper = 1 };
constexpr int attribute_fill = 0, attribute_diagonal = 1, diagonal_not_unit = 0;
constexpr int index_32 = 2, base_zero = 0, order_by_columns = 1, as_it_is = 0, default_algorithm = 0;
const double one = 1;

struct Handle {
  explicit Handle(const std::string& folder)
      : library("cuSPARSE", folder, {"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"}) {
    library.call<void**>("cusparseCreate", object.place());
  }
  VendorLibrary library;
  VendorObject object{library, "cusparseDestroy"};
};

/// n × k, column-major, as the matrix or the vector that the library wants.
struct Dense {
  Dense(const VendorLibrary& library, index_t n, index_t num_rhs, double* values)
      : object(library, num_rhs == 1 ? "cusparseDestroyDnVec" : "cusparseDestroyDnMat") {
    if (num_rhs == 1)
      library.call<void**, std::int64_t, void*, int>("cusparseCreateDnVec", object.place(), n, values,
                                                     cuda_double);
    else
      library.call<void**, std::int64_t, std::int64_t, std::int64_t, void*, int, int>(
          "cusparseCreateDnMat", object.place(), n, num_rhs, n, values, cuda_double, order_by_columns);
  }
  VendorObject object;
};

/// What one sweep reads and writes.
struct Ends {
  const Dense& from;
  const Dense& to;
};

/// A triangle by rows, analyzed for one sweep.
class Triangle {
 public:
  /// @param columns  of the transposed triangle: the rows of the triangle
  Triangle(const Handle& handle, const RivalNeeds& needs, const SparseMatrix<double>& columns, Fill fill)
      : handle_(handle),
        has_one_(needs.num_rhs == 1),
        matrix_(handle.library, "cusparseDestroySpMat"),
        analysis_(handle.library, has_one_ ? "cusparseSpSV_destroyDescr" : "cusparseSpSM_destroyDescr") {
    upload(needs, columns);
    const VendorLibrary& library = handle.library;
    library.call<void**, std::int64_t, std::int64_t, std::int64_t, void*, void*, void*, int, int, int, int>(
        "cusparseCreateCsr", matrix_.place(), rows_.n, rows_.n, rows_.nnz, rows_.row_ptr.data(),
        rows_.column.data(), rows_.value.data(), index_32, index_32, base_zero, cuda_double);
    set_attribute(attribute_fill, fill);
    set_attribute(attribute_diagonal, diagonal_not_unit);
    library.call<void**>(has_one_ ? "cusparseSpSV_createDescr" : "cusparseSpSM_createDescr",
                         analysis_.place());
  }

  void analyze(const std::shared_ptr<Device>& device, const Ends& ends) {
    std::size_t bytes = 0;
    call_with<std::size_t*>("bufferSize", ends, &bytes);
    buffer_ = DeviceArray<unsigned char>(device, bytes);
    call_with<void*>("analysis", ends, buffer_.data());
  }
  void solve(const Ends& ends) const { call_with<>("solve", ends); }

 private:
  void upload(const RivalNeeds& needs, const SparseMatrix<double>& columns) {
    if (columns.nnz() > std::numeric_limits<int>::max())
      throw VendorError("cuSPARSE: the factor has more entries than 32-bit offsets can count");
    rows_.n = columns.cols();
    rows_.nnz = columns.nnz();
    const std::vector<int> row_ptr(columns.pattern.column_ptr.begin(), columns.pattern.column_ptr.end());
    rows_.row_ptr = DeviceArray<int>(needs.device, row_ptr);
    rows_.column = DeviceArray<int>(needs.device, columns.pattern.row_index);
    rows_.value = DeviceArray<double>(needs.device, columns.values);
  }
  void set_attribute(int attribute, int value) {
    handle_.library.call<void*, int, void*, std::size_t>("cusparseSpMatSetAttribute", matrix_.get(),
                                                         attribute, &value, sizeof value);
  }
  /// SpSM has an operation for the right-hand sides too.
  template <class... More>
  void call_with(const std::string& step, const Ends& ends, More... more) const {
    void *const handle = handle_.object.get(), *const from = ends.from.object.get(),
                *const to = ends.to.object.get();
    const VendorLibrary& library = handle_.library;
    if (has_one_)
      library.call<void*, int, const void*, void*, void*, void*, int, int, void*, More...>(
          ("cusparseSpSV_" + step).c_str(), handle, as_it_is, &one, matrix_.get(), from, to, cuda_double,
          default_algorithm, analysis_.get(), more...);
    else
      library.call<void*, int, int, const void*, void*, void*, void*, int, int, void*, More...>(
          ("cusparseSpSM_" + step).c_str(), handle, as_it_is, as_it_is, &one, matrix_.get(), from, to,
          cuda_double, default_algorithm, analysis_.get(), more...);
  }

  const Handle& handle_;
  bool has_one_;
  DeviceRows rows_;
  VendorObject matrix_, analysis_;
  DeviceArray<unsigned char> buffer_;
};

class Cusparse final : public Rival {
 public:
  /// @param lower, upper  the rows of both triangles, as columns of the transposed
  Cusparse(const RivalNeeds& needs, const FactorOrder& order, const SparseMatrix<double>& lower,
           const SparseMatrix<double>& upper)
      : Rival(needs.device, lower.cols(), needs.num_rhs),
        handle_(needs.folder),
        between_(needs.device, b_.size()),
        b_view_(handle_.library, n_, num_rhs_, b_.data()),
        between_view_(handle_.library, n_, num_rhs_, between_.data()),
        x_view_(handle_.library, n_, num_rhs_, x_.data()),
        lower_(handle_, needs, lower, fill_lower),
        upper_(handle_, needs, upper, fill_upper) {
    row_ = order.row;
    column_ = order.column;
    lower_.analyze(device_, {b_view_, between_view_});
    upper_.analyze(device_, {between_view_, x_view_});
  }

  void sweep() override {
    lower_.solve({b_view_, between_view_});
    upper_.solve({between_view_, x_view_});
  }

 private:
  Handle handle_;
  DeviceArray<double> between_;
  Dense b_view_, between_view_, x_view_;
  Triangle lower_, upper_;
};

}  // namespace

std::unique_ptr<Rival> make_cusparse(const Factor<double>& factor, const RivalNeeds& needs) {
  if (factor.kind == FactorKind::ldlt)
    throw VendorError("cuSPARSE solves with triangles; it has nothing for the D of LDL^T");
  const FactorOrder order = order_of(factor);
  if (factor.kind == FactorKind::llt) {
    const SparseMatrix<double> lower = extract_ldl(factor).lower;
    return std::make_unique<Cusparse>(needs, order, transpose(lower), lower);
  }
  const ExtractedLu<double> factors = extract_lu(factor);
  return std::make_unique<Cusparse>(needs, order, transpose(factors.lower), transpose(factors.upper));
}

}  // namespace palmette::benchmarks
