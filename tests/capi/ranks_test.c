/* The C functions over ranks, run by mpiexec with any number of processes: complex systems, transposes, two
 * sides, new values, misuse. Every expectation is checked on every rank; if one fails, a line WRONG and
 * exit status 1. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "palmette/capi/palmette.h"

static int failures = 0;
#define EXPECT(condition)                                                              \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      printf("WRONG line %d: %s (%s)\n", __LINE__, #condition, palmette_last_error()); \
      ++failures;                                                                      \
    }                                                                                  \
  } while (0)

enum { n = 5 };

/* First row of a rank; with more ranks than rows some have none. */
static int first_of(int rank, int ranks) { return n * rank / ranks; }

/* A = 3i·I + a superdiagonal of ones. A·x for x = 1: 3i + 1, and 3i in the last row; Aᵀ·1: 3i in the first.
 */
static void complex_systems(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[2 * n];
  double values[4 * n], b[4 * n], x[4 * n];
  int64_t entry = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = first + k;
    if (row + 1 < n) {  /* the columns of a row need no order */
      column[entry] = row + 1;
      values[2 * entry] = 1;
      values[2 * entry++ + 1] = 0;
    }
    column[entry] = row;
    values[2 * entry] = 0;
    values[2 * entry++ + 1] = 3;
    row_ptr[k + 1] = entry;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  palmette_rank_options options;
  palmette_default_rank_options(&options);
  options.condition = 1;
  palmette_rank_solver* solver = NULL;
  EXPECT(palmette_create_over_ranks_z(&mine, communicator, &options, &solver) == PALMETTE_OK);
  for (int operation = PALMETTE_PLAIN; operation <= PALMETTE_ADJOINT; ++operation) {
    for (int k = 0; k < rows; ++k)
      for (int side = 0; side < 2; ++side) {
        const int lonely = operation == PALMETTE_PLAIN ? first + k == n - 1 : first + k == 0;
        b[2 * (k + side * rows)] = (lonely ? 0 : 1) * (side + 1);
        b[2 * (k + side * rows) + 1] = (operation == PALMETTE_ADJOINT ? -3 : 3) * (side + 1);
      }
    const palmette_columns columns = {2, b, rows, x, rows};
    palmette_report report;
    EXPECT(palmette_solve_over_ranks_z(solver, (palmette_operation)operation, &columns, &report) ==
           PALMETTE_OK);
    EXPECT(report.verified == 1 && report.backward_error < 1e-14 && report.condition_1norm >= 1);
    for (int k = 0; k < rows; ++k)
      for (int side = 0; side < 2; ++side) {
        EXPECT(fabs(x[2 * (k + side * rows)] - (side + 1)) < 1e-14);
        EXPECT(fabs(x[2 * (k + side * rows) + 1]) < 1e-14);
      }
  }
  for (int64_t k = 0; k < 2 * entry; ++k) values[k] *= 2;  /* then half of x */
  EXPECT(palmette_refactor_over_ranks_z(solver, values) == PALMETTE_OK);
  const palmette_columns again = {1, b, rows, b, rows};
  EXPECT(palmette_solve_over_ranks_z(solver, PALMETTE_ADJOINT, &again, NULL) == PALMETTE_OK);
  for (int k = 0; k < rows; ++k) EXPECT(fabs(b[2 * k] - 0.5) < 1e-14);
  EXPECT(strstr(palmette_rank_report_json(solver), "\"kind\":\"lu\"") != NULL);
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &again, NULL) == PALMETTE_USAGE);
  EXPECT(palmette_refactor_over_ranks_d(solver, values) == PALMETTE_USAGE);
  palmette_destroy_over_ranks(solver);
}

/* The same on a device of each rank: a chain of -1 beside 2, b = A·1. */
static void devices(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[3 * n];
  double values[3 * n], b[n], x[n];
  int64_t entry = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = first + k;
    b[k] = 0;
    for (int there = row > 0 ? row - 1 : 0; there <= row + 1 && there < n; ++there) {
      column[entry] = there;
      values[entry] = there == row ? 2 : -1;
      b[k] += values[entry++];
    }
    row_ptr[k + 1] = entry;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  const palmette_columns columns = {1, b, rows, x, rows};
  palmette_rank_options options;
  palmette_default_rank_options(&options);
  options.device = "emulated";
  const char* const kinds[] = {"native", "reference"};
  for (int kind = 0; kind < 2; ++kind) {
    options.memory = kinds[kind];
    palmette_rank_solver* solver = NULL;
    palmette_report report;
    EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, &solver) == PALMETTE_OK);
    EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &columns, &report) == PALMETTE_OK);
    EXPECT(report.verified == 1);
    for (int k = 0; k < rows; ++k) EXPECT(fabs(x[k] - 1) < 1e-14);
    const char* const told = palmette_rank_report_json(solver);
    EXPECT(strstr(told, "\"devices\":{\"kind\":\"emulated\"") != NULL && strstr(told, kinds[kind]) != NULL);
    palmette_destroy_over_ranks(solver);
  }
  palmette_rank_solver* none = NULL;
  options.memory = "far";
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, &none) == PALMETTE_USAGE && !none);
  EXPECT(strstr(palmette_last_error(), "memory kind 'far'") != NULL);
  options.memory = NULL;
  options.device = "abacus";
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, &none) == PALMETTE_USAGE && !none);
}

