// Part of the door of `solve`: entries of A⁻¹ where the factors have entries.
#pragma once

#include <optional>
#include <vector>

#include "palmette/blocks/blocks.hpp"

namespace palmette {

/// Entries of A⁻¹ on the pattern of L + U (closed under elimination, so it holds that of A). Constant.
template <class T>
struct SelectedInverse {
  std::shared_ptr<const SymbolicFactor> symbolic;
  FactorKind kind = FactorKind::llt;
  bool hermitian = false;
  /// In the factor's panels, for Z the inverse of the factored matrix: Z of the supernode's columns and,
  /// below, of its rows below.
  PanelArray<T> lower;
  PanelArray<T> upper;  ///< LU only, likewise: the transpose of Z of the supernode's rows
  std::vector<double> row_scale, column_scale;  ///< as in Factor
  double seconds = 0;
  double flops = 0;

  index_t size() const { return symbolic ? symbolic->n : 0; }
  offset_t memory_bytes() const { return lower.bytes() + upper.bytes(); }
  /// Entry (row, column) of A⁻¹, counted as x and b are; nothing if it is not on the pattern.
  /// @cost  O(log) of the rows of a supernode
  std::optional<T> entry(index_t row, index_t column) const;
  /// All entries, n × n, general. @cost  O(panel entries) time and memory
  SparseMatrix<T> matrix() const;
};

/// Takahashi's recurrence on supernodes, from the roots to the leaves: with J the columns of a supernode, R
/// its rows below, and S its pivot block, Z_RJ = −Z_RR·S_RJ·B⁻¹ and Z_JJ = B⁻¹·(1 − S_JR·Z_RJ). All products
/// are of blocks. If pivots were replaced, this is the inverse of the matrix that was factored.
/// @param team  may be null; the bits do not depend on it
/// @throws MemoryError
/// @cost  about twice the flops of the factorization for LLᵀ and LDLᵀ, and for LU; memory of another factor
/// @source [Erisman and Tinney 1975]; by supernodes [Lin et al. 2011]
template <class T>
SelectedInverse<T> select_inverse(const Factor<T>& factor, ThreadTeam* team = nullptr);

/// Whether the factors may have an entry there: (row, column) of A⁻¹, counted as x and b are.
/// @cost  O(log) of the rows of a supernode
bool is_on_pattern(const SymbolicFactor& symbolic, index_t row, index_t column);

/// Bytes of the result of select_inverse.
offset_t selected_inverse_bytes(const SymbolicFactor& symbolic, FactorKind kind, int scalar_bytes);
/// Multiplications and additions of select_inverse for this structure.
double selected_inverse_flops(const SymbolicFactor& symbolic, FactorKind kind);

}  // namespace palmette
