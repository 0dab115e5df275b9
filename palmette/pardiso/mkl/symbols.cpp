// The symbols of libpalmette_pardiso_mkl: oneMKL's functions, for C and Fortran.
#include <algorithm>

#include "palmette/pardiso/pardiso.h"
#include "palmette/pardiso/settings.hpp"

namespace palmette::pardiso {
namespace {

template <class Int>
struct Sizes {
  const Int* maxfct;
  const Int* mnum;
  const Int* mtype;
  const Int* phase;
  const Int* n;
  const Int* nrhs;
  const Int* msglvl;
};

template <class Int>
Call call_of(void* pt, const Sizes<Int>& sizes, const Int* iparm) {
  Call call;
  call.dialect = Dialect::mkl;
  call.pt = static_cast<void**>(pt);
  call.maxfct = *sizes.maxfct;
  call.mnum = *sizes.mnum;
  call.mtype = *sizes.mtype;
  call.phase = *sizes.phase;
  call.n = *sizes.n;
  call.nrhs = *sizes.nrhs;
  call.messages = *sizes.msglvl != 0;
  std::copy_n(iparm, num_parameters, call.iparm.begin());
  return call;
}

template <class Int>
void finish(Call& call, Int* iparm, Int* error) {
  *error = static_cast<Int>(run(call));
  std::transform(call.iparm.begin(), call.iparm.end(), iparm,
                 [](std::int64_t value) { return static_cast<Int>(value); });
}

}  // namespace
}  // namespace palmette::pardiso

using palmette::pardiso::Integers;

void pardisoinit(void* pt, const int* mtype, int* iparm) {
  using namespace palmette::pardiso;
  std::fill_n(static_cast<void**>(pt), num_parameters, nullptr);
  std::fill_n(iparm, num_parameters, 0);
  if (matrix_type(*mtype) == nullptr) return;
  const Parameters defaults = default_parameters(Dialect::mkl, *mtype);
  std::transform(defaults.begin(), defaults.end(), iparm,
                 [](std::int64_t value) { return static_cast<int>(value); });
}

void pardiso(void* pt, const int* maxfct, const int* mnum, const int* mtype, const int* phase, const int* n,
             const void* a, const int* ia, const int* ja, int* perm, const int* nrhs, int* iparm,
             const int* msglvl, void* b, void* x, int* error) {
  using namespace palmette::pardiso;
  Call call = call_of<int>(pt, {maxfct, mnum, mtype, phase, n, nrhs, msglvl}, iparm);
  call.a = a, call.ia = Integers(ia), call.ja = Integers(ja), call.perm = Integers(perm);
  call.b = b, call.x = x;
  finish(call, iparm, error);
}

void pardiso_64(void* pt, const long long* maxfct, const long long* mnum, const long long* mtype,
                const long long* phase, const long long* n, const void* a, const long long* ia,
                const long long* ja, long long* perm, const long long* nrhs, long long* iparm,
                const long long* msglvl, void* b, void* x, long long* error) {
  using namespace palmette::pardiso;
  Call call = call_of<long long>(pt, {maxfct, mnum, mtype, phase, n, nrhs, msglvl}, iparm);
  call.a = a, call.ia = Integers(ia), call.ja = Integers(ja), call.perm = Integers(perm);
  call.b = b, call.x = x;
  finish(call, iparm, error);
}

extern "C" {
decltype(pardisoinit) pardisoinit_ __attribute__((alias("pardisoinit")));
decltype(pardisoinit) PARDISOINIT __attribute__((alias("pardisoinit")));
decltype(pardiso) pardiso_ __attribute__((alias("pardiso")));
decltype(pardiso) PARDISO __attribute__((alias("pardiso")));
decltype(pardiso_64) pardiso_64_ __attribute__((alias("pardiso_64")));
decltype(pardiso_64) PARDISO_64 __attribute__((alias("pardiso_64")));
}