/* T = [2 0; 1 4], whole on every rank. Emulated devices of several processes have no network. */
static void triangles(int ranks, int communicator) {
  const int64_t ptr[] = {0, 2, 3};
  const int32_t rows[] = {0, 1, 1};
  const double lower[] = {2, 1, 4};
  double x[] = {2, 9};
  const palmette_columns columns = {1, x, 2, x, 2}, wrong = {1, NULL, 2, x, 2};
  const palmette_triangle triangle = {{2, ptr, rows, lower, PALMETTE_FULL}, 0, 0, 0};
  const palmette_factors factors = {triangle.entries, {0, NULL, NULL, NULL, PALMETTE_FULL}, NULL, NULL, NULL,
                                    NULL, 0, 0, 0, NULL, 3};
  palmette_rank_options options;
  palmette_default_rank_options(&options);
  palmette_triangular* solver = NULL;
  EXPECT(palmette_triangular_create_over_ranks_d(&triangle, communicator, &options, &solver) ==
             PALMETTE_USAGE && solver == NULL);
  EXPECT(strstr(palmette_last_error(), "needs a device on each") != NULL);
  options.device = "emulated";
  const palmette_status made =
      palmette_triangular_create_over_ranks_d(&triangle, communicator, &options, &solver);
  EXPECT(made == (ranks == 1 ? PALMETTE_OK : PALMETTE_DEVICE_ERROR));
  if (made == PALMETTE_OK) {
    palmette_report report;
    EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &columns, &report) == PALMETTE_OK);
    EXPECT(report.verified && fabs(x[0] - 1) < 1e-15 && fabs(x[1] - 2) < 1e-15);
    EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &wrong, NULL) == PALMETTE_USAGE);
    palmette_triangular_destroy(solver);
    EXPECT(palmette_triangular_from_factors_over_ranks_d(&factors, communicator, &options, &solver) ==
           PALMETTE_OK);
    x[0] = 4, x[1] = 2; /* L·Lᵀ = [4 2; 2 17] */
    EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_OK);
    EXPECT(fabs(x[0] - 1) < 1e-15 && fabs(x[1]) < 1e-15);
    palmette_triangular_destroy(solver);
  } else {
    EXPECT(strstr(palmette_last_error(), "emulated devices of several processes have no network") != NULL);
    EXPECT(palmette_triangular_from_factors_over_ranks_d(&factors, communicator, &options, &solver) ==
               PALMETTE_DEVICE_ERROR && solver == NULL);
  }
}

/* A chain of -1 beside 2: b = e_0 gives x_k = (n - k) / (n + 1). Each rank wants the last row and its first.
 */
