/* A program written for oneMKL's PARDISO, linked with Palmette instead: a 3 x 3 system by rows. */
#include <stdio.h>

#include "palmette/pardiso/pardiso.h"

int main(void) {
  const int n = 3, mtype = 11, one = 1, zero = 0, all = 13, release = -1;
  const int row_start[] = {1, 3, 5, 7}, column[] = {1, 2, 2, 3, 1, 3};
  const double values[] = {4, 1, 3, 2, 1, 5};
  double b[] = {6, 12, 16}, x[3];
  void* pt[64];
  int iparm[64], error;
  pardisoinit(pt, &mtype, iparm);
  pardiso(pt, &one, &one, &mtype, &all, &n, values, row_start, column, NULL, &one, iparm, &zero, b, x,
          &error);
  if (error == 0) printf("x = (%g, %g, %g), %d pivots replaced\n", x[0], x[1], x[2], iparm[13]);
  const int status = error;
  pardiso(pt, &one, &one, &mtype, &release, &n, NULL, NULL, NULL, NULL, &one, iparm, &zero, NULL, NULL,
          &error);
  return status;
}
