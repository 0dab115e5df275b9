// b and x of an answer, wherever they lie: on the host, or on the device that holds the factor.
#pragma once

#include <optional>

#include "palmette/solver/verified_answer.hpp"

namespace palmette {

/// ‖·‖∞ of each column.
struct ColumnNorms {
  std::vector<double> b, x;
};

template <class T>
class AnswerVectors {
 public:
  virtual ~AnswerVectors() = default;
  virtual index_t num_columns() const = 0;
  /// x ← the first solution. @returns when it is there
  virtual SolveTrace solve(Operation operation) = 0;
  /// @param options  null: only verify
  virtual Verification refine_or_verify(Operation operation, const ApplyInverse<T>& apply,
                                        const RefineOptions* options) = 0;
  virtual ColumnNorms norms() = 0;
  /// On the host; a device's vectors are fetched once.
  virtual DenseView<const T> b() = 0;
  virtual DenseView<T> x() = 0;
  /// The answer is what x() holds now.
  virtual void x_was_changed() = 0;
  /// The answer is complete.
  virtual void finish() = 0;
};

/// Vectors of the host, with the factor there too.
template <class T>
class VectorsHere final : public AnswerVectors<T> {
 public:
  VectorsHere(const AnswerSource<T>& source, DenseView<const T> b, DenseView<T> x)
      : source_(source), b_(b), x_(x) {}
  index_t num_columns() const override { return b_.cols; }
  SolveTrace solve(Operation operation) override { return source_.apply(operation, b_, x_); }
  Verification refine_or_verify(Operation operation, const ApplyInverse<T>& apply,
                                const RefineOptions* options) override;
  ColumnNorms norms() override;
  DenseView<const T> b() override { return b_; }
  DenseView<T> x() override { return x_; }
  void x_was_changed() override {}
  void finish() override {}

 private:
  const AnswerSource<T>& source_;
  DenseView<const T> b_;
  DenseView<T> x_;
};

/// Vectors on a device, or of the host with a factor on a device: these go there and come back.
template <class T>
class VectorsThere final : public AnswerVectors<T> {
 public:
  VectorsThere(const AnswerSource<T>& source, OnDevice<const T> b, OnDevice<T> x);
  /// @throws MemoryError if there is no room on the device
  VectorsThere(const AnswerSource<T>& source, DenseView<const T> b, DenseView<T> x);

  index_t num_columns() const override { return b_there_.cols(); }
  SolveTrace solve(Operation operation) override;
  Verification refine_or_verify(Operation operation, const ApplyInverse<T>& apply,
                                const RefineOptions* options) override;
  ColumnNorms norms() override;
  DenseView<const T> b() override;
  DenseView<T> x() override;
  void x_was_changed() override;
  void finish() override;

 private:
  Device& device() const { return *source_.device; }
  bool is_callers_host() const { return b_here_.has_value(); }
  void fetch_x();

  const AnswerSource<T>& source_;
  DeviceArray<T> room_;                        // for b and x of the host
  OnDevice<const T> b_there_;
  OnDevice<T> x_there_;
  std::optional<DenseView<const T>> b_here_;   // the caller's
  std::optional<DenseView<T>> x_here_;
  std::optional<DenseMatrix<T>> fetched_b_, fetched_x_;
  bool x_is_fetched_ = false;                  // the host's x is the device's
};

}  // namespace palmette
