/* A chain of n unknowns over MPI ranks, from C: each rank passes its rows and gets its part of x. Run by:
 * mpiexec -n 3 example_10_solve_over_ranks */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "palmette/capi/palmette.h"

enum { n = 1000 };

/* A rank's rows in compressed form: at most three entries in each. */
typedef struct {
  int first, rows;
  int64_t* row_ptr;
  int32_t* column;
  double *values, *x;
} part;

static part make_part(int first, int end) {
  const size_t room = (size_t)(end - first) + 1;
  const part made = {first,
                     end - first,
                     malloc(sizeof(int64_t) * room),
                     malloc(sizeof(int32_t) * 3 * room),
                     malloc(sizeof(double) * 3 * room),
                     malloc(sizeof(double) * room)};
  return made;
}

/* The matrix with `diagonal` on the diagonal and −1 beside it; x ← its row sums, that is A·1. */
static void fill(part* mine, double diagonal) {
  int64_t entry = 0;
  mine->row_ptr[0] = 0;
  for (int row = mine->first; row < mine->first + mine->rows; ++row) {
    double sum = 0;
    for (int j = row - 1; j <= row + 1; ++j)
      if (j >= 0 && j < n) {
        mine->column[entry] = j;
        mine->values[entry] = j == row ? diagonal : -1;
        sum += mine->values[entry++];
      }
    mine->row_ptr[row - mine->first + 1] = entry;
    mine->x[row - mine->first] = sum;
  }
}

/* The largest distance of this rank's part of x from 1, over all ranks. */
static double largest_error(const double* x, int rows) {
  double here = 0, everywhere = 0;
  for (int row = 0; row < rows; ++row) {
    const double distance = x[row] > 1 ? x[row] - 1 : 1 - x[row];
    if (distance > here) here = distance;
  }
  MPI_Allreduce(&here, &everywhere, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return everywhere;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  part mine = make_part((int)((int64_t)n * rank / ranks), (int)((int64_t)n * (rank + 1) / ranks));
  palmette_rank_solver* solver = NULL;
  palmette_status status = PALMETTE_OK;
  /* b = A·1 for the diagonals 4 and then 5, so that x = 1 both times. */
  for (int diagonal = 4; diagonal <= 5 && status == PALMETTE_OK; ++diagonal) {
    fill(&mine, diagonal);
    const palmette_rows rows = {n, mine.first, mine.rows, mine.row_ptr, mine.column, mine.values};
    if (solver == NULL)
      status = palmette_create_over_ranks_d(&rows, MPI_Comm_c2f(MPI_COMM_WORLD), NULL, &solver);
    else status = palmette_refactor_over_ranks_d(solver, mine.values);
    const palmette_columns columns = {1, mine.x, mine.rows, mine.x, mine.rows};
    palmette_report report;
    if (status == PALMETTE_OK)
      status = palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &columns, &report);
    if (status != PALMETTE_OK) break;
    const double error = largest_error(mine.x, mine.rows);
    if (rank == 0)
      printf("diagonal %d: %d ranks, backward error %.1e, distance from 1: %.1e\n", diagonal, ranks,
             report.backward_error, error);
    if (error > 1e-12) status = PALMETTE_INTERNAL;
  }
  if (status != PALMETTE_OK) fprintf(stderr, "palmette: %s\n", palmette_last_error());
  else if (rank == 0) printf("%s\n", palmette_rank_report_json(solver));
  palmette_destroy_over_ranks(solver);
  free(mine.row_ptr);
  free(mine.column);
  free(mine.values);
  free(mine.x);
  MPI_Finalize();
  return (int)status;
}
