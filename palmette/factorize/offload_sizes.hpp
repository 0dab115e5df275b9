// Inside `factorize`: the sizes of the dense operations of one supernode, and of what they copy.
#pragma once

#include <vector>

#include "palmette/factorize/offload_model.hpp"

namespace palmette::factorize_detail {

struct OffloadSizes {
  const SymbolicFactor& symbolic;
  FactorKind kind = FactorKind::llt;
  ScalarType scalar = ScalarType::float64;

  /// The blocks below the diagonal block of s are number first_block(s) to first_block(s + 1) - 1.
  offset_t first_block(index_t s) const { return symbolic.block_ptr[s]; }
  double scalar_bytes() const {
    if (scalar == ScalarType::complex128) return 16;
    return scalar == ScalarType::float32 ? 4 : 8;
  }
  /// Real flops of this scalar's operation.
  double flops(const DenseCall& call) const {
    const bool is_complex = scalar == ScalarType::complex64 || scalar == ScalarType::complex128;
    return call.flops() * (is_complex ? 4 : 1);
  }
  /// Panels that updates read: L; LDLᵀ: also L·D; LU: also Uᵀ.
  int stored_panels() const { return kind == FactorKind::llt ? 1 : 2; }
  /// Panels whose rows are divided by a triangle.
  int panels() const { return kind == FactorKind::lu ? 2 : 1; }

  DenseCall potrf(index_t s) const {
    const double width = symbolic.width(s);
    return {DenseOperation::potrf, width, width, width};
  }
  DenseCall trsm(index_t s) const {
    const double width = symbolic.width(s), below = symbolic.num_rows_below(s);
    return {DenseOperation::trsm, below, width, width};
  }
  /// The operations by which block `block` of s updates its supernode's panel.
  std::vector<DenseCall> update(index_t s, offset_t block) const {
    const Block& one = symbolic.blocks[block];
    const double rows = symbolic.num_rows_below(s) - one.first, count = one.count, k = symbolic.width(s);
    const DenseCall all{DenseOperation::gemm, rows, count, k};
    const DenseCall beyond{DenseOperation::gemm, rows - count, count, k};
    if (kind == FactorKind::ldlt) return {all};
    if (kind == FactorKind::lu) return {all, beyond};
    return {{DenseOperation::syrk, count, count, k}, beyond};
  }
  double host_update_seconds(const OffloadModel& model, index_t s, offset_t block) const {
    double seconds = 0;
    for (const DenseCall& one : update(s, block))
      if (one.flops() > 0) seconds += model.host_seconds(one, scalar);
    return seconds;
  }
  double device_update_seconds(const OffloadModel& model, index_t s, offset_t block) const {
    double seconds = 0;
    for (const DenseCall& one : update(s, block))
      if (one.flops() > 0) seconds += model.device_seconds(one, scalar);
    return seconds;
  }
  /// What an update on the device hands back.
  double product_bytes(index_t s, offset_t block) const {
    const Block& one = symbolic.blocks[block];
    const double rows = symbolic.num_rows_below(s) - one.first, count = one.count;
    return (rows * count + (kind == FactorKind::lu ? (rows - count) * count : 0)) * scalar_bytes();
  }
  double scatter_seconds(const OffloadModel& model, index_t s, offset_t block) const {
    return product_bytes(s, block) / (model.scatter_gbs * 1e9);
  }
  double diagonal_bytes(index_t s) const {
    const double width = symbolic.width(s);
    return width * width * scalar_bytes();
  }
  double kept_bytes(index_t s) const {
    return static_cast<double>(symbolic.leading_dimension(s)) * symbolic.width(s) * stored_panels() *
           scalar_bytes();
  }
};

}  // namespace palmette::factorize_detail
