/* The same from C: a 2 x 2 system in compressed columns. */
#include <stdio.h>

#include "palmette/capi/palmette.h"

int main(void) {
  const int64_t column_ptr[] = {0, 2, 4};
  const int32_t row_index[] = {0, 1, 0, 1};
  const double values[] = {4, 1, 1, 3}, b[] = {1, 2};
  double x[2];
  palmette_report report;
  palmette_solver* solver;
  palmette_status status = palmette_create_d(2, column_ptr, row_index, values, PALMETTE_FULL, NULL, &solver);
  if (status == PALMETTE_OK) status = palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 2, x, 2, &report);
  if (status != PALMETTE_OK) printf("palmette: %s\n", palmette_last_error());
  else printf("x = (%g, %g), backward error %.1e\n", x[0], x[1], report.backward_error);
  palmette_destroy(solver);
  return (int)status;
}
