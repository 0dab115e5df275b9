// cuBLAS and cuSOLVER, loaded by name: no header and no library of theirs is needed to build. A test compares
// the declarations of their calls with their headers, where these are installed.
#include "palmette/device/dense_cuda.hpp"

#include <dlfcn.h>

#include "palmette/device/dense_cuda_calls.hpp"

namespace palmette::device {
namespace {

/// A library that stays loaded to the end of the process.
class Library {
 public:
  Library(const char* what, std::initializer_list<const char*> names) {
    for (const char* const name : names) {
      loaded_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (loaded_ != nullptr) return;
    }
    const char* const why = dlerror();
    reason_ = std::string(what) + " cannot be loaded: " + (why != nullptr ? why : "no such library");
  }
  const std::string& reason() const { return reason_; }
  template <class Function>
  void find(Function*& function, const std::string& name) {
    if (loaded_ == nullptr) return;
    function = reinterpret_cast<Function*>(dlsym(loaded_, name.c_str()));
    if (function == nullptr && reason_.empty()) reason_ = "its library lacks the function " + name;
  }

 private:
  void* loaded_ = nullptr;
  std::string reason_;
};

Library& blas_library() {
  static Library library("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  return library;
}
Library& solver_library() {
  static Library library("cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"});
  return library;
}

template <class T>
constexpr const char* letter() {
  if constexpr (is_complex_v<T>) return sizeof(T) == 8 ? "C" : "Z";
  else return sizeof(T) == 4 ? "S" : "D";
}

/// The functions for one scalar type; reason is empty if all were found.
template <class T>
struct Functions {
  cuda_calls::Create* create = nullptr;
  cuda_calls::Destroy* destroy = nullptr;
  cuda_calls::Gemm<T>* gemm = nullptr;
  cuda_calls::RankUpdate<T>* rank_update = nullptr;
  cuda_calls::Trsm<T>* trsm = nullptr;
  cuda_calls::Create* create_solver = nullptr;
  cuda_calls::Destroy* destroy_solver = nullptr;
  cuda_calls::PotrfBuffer<T>* potrf_buffer = nullptr;
  cuda_calls::Potrf<T>* potrf = nullptr;

  Functions() {
    const std::string blas = std::string("cublas") + letter<T>();
    const std::string solver = std::string("cusolverDn") + letter<T>();
    blas_library().find(create, "cublasCreate_v2");
    blas_library().find(destroy, "cublasDestroy_v2");
    blas_library().find(gemm, blas + "gemm_v2");
    blas_library().find(rank_update, blas + (is_complex_v<T> ? "herk_v2" : "syrk_v2"));
    blas_library().find(trsm, blas + "trsm_v2");
    solver_library().find(create_solver, "cusolverDnCreate");
    solver_library().find(destroy_solver, "cusolverDnDestroy");
    solver_library().find(potrf_buffer, solver + "potrf_bufferSize");
    solver_library().find(potrf, solver + "potrf");
  }
};

std::string why_not() {
  const std::string& blas = blas_library().reason();
  return blas.empty() ? solver_library().reason() : blas;
}

/// Both libraries number "out of memory" differently; 0 is success in both.
void check(int status, int out_of_memory, const char* what) {
  if (status == 0) return;
  if (status == out_of_memory)
    throw MemoryError(std::string(what) + ": the device has no memory for the library's workspace");
  throw DeviceError(std::string(what) + " failed with status " + std::to_string(status));
}
void check_blas(int status, const char* what) { check(status, cuda_calls::blas_out_of_memory, what); }
void check_solver(int status, const char* what) {
  check(status, cuda_calls::solver_out_of_memory, what);
}

template <class T>
int leading(DenseView<T> view) {
  return static_cast<int>(std::max<offset_t>({1, view.rows, view.ld}));
}

/// Everything goes to the default stream, as the device's copies do.
template <class T>
class CudaOperations final : public DenseLibrary<T> {
 public:
  explicit CudaOperations(std::shared_ptr<Device> device) : device_(std::move(device)), info_(device_, 1) {
    info_.clear();  // makes the device the calling thread's
    check_blas(call_.create(&blas_), "cublasCreate");
    check_solver(call_.create_solver(&solver_), "cusolverDnCreate");
  }
  ~CudaOperations() override {
    if (solver_ != nullptr) (void)call_.destroy_solver(solver_);
    if (blas_ != nullptr) (void)call_.destroy(blas_);
  }

