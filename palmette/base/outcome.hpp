// Outcome<T>: a product, or the numerical reason why there is none. A numerical failure is a value, so that a
// caller can try another method (LDLᵀ if a Cholesky pivot is not positive) without catching an exception.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "palmette/base/errors.hpp"
#include "palmette/base/scalars.hpp"

namespace palmette {

enum class FailureKind {
  structurally_singular,   ///< no transversal: rows and columns that cannot be matched are listed
  numerically_singular,    ///< a pivot is zero to working precision, or the condition exceeds 1/u
  not_positive_definite,   ///< a Cholesky pivot is not positive
  not_finite,              ///< NaN or Inf appeared in a factor or a solution
  no_convergence,          ///< refinement stalled above its bound
};

/// Why a numerical step failed, with indices of the user's matrix (0-based; −1 if not applicable).
struct NumericalFailure {
  FailureKind kind = FailureKind::numerically_singular;
  index_t row = -1;
  index_t column = -1;
  index_t supernode = -1;
  std::vector<index_t> rows;     ///< structurally_singular: all unmatched rows, ascending
  std::vector<index_t> columns;  ///< structurally_singular: all unmatched columns, ascending
  std::string message;           ///< one sentence with the place (1-based, as in files) and the remedy
};

/// Thrown only by Outcome::value(), for callers that prefer exceptions.
class NumericalError : public Error {
 public:
  explicit NumericalError(NumericalFailure failure) : Error(failure.message), failure_(std::move(failure)) {}
  const NumericalFailure& failure() const { return failure_; }

 private:
  NumericalFailure failure_;
};

template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T product) : state_(std::move(product)) {}
  Outcome(NumericalFailure failure) : state_(std::move(failure)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  /// @throws NumericalError if there is no product
  T& value() & { require(); return std::get<T>(state_); }
  const T& value() const& { require(); return std::get<T>(state_); }
  T&& value() && { require(); return std::get<T>(std::move(state_)); }
  /// Undefined unless !ok().
  const NumericalFailure& failure() const { return std::get<NumericalFailure>(state_); }

 private:
  void require() const {
    if (!ok()) throw NumericalError(failure());
  }
  std::variant<T, NumericalFailure> state_;
};

/// Whether a step that leaves no product of its own succeeded. Outcome<void>() says that it did.
template <>
class [[nodiscard]] Outcome<void> {
 public:
  Outcome() = default;
  Outcome(NumericalFailure failure) : failure_(std::move(failure)) {}

  bool ok() const { return !failure_.has_value(); }
  explicit operator bool() const { return ok(); }
  /// @throws NumericalError if the step failed
  void value() const {
    if (!ok()) throw NumericalError(failure());
  }
  /// Undefined unless !ok().
  const NumericalFailure& failure() const { return *failure_; }

 private:
  std::optional<NumericalFailure> failure_;
};

}  // namespace palmette
