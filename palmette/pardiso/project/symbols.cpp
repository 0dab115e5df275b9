// The symbols of libpalmette_pardiso: the PARDISO project's functions, for C and Fortran.
#include <algorithm>
#include <cmath>
#include <complex>

#define PALMETTE_PARDISO_PROJECT
#include "palmette/pardiso/given_matrix.hpp"
#include "palmette/pardiso/messages.hpp"
#include "palmette/pardiso/pardiso.h"

namespace palmette::pardiso {
namespace {

struct Rows {
  const int* mtype;
  const int* n;
  const int* ia;
  const int* ja;
};

/// Whether PARDISO accepts the rows and values. @tparam T  double or complex<double>
template <class T>
int checked(const Rows& rows, const void* a) noexcept {
  try {
    Call call;
    call.dialect = Dialect::project;
    call.mtype = *rows.mtype;
    call.n = *rows.n;
    call.ia = Integers(rows.ia);
    call.ja = Integers(rows.ja);
    Settings settings = read_settings(call);
    if (call.n < 1 || settings.type->is_complex != is_complex_v<T>) return -1;
    settings.check_structure = true;
    GivenPattern::read(call, settings).with_values(static_cast<const T*>(a), settings.type->symmetry);
    return 0;
  } catch (...) {
    return -1;
  }
}

/// @param parts  1, or 2 for complex numbers
int checked_vectors(const int* n, const int* nrhs, const void* b, int parts) noexcept {
  if (*n < 1 || *nrhs < 0) return -1;
  const auto* values = static_cast<const double*>(b);
  const std::int64_t count = std::int64_t{*n} * *nrhs * parts;
  return std::all_of(values, values + count, [](double value) { return std::isfinite(value); }) ? 0 : -1;
}

template <class T>
int print_system(const Rows& rows, const void* a, const int* nrhs, const void* b) noexcept {
  const int wrong = checked<T>(rows, a);
  if (wrong != 0) return wrong;
  print_sizes(*rows.mtype, *rows.n, rows.ia[*rows.n] - 1, *nrhs);
  return checked_vectors(rows.n, nrhs, b, is_complex_v<T> ? 2 : 1);
}

}  // namespace
}  // namespace palmette::pardiso

using palmette::pardiso::checked;
using palmette::pardiso::checked_vectors;
using palmette::pardiso::print_system;

void pardisoinit(void** pt, const int* mtype, const int*, int* iparm, double* dparm, int* error) {
  using namespace palmette::pardiso;
  std::fill_n(pt, num_parameters, nullptr);
  if (dparm != nullptr) std::fill_n(dparm, num_parameters, 0.0);
  *error = matrix_type(*mtype) != nullptr ? 0 : -1;
  if (*error != 0) return;
  const Parameters defaults = default_parameters(Dialect::project, *mtype);
  std::transform(defaults.begin(), defaults.end(), iparm,
                 [](std::int64_t value) { return static_cast<int>(value); });
}

void pardiso(void** pt, const int* maxfct, const int* mnum, const int* mtype, const int* phase, const int* n,
             const void* a, const int* ia, const int* ja, int* perm, const int* nrhs, int* iparm,
             const int* msglvl, void* b, void* x, int* error, double* dparm) {
  using namespace palmette::pardiso;
  Call call;
  call.dialect = Dialect::project;
  call.pt = pt;
  call.maxfct = *maxfct, call.mnum = *mnum, call.mtype = *mtype, call.phase = *phase;
  call.n = *n, call.nrhs = *nrhs, call.messages = *msglvl != 0;
  call.a = a, call.ia = Integers(ia), call.ja = Integers(ja), call.perm = Integers(perm);
  call.b = b, call.x = x, call.dparm = dparm;
  std::copy_n(iparm, num_parameters, call.iparm.begin());
  *error = static_cast<int>(run(call));
  std::transform(call.iparm.begin(), call.iparm.end(), iparm,
                 [](std::int64_t value) { return static_cast<int>(value); });
}

void pardiso_chkmatrix(const int* mtype, const int* n, const double* a, const int* ia, const int* ja,
                       int* error) {
  *error = checked<double>({mtype, n, ia, ja}, a);
}
void pardiso_chkmatrix_z(const int* mtype, const int* n, const void* a, const int* ia, const int* ja,
                         int* error) {
  *error = checked<std::complex<double>>({mtype, n, ia, ja}, a);
}
void pardiso_chkvec(const int* n, const int* nrhs, const double* b, int* error) {
  *error = checked_vectors(n, nrhs, b, 1);
}
void pardiso_chkvec_z(const int* n, const int* nrhs, const void* b, int* error) {
  *error = checked_vectors(n, nrhs, b, 2);
}
void pardiso_printstats(const int* mtype, const int* n, const double* a, const int* ia, const int* ja,
                        const int* nrhs, const double* b, int* error) {
  *error = print_system<double>({mtype, n, ia, ja}, a, nrhs, b);
}
void pardiso_printstats_z(const int* mtype, const int* n, const void* a, const int* ia, const int* ja,
                          const int* nrhs, const void* b, int* error) {
  *error = print_system<std::complex<double>>({mtype, n, ia, ja}, a, nrhs, b);
}

extern "C" {
/* Ipopt looks for these two names: the first says that pardisoinit has its present arguments, the second
 * that it may set the number of threads. */
void pardiso_ipopt_newinterface(void) {}
void pardiso_exist_parallel(void) {}

decltype(pardisoinit) pardisoinit_ __attribute__((alias("pardisoinit")));
decltype(pardiso) pardiso_ __attribute__((alias("pardiso")));
decltype(pardiso_chkmatrix) pardiso_chkmatrix_ __attribute__((alias("pardiso_chkmatrix")));
decltype(pardiso_chkmatrix_z) pardiso_chkmatrix_z_ __attribute__((alias("pardiso_chkmatrix_z")));
decltype(pardiso_chkvec) pardiso_chkvec_ __attribute__((alias("pardiso_chkvec")));
decltype(pardiso_chkvec_z) pardiso_chkvec_z_ __attribute__((alias("pardiso_chkvec_z")));
decltype(pardiso_printstats) pardiso_printstats_ __attribute__((alias("pardiso_printstats")));
decltype(pardiso_printstats_z) pardiso_printstats_z_ __attribute__((alias("pardiso_printstats_z")));
}