  index_t factor_llt(DenseView<T> a) override {
    int entries = 0;
    check_solver(call_.potrf_buffer(solver_, cuda_calls::lower, a.cols, a.data, leading(a), &entries),
                 "cusolverDn potrf_bufferSize");
    if (workspace_.size() < static_cast<std::size_t>(entries)) {
      workspace_ = {};
      workspace_ = DeviceArray<T>(device_, static_cast<std::size_t>(entries));
    }
    check_solver(call_.potrf(solver_, cuda_calls::lower, a.cols, a.data, leading(a), workspace_.data(),
                             entries, info_.data()),
                 "cusolverDn potrf");
    int info = 0;
    device_->copy_out(&info, info_.data(), sizeof(info));
    if (info < 0) throw DeviceError("cusolverDn potrf refuses its argument " + std::to_string(-info));
    return info - 1;
  }

  void divide_rows(const DeviceDivision<T>& division, RowCuts) override {
    const RowTriangle& how = division.how;
    const int op = !how.transposed ? cuda_calls::plain : how.adjoint ? cuda_calls::adjoint
                                                                     : cuda_calls::transposed;
    const T one = 1;
    check_blas(call_.trsm(blas_, cuda_calls::right, how.upper ? cuda_calls::upper : cuda_calls::lower, op,
                          how.unit_diagonal ? cuda_calls::unit : cuda_calls::stored, division.x.rows,
                          division.x.cols, &one, division.a.data, leading(division.a), division.x.data,
                          leading(division.x)),
               "cublas trsm");
  }

  void multiply_rows(const DeviceProduct<T>& product, RowCuts) override {
    const auto& [adjoint, a, b, c, starts_symmetric] = product;
    const index_t above = starts_symmetric ? c.cols : 0, k = a.cols;
    if (above > 0) {
      const real_t<T> one = 1, zero = 0;
      check_blas(call_.rank_update(blas_, cuda_calls::lower, cuda_calls::plain, above, k, &one, a.data,
                                   leading(a), &zero, c.data, leading(c)),
                 "cublas syrk or herk");
    }
    if (c.rows <= above) return;
    const T one = 1, zero = 0;
    check_blas(call_.gemm(blas_, cuda_calls::plain, adjoint ? cuda_calls::adjoint : cuda_calls::transposed,
                          c.rows - above, c.cols, k, &one, a.data + above, leading(a), b.data, leading(b),
                          &zero, c.data + above, leading(c)),
               "cublas gemm");
  }

 private:
  std::shared_ptr<Device> device_;
  Functions<T> call_;
  void* blas_ = nullptr;
  void* solver_ = nullptr;
  DeviceArray<int> info_;
  DeviceArray<T> workspace_;
};

}  // namespace

std::string why_no_dense_cuda() {
  const Functions<double> functions;
  return why_not();
}

template <class T>
std::unique_ptr<DenseLibrary<T>> make_dense_cuda(std::shared_ptr<Device> device) {
  const Functions<T> functions;
  if (const std::string reason = why_not(); !reason.empty())
    throw DeviceError("no dense operations on the device " + device->info().address() + ": " + reason);
  return std::make_unique<CudaOperations<T>>(std::move(device));
}

#define PALMETTE_INSTANTIATE(T) \
  template std::unique_ptr<DenseLibrary<T>> make_dense_cuda<T>(std::shared_ptr<Device>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::device
