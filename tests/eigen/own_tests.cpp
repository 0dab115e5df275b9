// Eigen's own tests of its sparse solvers, with Palmette's classes in place of SimplicialLLT, SimplicialLDLT
// and SparseLU. `test/sparse_solver.h` of Eigen's sources makes random systems and checks what is solved:
// whole matrices and triangles; dense, sparse and zero right-hand sides; maps, blocks and expressions;
// determinants; matrices without a column. Arguments: rN repeats each N times, sN is the seed.
#include "sparse_solver.h"

#include "palmette/eigen/eigen.hpp"

namespace {

template <class T, class Index, int order>
void self_adjoint() {
  using Matrix = SparseMatrix<T, order, Index>;
  palmette::eigen::LLT<Matrix, Lower> llt_lower;
  palmette::eigen::LLT<Matrix, Upper> llt_upper;
  palmette::eigen::LDLT<Matrix, Lower> ldlt_lower;
  palmette::eigen::LDLT<Matrix, Upper> ldlt_upper;
  check_sparse_spd_solving(llt_lower);
  check_sparse_spd_solving(llt_upper);
  check_sparse_spd_solving(ldlt_lower);
  check_sparse_spd_solving(ldlt_upper);
  check_sparse_spd_determinant(llt_lower);
  check_sparse_spd_determinant(llt_upper);
  check_sparse_spd_determinant(ldlt_lower);
  check_sparse_spd_determinant(ldlt_upper);
}

template <class T, class Index = int>
void any_square() {
  palmette::eigen::LU<SparseMatrix<T, ColMajor, Index>> lu;
  check_sparse_square_solving(lu, 300, 100000, true);
  check_sparse_square_abs_determinant(lu);
  check_sparse_square_determinant(lu);
}

}  // namespace

EIGEN_DECLARE_TEST(own_tests) {
  CALL_SUBTEST((self_adjoint<double, int, ColMajor>()));
  CALL_SUBTEST((self_adjoint<std::complex<double>, int, RowMajor>()));
  CALL_SUBTEST((self_adjoint<double, long, RowMajor>()));
  CALL_SUBTEST(any_square<float>());
  CALL_SUBTEST(any_square<double>());
  CALL_SUBTEST(any_square<std::complex<float>>());
  CALL_SUBTEST((any_square<std::complex<double>, long>()));
}
