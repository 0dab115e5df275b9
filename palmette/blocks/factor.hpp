// Factor: the product of `factorize` that `solve` reads. It is defined here, below both, because neither may
// include the other. It holds the blocks of one rank and what pivoting did to them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palmette/blocks/operation_counts.hpp"
#include "palmette/blocks/panel_array.hpp"
#include "palmette/place/place.hpp"

namespace palmette {

struct Inertia {
  index_t positive = 0;
  index_t negative = 0;
  /// sign undecided: replaced pivots, since a tiny pivot need not be a tiny eigenvalue
  index_t zero = 0;
};

/// A pivot that was replaced: the matrix that was factored has `change` added to entry (row, column). In the
/// numbering of the user's matrix, scalings undone; row = column for LDLᵀ.
struct ReplacedPivot {
  index_t row = 0;
  index_t column = 0;
  std::complex<double> change = 0;
};

/// What pivoting did, in the numbering of the user's matrix.
struct PivotReport {
  index_t perturbed = 0;                 ///< tiny pivots replaced
  std::vector<index_t> perturbed_columns;  ///< their original columns, ascending, at most the first 1000
  double smallest_pivot = 0;             ///< smallest modulus before replacement, of the scaled matrix
  double largest_pivot = 0;
  Inertia inertia;                       ///< LLᵀ, and LDLᵀ of real or Hermitian matrices; zeros otherwise
  /// Determinant of A (scalings and permutations undone): its modulus is e^log_abs_determinant; the sign (or
  /// phase) is separate.
  double log_abs_determinant = 0;
  std::complex<double> determinant_sign = 1;  ///< modulus 1; 0 if exactly singular
};

/// A factorization of S = diag(row_scale)·A·diag(column_scale), permuted: row k of the factored matrix is row
/// symbolic->row.new_to_old[k] of S, its columns likewise. Constant from here on.
///
/// LLᵀ: lower holds L. LDLᵀ: within each supernode P·S_ss·Pᵀ = L_ss·D·L_ssᵀ, lower holds unit L (diagonal
/// block strictly below its diagonal; rows below: S_rs·Pᵀ·L_ss⁻ᵀ·D⁻¹). LU: P·S_ss = L_ss·U_ss as LAPACK packs
/// them in lower's diagonal block; rows below hold L in lower (S_rs·U_ss⁻¹) and Uᵀ in upper
/// ((L_ss⁻¹·P·S_sr)ᵀ). Complex LLᵀ is LLᴴ; complex LDLᵀ is LDLᴴ when `hermitian`.
template <class T>
struct Factor {
  FactorKind kind = FactorKind::llt;
  bool hermitian = false;
  std::shared_ptr<const SymbolicFactor> symbolic;
  PanelArray<T> lower;         // symbolic->panel_entries()
  PanelArray<T> upper;         // LU only: all of Uᵀ in the same layout, zero above its diagonal
  std::vector<T> d;            // LDLᵀ only, length n: diagonal of D
  std::vector<T> d_below;      // LDLᵀ only, length n: subdiagonal of D, nonzero where a 2 × 2 pivot begins
  // LDLᵀ and LU, length n: P as in dense_factor.hpp, counted from the supernode's first column
  std::vector<index_t> place;
  std::vector<double> row_scale;     // as in Ordering, length n by original row, or empty
  std::vector<double> column_scale;  // length n by original column, or empty
  PivotReport pivots;
  std::vector<ReplacedPivot> replaced;  // all of them
  double seconds = 0;
  double flops = 0;  ///< of the exact structure, see factorization_flops
  std::optional<OffloadCounts> offload;  ///< if a device took part, or might have

  index_t size() const { return symbolic ? symbolic->n : 0; }
  offset_t memory_bytes() const;
};

}  // namespace palmette
