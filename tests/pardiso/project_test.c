/* The PARDISO project's functions from a program that is compiled as C, and Fortran's names of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PALMETTE_PARDISO_PROJECT
#include "palmette/pardiso/pardiso.h"

static int failures = 0;
#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      printf("WRONG in line %d: %s\n", __LINE__, #condition);                    \
      ++failures;                                                                \
    }                                                                            \
  } while (0)

void pardiso_ipopt_newinterface(void);

/* [4 1 0; 1 0 2; 0 2 -3]: determinant 4·(0 − 4) − 1·(−3 − 0) = −13, and so one or three negative eigenvalues;
 * the trace 1 and the pivot 4 leave one. Upper triangle by rows. */
static const int n = 3, ia[] = {1, 3, 5, 6}, ja[] = {1, 2, 2, 3, 3};
static const double a[] = {4, 1, 0, 2, -3};

static int solve_indefinite(void** pt, int* iparm, double* dparm, double* b, double* x) {
  const int one = 1, mtype = -2, zero = 0;
  int error = 77, phase = 12;
  iparm[32] = 1;
  pardiso(pt, &one, &one, &mtype, &phase, &n, a, ia, ja, NULL, &one, iparm, &zero, NULL, NULL, &error, dparm);
  if (error != 0) return error;
  phase = 33;
  pardiso(pt, &one, &one, &mtype, &phase, &n, a, ia, ja, NULL, &one, iparm, &zero, b, x, &error, dparm);
  return error;
}

static void check_indefinite(void) {
  void* pt[64];
  int iparm[64], error = 77;
  const int mtype = -2, solver = 0, minus_one = -1, one = 1, zero = 0;
  double dparm[64], b[] = {6, 7, -5}, x[3] = {0, 0, 0};
  memset(pt, 1, sizeof(pt));
  pardisoinit(pt, &mtype, &solver, iparm, dparm, &error);
  CHECK(error == 0 && pt[0] == NULL && iparm[0] == 1 && iparm[1] == 2 && iparm[9] == 8);
  CHECK(solve_indefinite(pt, iparm, dparm, b, x) == 0);
  CHECK(fabs(x[0] - 1) < 1e-14 && fabs(x[1] - 2) < 1e-14 && fabs(x[2] - 3) < 1e-14);
  CHECK(iparm[21] == 2 && iparm[22] == 1 && iparm[13] == 0);
  CHECK(fabs(dparm[32] - log(13)) < 1e-14);
  iparm[5] = 1;
  CHECK(solve_indefinite(pt, iparm, dparm, b, x) == 0 && b[2] == x[2]);
  pardiso(pt, &one, &one, &mtype, &minus_one, &n, NULL, NULL, NULL, NULL, &zero, iparm, &zero, NULL, NULL,
          &error, dparm);
  CHECK(error == 0 && pt[0] == NULL);
}

static void check_errors(void) {
  void* pt[64];
  int iparm[64], error = 77;
  double dparm[64], b[] = {1, NAN, 2};
  const int unknown = 7, solver = 0, mtype = -2, one = 1;
  const int below[] = {1, 2, 1, 3, 3};
  pardisoinit(pt, &unknown, &solver, iparm, dparm, &error);
  CHECK(error == -1);
  pardiso_chkmatrix(&mtype, &n, a, ia, ja, &error);
  CHECK(error == 0);
  pardiso_chkmatrix(&mtype, &n, a, ia, below, &error);
  CHECK(error == -1);
  pardiso_chkvec(&n, &one, b, &error);
  CHECK(error == -1);
  b[1] = 0;
  pardiso_chkvec(&n, &one, b, &error);
  CHECK(error == 0);
  pardiso_printstats(&mtype, &n, a, ia, ja, &one, b, &error);
  CHECK(error == 0);
}

/* iparm(12) = 1 is the transpose here, not the adjoint: [i 1; 0 2]ᵀ·(1, 1) = (i, 3). */
static void check_transpose(void) {
  void* pt[64];
  int iparm[64], error = 77;
  double dparm[64], x[4];
  const int mtype = 13, solver = 0, one = 1, zero = 0, two = 2, all = 13, release = -1;
  const int row_start[] = {1, 3, 4}, column[] = {1, 2, 2};
  const double values[] = {0, 1, 1, 0, 2, 0};
  double b[] = {0, 1, 3, 0};
  pardisoinit(pt, &mtype, &solver, iparm, dparm, &error);
  iparm[11] = 1;
  pardiso(pt, &one, &one, &mtype, &all, &two, values, row_start, column, NULL, &one, iparm, &zero, b, x,
          &error, dparm);
  CHECK(error == 0 && fabs(x[0] - 1) + fabs(x[1]) + fabs(x[2] - 1) + fabs(x[3]) < 1e-14);
  pardiso(pt, &one, &one, &mtype, &release, &two, NULL, NULL, NULL, NULL, &one, iparm, &zero, NULL, NULL,
          &error, dparm);
  CHECK(error == 0);
}

int main(void) {
  pardiso_ipopt_newinterface();
  check_indefinite();
  check_errors();
  check_transpose();
  if (failures == 0) printf("all right\n");
  return failures;
}