static void entries_of_a_solution(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[3 * n];
  double values[3 * n], found[2] = {0, 0};
  int64_t entry = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = first + k;
    for (int there = row > 0 ? row - 1 : 0; there <= row + 1 && there < n; ++there) {
      column[entry] = there;
      values[entry++] = there == row ? 2 : -1;
    }
    row_ptr[k + 1] = entry;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  palmette_rank_solver* solver = NULL;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) == PALMETTE_OK);
  const int32_t row[] = {0}, wanted[] = {n - 1, first < n ? first : 0};
  const double one[] = {1};
  palmette_entries entries = {first == 0 && rows > 0 ? 1 : 0, row, one, 2, wanted};
  EXPECT(palmette_solve_entries_over_ranks_d(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_OK);
  EXPECT(fabs(found[0] - 1.0 / (n + 1)) < 1e-14);
  EXPECT(fabs(found[1] - (double)(n - wanted[1]) / (n + 1)) < 1e-14);
  EXPECT(palmette_solve_entries_over_ranks_z(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_USAGE);
  /* (A^-1)_ij = (i + 1)(n - j) / (n + 1) for i <= j */
  const int32_t places[] = {0, n - 1}, last[] = {n - 1, n - 1};
  EXPECT(palmette_inverse_entries_over_ranks_d(solver, 2, places, last, found) == PALMETTE_OK);
  EXPECT(fabs(found[0] - 1.0 / (n + 1)) < 1e-14 && fabs(found[1] - (double)n / (n + 1)) < 1e-14);
  const int32_t outside[] = {n};
  EXPECT(palmette_inverse_entries_over_ranks_d(solver, 1, places, outside, found) == PALMETTE_USAGE);
  EXPECT(palmette_inverse_entries_over_ranks_d(solver, -1, places, places, found) == PALMETTE_USAGE);
  entries.num_wanted = 1;
  entries.wanted = outside;
  EXPECT(palmette_solve_entries_over_ranks_d(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_USAGE);
  palmette_destroy_over_ranks(solver);
}

/* 4·I + e·eᵀ, e all ones, on the factor of 4·I: b = (4 + n)·1 for x = 1. */
static void updated(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[n];
  double values[n], ones[n], b[n], x[n], error = 1;
  for (int k = 0; k < rows; ++k) {
    column[k] = first + k;
    values[k] = 4;
    ones[k] = 1;
    b[k] = 4 + n;
    row_ptr[k + 1] = k + 1;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  const palmette_columns columns = {1, b, rows, x, rows};
  palmette_change change = {1, ones, rows, ones, rows};
  palmette_rank_solver* solver = NULL;
  palmette_rank_updated* changed = NULL;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_update_over_ranks_z(solver, &change, &changed) == PALMETTE_USAGE && changed == NULL);
  EXPECT(palmette_update_over_ranks_d(solver, &change, &changed) == PALMETTE_OK);
  palmette_destroy_over_ranks(solver);  /* the changed system lives on */
  EXPECT(palmette_solve_updated_over_ranks_d(changed, PALMETTE_ADJOINT, &columns, &error) == PALMETTE_OK);
  EXPECT(error < 1e-14);
  for (int k = 0; k < rows; ++k) EXPECT(fabs(x[k] - 1) < 1e-14);
  EXPECT(palmette_solve_updated_over_ranks_z(changed, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_USAGE);
  palmette_destroy_updated_over_ranks(changed);
  palmette_destroy_updated_over_ranks(NULL);
  EXPECT(palmette_solve_updated_over_ranks_d(NULL, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_USAGE);
}

/* A path with free ends has one null vector, the constant one, and n - 1 positive eigenvalues; b of entries
 * that sum to zero is in its range. */
static void singular(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[3 * n];
  double values[3 * n], b[n], x[n], basis[n], sum = 0, all = 0;
  int64_t entry = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = first + k;
    b[k] = row == 0 ? 1 : row == n - 1 ? -1 : 0;
    for (int32_t j = row - 1; j <= row + 1; ++j) {
      if (j < 0 || j >= n) continue;
      column[entry] = j;
      values[entry++] = j != row ? -1 : row == 0 || row == n - 1 ? 1 : 2;
    }
    row_ptr[k + 1] = entry;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  const palmette_columns columns = {1, b, rows, x, rows};
  palmette_rank_options options;
  palmette_default_rank_options(&options);
  options.kind = PALMETTE_LDLT;
  options.singular = PALMETTE_SINGULAR_LEAST_NORM;
  palmette_rank_solver* solver = NULL;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, &solver) == PALMETTE_OK);
  int32_t dimension = -1, positive = -1, negative = -1, undecided = -1;
  EXPECT(palmette_null_space_over_ranks_d(solver, 1, basis, &dimension) == PALMETTE_OK);
  EXPECT(dimension == 1);
  for (int k = 0; k < rows; ++k) EXPECT(fabs(fabs(basis[k]) - 1 / sqrt(n)) < 1e-12);
  EXPECT(palmette_null_space_over_ranks_z(solver, 1, basis, &dimension) == PALMETTE_USAGE);
  EXPECT(palmette_inertia_over_ranks(solver, &positive, &negative, &undecided) == PALMETTE_OK);
  EXPECT(positive >= n - 1 && positive + negative + undecided == n);
  palmette_report report;
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &columns, &report) == PALMETTE_NOT_VERIFIED);
  EXPECT(report.singular_distance < 1e-14);
  /* x falls by 1 from vertex to vertex, around 0. */
  for (int k = 0; k < rows; ++k) EXPECT(fabs(x[k] - ((n - 1) / 2.0 - (first + k))) < 1e-12);
  for (int k = 0; k < rows; ++k) sum += x[k];
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(fabs(all) < 1e-12);
  palmette_destroy_over_ranks(solver);
  options.singular = PALMETTE_SINGULAR_RAISE;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &columns, &report) == PALMETTE_NUMERICAL);
  palmette_destroy_over_ranks(solver);
}

