// Loading a library, and reporting what it returns.
#include "bench/device/vendor_library.hpp"

#include <dlfcn.h>

namespace palmette::benchmarks {

VendorLibrary::VendorLibrary(std::string title, const std::string& folder,
                             const std::vector<std::string>& names)
    : title_(std::move(title)) {
  std::string reason;
  for (const std::string& name : names) {
    const std::string path = folder.empty() ? name : folder + "/" + name;
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      handle_ = std::shared_ptr<void>(handle, dlclose);
      return;
    }
    const char* const said = dlerror();
    if (reason.empty()) reason = said != nullptr ? said : "no reason given";
  }
  throw VendorError(title_ + " was not loaded: " + reason);
}

void* VendorLibrary::function(const char* name) const {
  void* const found = dlsym(handle_.get(), name);
  if (found == nullptr) throw VendorError(title_ + " has no function " + name);
  return found;
}

void VendorLibrary::check(const char* name, int status) const {
  if (status != 0) throw VendorError(title_ + ": " + name + " returned " + std::to_string(status));
}

void VendorLibrary::destroy(const char* name, void* object) const noexcept {
  if (void* const found = dlsym(handle_.get(), name))
    (void)reinterpret_cast<int (*)(void*)>(found)(object);
}

}  // namespace palmette::benchmarks
