// One call of PARDISO: its arguments, with integers of either size, and the codes that it returns.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>

namespace palmette::pardiso {

/// Whose numbering of iparm: oneMKL's or the PARDISO project's.
enum class Dialect { mkl, project };

/// The documented values of `error`.
enum class Code : int {
  ok = 0,
  inconsistent = -1,
  no_memory = -2,
  ordering = -3,  ///< the structure could not be ordered
  zero_pivot = -4,
  internal = -5,
  no_matching = -6,  ///< types 11 and 13: rows without a partner
  singular = -7,     ///< the other types: the same
  overflow = -8,     ///< more rows than 32 bits count
};

/// Ends a call with a code; the text is printed if the caller asks for messages.
class Refusal : public std::runtime_error {
 public:
  Refusal(Code code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

/// A caller's array of integers of 32 or 64 bits.
class Integers {
 public:
  Integers() = default;
  explicit Integers(const int* data) : narrow_(const_cast<int*>(data)) {}
  explicit Integers(const long long* data) : wide_(const_cast<long long*>(data)) {}
  explicit operator bool() const { return narrow_ != nullptr || wide_ != nullptr; }
  std::int64_t operator[](std::int64_t k) const { return narrow_ != nullptr ? narrow_[k] : wide_[k]; }
  void set(std::int64_t k, std::int64_t value) const {
    if (narrow_ != nullptr)
      narrow_[k] = static_cast<int>(value);
    else
      wide_[k] = value;
  }

 private:
  int* narrow_ = nullptr;
  long long* wide_ = nullptr;
};

inline constexpr int num_parameters = 64;
using Parameters = std::array<std::int64_t, num_parameters>;  // iparm, 0-based

struct Call {
  Dialect dialect = Dialect::mkl;
  void** pt = nullptr;  // 64 pointers
  std::int64_t maxfct = 1;
  std::int64_t mnum = 1;
  std::int64_t mtype = 0;
  std::int64_t phase = 0;
  std::int64_t n = 0;
  const void* a = nullptr;
  Integers ia;    // length n + 1
  Integers ja;    // length ia[n] − base
  Integers perm;  // length n, read or written if iparm[4] says so
  std::int64_t nrhs = 0;
  Parameters iparm{};
  bool messages = false;
  void* b = nullptr;        // n × nrhs
  void* x = nullptr;        // n × nrhs
  double* dparm = nullptr;  // 64 numbers, the project's
};

/// Do what the call asks for; iparm, perm, b, x, pt and dparm receive the results.
Code run(Call& call) noexcept;

}  // namespace palmette::pardiso