/* A path with ends: S on both ends of [2 -1; -1 2 ...] is known, and b = A 1 is solved through it. */
static void schur(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[3 * n];
  double values[3 * n], b[n], x[n], g[2], part[4], ends[2];
  int64_t entry = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = first + k;
    b[k] = row == 0 || row == n - 1 ? 1 : 0;
    for (int32_t j = row - 1; j <= row + 1; ++j) {
      if (j < 0 || j >= n) continue;
      column[entry] = j;
      values[entry++] = j == row ? 2 : -1;
    }
    row_ptr[k + 1] = entry;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  const int32_t unknowns[2] = {n - 1, 0};
  palmette_rank_schur_request request = {{2, unknowns}, NULL, 0, ranks - 1, 0, 0, 0};
  palmette_rank_schur* solver = NULL;
  EXPECT(palmette_schur_create_over_ranks_d(&mine, communicator, &request, &solver) == PALMETTE_OK);
  int32_t part_rows = -1, part_cols = -1;
  EXPECT(palmette_schur_part_over_ranks(solver, &part_rows, &part_cols) == PALMETTE_OK);
  EXPECT(part_rows == (rank == ranks - 1 ? 2 : 0) && part_cols == part_rows);
  EXPECT(palmette_schur_complement_over_ranks_z(solver, part) == PALMETTE_USAGE);
  EXPECT(palmette_schur_complement_over_ranks_d(solver, part) == PALMETTE_OK);
  /* The interior of n - 2 = 3 unknowns: its inverse has 3/4 at the ends, and 1/4 between them. */
  if (rank == ranks - 1) EXPECT(fabs(part[0] - 1.25) < 1e-14 && fabs(part[1] + 0.25) < 1e-14);
  const palmette_columns condensed = {1, b, rows, g, 2}, solved = {1, b, rows, x, rows};
  EXPECT(palmette_schur_condense_over_ranks_d(solver, &condensed) == PALMETTE_OK);
  EXPECT(fabs(g[0] - 1) < 1e-14 && fabs(g[1] - 1) < 1e-14);
  /* [5/4 -1/4; -1/4 5/4]^-1 [1; 1] */
  ends[0] = ends[1] = 1;
  EXPECT(palmette_schur_expand_over_ranks_d(solver, ends, 2, &solved) == PALMETTE_OK);
  for (int k = 0; k < rows; ++k) EXPECT(fabs(x[k] - 1) < 1e-14);
  EXPECT(palmette_schur_solve_interior_over_ranks_d(solver, &solved) == PALMETTE_OK);
  for (int k = 0; k < rows; ++k) EXPECT(x[k] == 0);
  EXPECT(palmette_schur_expand_over_ranks_d(solver, NULL, 2, &solved) == PALMETTE_USAGE);
  palmette_destroy_schur_over_ranks(solver);
  palmette_destroy_schur_over_ranks(NULL);
  request.block_cyclic = 1;
  request.block = 1;
  EXPECT(palmette_schur_create_over_ranks_d(&mine, communicator, &request, &solver) == PALMETTE_OK);
  EXPECT(palmette_schur_part_over_ranks(solver, &part_rows, NULL) == PALMETTE_OK);
  EXPECT(ranks == 1 ? part_rows == 2 : part_rows <= 2);
  palmette_destroy_schur_over_ranks(solver);
  request.boundary.num_boundary = -1;
  EXPECT(palmette_schur_create_over_ranks_d(&mine, communicator, &request, &solver) == PALMETTE_USAGE);
  EXPECT(solver == NULL);
}

