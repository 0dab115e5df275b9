// The memory that a factorization will occupy, from the structure alone.
#include <algorithm>

#include "palmette/factorize/work.hpp"

namespace palmette {
namespace factorize_detail {

ScratchSizes scratch_sizes(const SymbolicFactor& symbolic) {
  ScratchSizes sizes;
  sizes.n = symbolic.n;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    sizes.widest = std::max(sizes.widest, symbolic.width(s));
  for (const Block& block : symbolic.blocks) sizes.tallest_block = std::max(sizes.tallest_block, block.count);
  return sizes;
}

offset_t ScratchSizes::bytes(FactorKind kind, offset_t scalar_bytes) const {
  const auto index_bytes = static_cast<offset_t>(sizeof(index_t));
  return (n + slab_rows + tallest_block) * index_bytes +
         (product_entries() + scaled_entries(kind) + staged_entries(kind) + column_entries(kind)) *
             scalar_bytes;
}

}  // namespace factorize_detail

namespace {

offset_t bytes_of(ScalarType scalar) {
  switch (scalar) {
    case ScalarType::float32: return sizeof(float);
    case ScalarType::float64: return sizeof(double);
    case ScalarType::complex64: return sizeof(std::complex<float>);
    case ScalarType::complex128: return sizeof(std::complex<double>);
  }
  return sizeof(std::complex<double>);
}

}  // namespace

FactorMemory predicted_factor_bytes(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                                    int threads) {
  const offset_t scalar_bytes = bytes_of(scalar), n = symbolic.n;
  FactorMemory memory;
  memory.factor_bytes = symbolic.panel_entries() * scalar_bytes * (kind == FactorKind::lu ? 2 : 1);
  if (kind == FactorKind::ldlt) memory.factor_bytes += 2 * n * scalar_bytes;
  if (kind != FactorKind::llt) {
    const auto place_bytes = static_cast<offset_t>(sizeof(index_t)),
               scale_bytes = static_cast<offset_t>(sizeof(double));
    memory.factor_bytes += n * (place_bytes + 2 * scale_bytes);
  }
  memory.workspace_bytes = threads * factorize_detail::scratch_sizes(symbolic).bytes(kind, scalar_bytes);
  return memory;
}

}  // namespace palmette
