// What a call of PARDISO asks for, in Palmette's words.
#pragma once

#include "palmette/pardiso/call.hpp"
#include "palmette/solver/solver.hpp"

namespace palmette::pardiso {

/// One value of mtype.
struct MatrixType {
  std::int64_t number;
  FactorKind kind;
  Symmetry symmetry;  ///< other than general: only the upper triangle is given
  bool is_complex;
  bool has_symmetric_pattern;
  bool is_matched;  ///< by default: types 11 and 13
};
/// Null if there is no such type.
const MatrixType* matrix_type(std::int64_t number);

/// iparm of a new handle.
/// @param number  of a matrix type that exists
Parameters default_parameters(Dialect dialect, std::int64_t number);

struct Settings {
  const MatrixType* type = nullptr;
  bool is_single = false;  ///< the caller's numbers are single precision
  bool is_zero_based = false;
  bool check_structure = false;
  OrderOptions order;         ///< without the user's permutation
  bool user_order = false;    ///< perm is given
  bool return_order = false;  ///< perm receives the order
  double tiny_pivot = 0;      ///< as FactorizeOptions
  Operation operation = Operation::plain;
  int refine_steps = 0;  ///< at most
  bool solution_in_b = false;
  bool wants_determinant = false;
  int threads = 0;  ///< 0: all processors
};

/// If iparm[0] is 0, iparm is set to its defaults first.
/// @throws Refusal for a type, or a request, that does not exist here
Settings read_settings(Call& call);

}  // namespace palmette::pardiso