/* A set of files gives x again, and takes new values; what is wrong with it is said on every rank. */
static void saved(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[2 * n];
  double values[2 * n], b[n], x[n], y[n];
  int64_t entry = 0;
  for (int k = 0; k < rows; ++k) {
    const int row = first + k;
    b[k] = row + 1;
    if (row > 0) {
      column[entry] = row - 1;
      values[entry++] = 1;
    }
    column[entry] = row;
    values[entry++] = 4;
    row_ptr[k + 1] = entry;
  }
  const palmette_rows mine = {n, first, rows, row_ptr, column, values};
  const palmette_columns before = {1, b, rows, x, rows}, after = {1, b, rows, y, rows};
  char path[64], own[80];
  snprintf(path, sizeof path, "palmette_capi_ranks_%d", ranks);
  snprintf(own, sizeof own, "%s.rank%d", path, rank);
  palmette_rank_solver* solver = NULL;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &before, NULL) == PALMETTE_OK);
  EXPECT(palmette_save_over_ranks(solver, path) == PALMETTE_OK);
  EXPECT(palmette_save_over_ranks(solver, "absent/folder") == PALMETTE_IO);
  palmette_destroy_over_ranks(solver);
  EXPECT(palmette_load_over_ranks(path, communicator, NULL, &solver) == PALMETTE_OK);
  int32_t order = 0, first_row = -1, num_rows = -1;
  EXPECT(palmette_rows_over_ranks(solver, &order, &first_row, &num_rows) == PALMETTE_OK);
  EXPECT(order == n && num_rows == rows && (rows == 0 || first_row == first));
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &after, NULL) == PALMETTE_OK);
  EXPECT(memcmp(x, y, rows * sizeof(double)) == 0);
  for (int64_t k = 0; k < entry; ++k) values[k] *= 2;
  EXPECT(palmette_refactor_over_ranks_d(solver, values) == PALMETTE_OK);
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &after, NULL) == PALMETTE_OK);
  for (int k = 0; k < rows; ++k) EXPECT(fabs(2 * y[k] - x[k]) < 1e-14);
  palmette_destroy_over_ranks(solver);
  MPI_Barrier(MPI_COMM_WORLD);
  remove(own);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(palmette_load_over_ranks(path, communicator, NULL, &solver) == PALMETTE_IO && solver == NULL);
  EXPECT(strstr(palmette_last_error(), ".rank0: cannot be read") != NULL);
  EXPECT(palmette_save_over_ranks(NULL, path) == PALMETTE_USAGE);
}

/* diag(1, …, n), made invalid in some way on the last rank. */
static void misuse(int rank, int ranks, int communicator) {
  const int first = first_of(rank, ranks), rows = first_of(rank + 1, ranks) - first;
  int64_t row_ptr[n + 1] = {0};
  int32_t column[n];
  double values[n];
  for (int k = 0; k < rows; ++k) {
    column[k] = first + k;
    values[k] = first + k + 1;
    row_ptr[k + 1] = k + 1;
  }
  palmette_rank_solver* solver = NULL;
  palmette_rows mine = {n, first, rows, row_ptr, column, values};
  palmette_rank_options options;
  palmette_default_rank_options(&options);
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, NULL) == PALMETTE_USAGE);
  options.transport = "telegraph";
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, &options, &solver) == PALMETTE_USAGE &&
         solver == NULL);
  const int last = rank == ranks - 1;
  if (last) column[rows - 1] = n;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) == PALMETTE_USAGE &&
         solver == NULL);
  EXPECT(strstr(palmette_last_error(), "column index 5") != NULL);
  if (last) {
    column[rows - 1] = n - 1;
    values[rows - 1] = 0;
  }
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) == PALMETTE_NUMERICAL &&
         solver == NULL);
  if (last) mine.row_ptr = NULL;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) ==
         (last ? PALMETTE_USAGE : PALMETTE_BROKEN_RUN));
  mine.row_ptr = row_ptr;
  if (last) values[rows - 1] = n;
  EXPECT(palmette_create_over_ranks_d(&mine, communicator, NULL, &solver) == PALMETTE_OK);
  const palmette_columns empty = {0, NULL, 0, NULL, 0};
  EXPECT(palmette_solve_over_ranks_d(solver, PALMETTE_PLAIN, &empty, NULL) == PALMETTE_OK);
  palmette_destroy_over_ranks(solver);
  palmette_destroy_over_ranks(NULL);
  EXPECT(palmette_solve_over_ranks_d(NULL, PALMETTE_PLAIN, &empty, NULL) == PALMETTE_USAGE);
  EXPECT(palmette_rank_report_json(NULL) == NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int communicator = MPI_Comm_c2f(MPI_COMM_WORLD);
  complex_systems(rank, ranks, communicator);
  devices(rank, ranks, communicator);
  triangles(ranks, communicator);
  saved(rank, ranks, communicator);
  updated(rank, ranks, communicator);
  entries_of_a_solution(rank, ranks, communicator);
  schur(rank, ranks, communicator);
  singular(rank, ranks, communicator);
  misuse(rank, ranks, communicator);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
