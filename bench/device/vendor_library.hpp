// A vendor's library, loaded at run time: what it declares is declared here again, from its documentation, so
// that nothing of it is needed to build.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "palmette/device/device.hpp"

namespace palmette::benchmarks {

/// A library that is not there, or one of its calls that failed; what it says is one line.
class VendorError : public DeviceError {
  using DeviceError::DeviceError;
};

class VendorLibrary {
 public:
  /// @param folder  where it lies; empty: where the system looks for libraries
  /// @param names   tried one after the other
  /// @throws VendorError that gives the reason for the first name
  VendorLibrary(std::string title, const std::string& folder, const std::vector<std::string>& names);

  /// Calls a function of the library that returns a status, by its name. Types of the arguments must be those
  /// of the function: nothing checks them.
  /// @throws VendorError if the status is not zero, or there is no such function
  template <class... Arguments>
  void call(const char* name, std::type_identity_t<Arguments>... arguments) const {
    using Function = int (*)(Arguments...);
    check(name, reinterpret_cast<Function>(function(name))(arguments...));
  }
  /// The same for a destructor, which has nobody to tell.
  void destroy(const char* name, void* object) const noexcept;

 private:
  void* function(const char* name) const;
  void check(const char* name, int status) const;

  std::string title_;
  std::shared_ptr<void> handle_;
};

/// An opaque object of a library with the function that destroys it.
class VendorObject {
 public:
  VendorObject(const VendorLibrary& library, const char* destroyer)
      : library_(&library), destroyer_(destroyer) {}
  VendorObject(const VendorObject&) = delete;
  VendorObject& operator=(const VendorObject&) = delete;
  ~VendorObject() {
    if (object_ != nullptr) library_->destroy(destroyer_, object_);
  }
  void* get() const { return object_; }
  /// For the function that creates it.
  void** place() { return &object_; }

 private:
  const VendorLibrary* library_;
  const char* destroyer_;
  void* object_ = nullptr;
};

/// Numbers of CUDA's data types.
enum CudaType : int { cuda_double = 1, cuda_int32 = 10 };

/// Compressed rows in device memory, with 32-bit offsets.
struct DeviceRows {
  index_t n = 0;
  offset_t nnz = 0;
  DeviceArray<int> row_ptr, column;
  DeviceArray<double> value;
};

}  // namespace palmette::benchmarks
