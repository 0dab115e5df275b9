// The last error of each thread, and the one function that turns exceptions into statuses before they reach
// C.
#include <new>

#include "palmette/capi/handle.hpp"

namespace palmette::capi {
namespace {

struct LastError {
  std::string message;
  std::int64_t row = -1;
  std::int64_t column = -1;
};
thread_local LastError last_error;

palmette_status fail(palmette_status status, const char* message) noexcept {
  try {
    last_error.message = message;
  } catch (...) {
    last_error.message.clear();  // no memory even for the message: the status must suffice
  }
  last_error.row = last_error.column = -1;
  return status;
}

}  // namespace

palmette_status record(const NumericalFailure& failure) {
  last_error = {failure.message, failure.row, failure.column};
  return PALMETTE_NUMERICAL;
}

palmette_status record_unverified(const std::string& message) {
  NumericalFailure unverified;
  unverified.message = message;
  record(unverified);
  return PALMETTE_NOT_VERIFIED;
}

void clear_last_error() noexcept {
  last_error.message.clear();
  last_error.row = last_error.column = -1;
}

palmette_status record_exception() noexcept {
  try {
    throw;
  } catch (const IoError& error) {
    return fail(PALMETTE_IO, error.what());
  } catch (const MemoryError& error) {
    return fail(PALMETTE_MEMORY, error.what());
  } catch (const UsageError& error) {
    return fail(PALMETTE_USAGE, error.what());
  } catch (const NumericalError& error) {
    return fail(PALMETTE_NUMERICAL, error.what());
  } catch (const DeviceError& error) {
    return fail(PALMETTE_DEVICE_ERROR, error.what());
  } catch (const BrokenRun& error) {
    return fail(PALMETTE_BROKEN_RUN, error.what());
  } catch (const std::bad_alloc&) {
    return fail(PALMETTE_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    return fail(PALMETTE_MEMORY, "an array would exceed the memory of this machine");
  } catch (const std::exception& error) {
    return fail(PALMETTE_INTERNAL, error.what());
  } catch (...) {
    return fail(PALMETTE_INTERNAL, "unknown failure");
  }
}

}  // namespace palmette::capi

const char* palmette_last_error(void) { return palmette::capi::last_error.message.c_str(); }

void palmette_last_error_place(int64_t* row, int64_t* column) {
  if (row != nullptr) *row = palmette::capi::last_error.row;
  if (column != nullptr) *column = palmette::capi::last_error.column;
}
