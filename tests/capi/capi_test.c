/* The C interface, used as a C program would: solves, refactors, transposes, complex matrices, and every kind
 * of error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "palmette/capi/palmette.h"

static int failures = 0;

#define EXPECT(condition)                                                              \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      printf("%s:%d: not true: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
             palmette_last_error());                                                   \
      ++failures;                                                                      \
    }                                                                                  \
  } while (0)

/* A = [4 1 0; 2 5 1; 0 3 6] by columns. A·(1, 1, 1) = (5, 8, 9); Aᵀ·(1, 1, 1) = (6, 9, 7). */
static const int64_t column_ptr[] = {0, 2, 5, 7};
static const int32_t row_index[] = {0, 1, 0, 1, 2, 1, 2};
static const double values[] = {4, 2, 1, 5, 3, 1, 6};

static int near(double value, double expected) { return fabs(value - expected) <= 1e-13; }

static void solves_and_refactors(void) {
  palmette_solver* solver = NULL;
  palmette_report report;
  const double b[] = {5, 8, 9, 10, 16, 18};
  const double bt[] = {6, 9, 7};
  double x[6], doubled[7];
  int k;
  EXPECT(palmette_create_d(3, column_ptr, row_index, values, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_size(solver) == 3 && !palmette_is_complex(solver));
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 2, b, 3, x, 3, &report) == PALMETTE_OK);
  for (k = 0; k < 6; ++k) EXPECT(near(x[k], k < 3 ? 1 : 2));
  EXPECT(report.verified && report.kind == PALMETTE_LU && report.backward_error <= 1e-14);
  EXPECT(isnan(report.condition_1norm));
  EXPECT(palmette_solve_d(solver, PALMETTE_TRANSPOSE, 1, bt, 3, x, 3, NULL) == PALMETTE_OK);
  for (k = 0; k < 3; ++k) EXPECT(near(x[k], 1));
  for (k = 0; k < 7; ++k) doubled[k] = 2 * values[k];
  EXPECT(palmette_refactor_d(solver, doubled) == PALMETTE_OK);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 3, x, 3, NULL) == PALMETTE_OK);
  for (k = 0; k < 3; ++k) EXPECT(near(x[k], 0.5));
  EXPECT(palmette_solve_z(solver, PALMETTE_PLAIN, 1, b, 3, x, 3, NULL) == PALMETTE_USAGE);
  EXPECT(strstr(palmette_last_error(), "_d") != NULL);
  palmette_destroy(solver);
}

/* Hermitian, lower triangle: [2, -i; i, 3] (entry (1, 0) = i). A·(1, 1) = (2 - i, 3 + i). */
static void solves_a_hermitian_matrix(void) {
  const int64_t ptr[] = {0, 2, 3};
  const int32_t rows[] = {0, 1, 1};
  const double entries[] = {2, 0, 0, 1, 3, 0};
  const double b[] = {2, -1, 3, 1};
  double x[4];
  palmette_options options;
  palmette_report report;
  palmette_solver* solver = NULL;
  palmette_default_options(&options);
  options.condition = 1;
  options.threads = 1;
  EXPECT(palmette_create_z(2, ptr, rows, entries, PALMETTE_LOWER_HERMITIAN, &options, &solver) ==
         PALMETTE_OK);
  EXPECT(palmette_is_complex(solver));
  EXPECT(palmette_solve_z(solver, PALMETTE_ADJOINT, 1, b, 2, x, 2, &report) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 0) && near(x[2], 1) && near(x[3], 0));
  EXPECT(report.kind == PALMETTE_LLT && report.condition_1norm >= 1 && report.forward_error_bound < 1e-12);
  palmette_destroy(solver);
}

/* det A = 96; the diagonal of the adjugate is (27, 24, 18), its entry (0, 2) is 1. */
static void entries_of_the_inverse_are_found(void) {
  const int32_t rows[] = {0, 1, 2, 0}, columns[] = {0, 1, 2, 2}, outside[] = {0, 1, 3, 0};
  double found[4];
  palmette_solver* solver = NULL;
  EXPECT(palmette_create_d(3, column_ptr, row_index, values, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_inverse_entries_d(solver, 4, rows, columns, found) == PALMETTE_OK);
  EXPECT(near(found[0], 27.0 / 96) && near(found[1], 0.25) && near(found[2], 18.0 / 96));
  EXPECT(near(found[3], 1.0 / 96));
  EXPECT(palmette_inverse_entries_d(solver, 0, NULL, NULL, NULL) == PALMETTE_OK);
  EXPECT(palmette_inverse_entries_d(solver, 4, outside, columns, found) == PALMETTE_USAGE);
  EXPECT(strstr(palmette_last_error(), "outside") != NULL);
  EXPECT(palmette_inverse_entries_d(solver, -1, rows, columns, found) == PALMETTE_USAGE);
  EXPECT(palmette_inverse_entries_d(solver, 4, NULL, columns, found) == PALMETTE_USAGE);
  EXPECT(palmette_inverse_entries_z(solver, 4, rows, columns, found) == PALMETTE_USAGE);
  palmette_destroy(solver);
}

/* Columns of the inverse by sparse right-hand sides; an entry given twice is summed. */
static void entries_of_a_solution_are_found(void) {
  const int32_t row[] = {2, 2}, wanted[] = {0, 2, 0}, outside[] = {3};
  const double value[] = {64, 32};
  palmette_entries entries = {2, row, value, 3, wanted};
  double found[6];
  palmette_solver* solver = NULL;
  EXPECT(palmette_create_d(3, column_ptr, row_index, values, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_entries_d(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_OK);
  EXPECT(near(found[0], 1) && near(found[1], 18) && near(found[2], 1));
  EXPECT(palmette_solve_entries_d(solver, PALMETTE_TRANSPOSE, &entries, found) == PALMETTE_OK);
  EXPECT(palmette_inverse_entries_d(solver, 1, row, wanted, found + 3) == PALMETTE_OK);
  EXPECT(near(found[0], 96 * found[3]) && near(found[1], 18));
  entries.num_entries = 0;
  EXPECT(palmette_solve_entries_d(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_OK);
  EXPECT(found[0] == 0 && found[1] == 0);
  entries.num_entries = 2;
  entries.wanted = outside;
  entries.num_wanted = 1;
  EXPECT(palmette_solve_entries_d(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_USAGE);
  entries.wanted = NULL;
  EXPECT(palmette_solve_entries_d(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_USAGE);
  EXPECT(palmette_solve_entries_d(solver, PALMETTE_PLAIN, NULL, found) == PALMETTE_USAGE);
  entries.wanted = wanted;
  EXPECT(palmette_solve_entries_z(solver, PALMETTE_PLAIN, &entries, found) == PALMETTE_USAGE);
  palmette_destroy(solver);
}

/* The Laplacian of a path of three: its null vector is (1, 1, 1). The shortest solution for b = (1, 0, 0)
 * solves for b - 1/3. */
static void singular_systems_are_answered_as_asked(void) {
  const int64_t ptr[] = {0, 2, 5, 7};
  const int32_t rows[] = {0, 1, 0, 1, 2, 1, 2};
  const double path[] = {1, -1, -1, 2, -1, -1, 1};
  const double b[] = {1, 0, 0};
  double x[3] = {0, 0, 0};
  palmette_options options;
  palmette_report report;
  palmette_solver* solver = NULL;
  palmette_default_options(&options);
  EXPECT(options.singular == PALMETTE_SINGULAR_RAISE);
  EXPECT(palmette_create_d(3, ptr, rows, path, PALMETTE_FULL, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 3, x, 3, &report) == PALMETTE_NUMERICAL);
  palmette_destroy(solver);
  options.singular = PALMETTE_SINGULAR_LEAST_NORM;
  EXPECT(palmette_create_d(3, ptr, rows, path, PALMETTE_FULL, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 3, x, 3, &report) == PALMETTE_NOT_VERIFIED);
  EXPECT(strstr(palmette_last_error(), "singular") != NULL);
  EXPECT(near(x[0], 5.0 / 9) && near(x[1], -1.0 / 9) && near(x[2], -4.0 / 9));
  EXPECT(!report.verified && report.null_directions == 1 && report.singular_distance < 1e-14 &&
         report.least_squares_error < 1e-14);
  palmette_destroy(solver);
  options.singular = PALMETTE_SINGULAR_WARN;
  EXPECT(palmette_create_d(3, ptr, rows, path, PALMETTE_FULL, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 3, x, 3, &report) == PALMETTE_NOT_VERIFIED);
  EXPECT(!report.verified && report.backward_error < 1e-14 && (x[0] > 1e12 || x[0] < -1e12));
  palmette_destroy(solver);
  options.singular = (palmette_singular)7;
  EXPECT(palmette_create_d(3, ptr, rows, path, PALMETTE_FULL, &options, &solver) == PALMETTE_USAGE);
}

static void errors_name_their_place(void) {
  const int32_t bad_rows[] = {0, 7, 0, 1, 2, 1, 2};
  const double singular[] = {0, 0, 1, 5, 3, 1, 6};
  const double not_finite[] = {4, 2, NAN, 5, 3, 1, 6};
  double b[3] = {1, 1, 1}, x[3];
  int64_t row = 5, column = 5;
  palmette_options options;
  palmette_solver* solver = (palmette_solver*)&options;
  EXPECT(palmette_create_d(3, column_ptr, bad_rows, values, PALMETTE_FULL, NULL, &solver) == PALMETTE_USAGE);
  EXPECT(solver == NULL && strlen(palmette_last_error()) > 0);
  EXPECT(palmette_create_d(-1, column_ptr, row_index, values, PALMETTE_FULL, NULL, &solver) ==
         PALMETTE_USAGE);
  EXPECT(palmette_create_d(3, NULL, row_index, values, PALMETTE_FULL, NULL, &solver) == PALMETTE_USAGE);
  EXPECT(palmette_create_d(3, column_ptr, row_index, not_finite, PALMETTE_FULL, NULL, &solver) ==
         PALMETTE_USAGE);
  EXPECT(palmette_create_d(3, column_ptr, row_index, singular, PALMETTE_FULL, NULL, &solver) ==
         PALMETTE_NUMERICAL);
  palmette_last_error_place(&row, &column);
  EXPECT(column == 0);
  palmette_default_options(&options);
  options.method = "no_such_method";
  EXPECT(palmette_create_d(3, column_ptr, row_index, values, PALMETTE_FULL, &options, &solver) ==
         PALMETTE_USAGE);
  EXPECT(palmette_create_from_file("no/such/file.mtx", NULL, &solver) == PALMETTE_IO);
  EXPECT(strstr(palmette_last_error(), "no/such/file.mtx") != NULL);
  EXPECT(palmette_solve_d(NULL, PALMETTE_PLAIN, 1, b, 3, x, 3, NULL) == PALMETTE_USAGE);
  EXPECT(palmette_create_d(3, column_ptr, row_index, values, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(strcmp(palmette_last_error(), "") == 0);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 2, x, 3, NULL) == PALMETTE_USAGE);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, NULL, 3, x, 3, NULL) == PALMETTE_USAGE);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 0, NULL, 3, NULL, 3, NULL) == PALMETTE_OK);
  palmette_destroy(solver);
  palmette_destroy(NULL);
}

static void empty_matrix_is_solved(void) {
  const int64_t ptr[] = {0};
  palmette_solver* solver = NULL;
  EXPECT(palmette_create_d(0, ptr, NULL, NULL, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 3, NULL, 0, NULL, 0, NULL) == PALMETTE_OK);
  palmette_destroy(solver);
}

/* Arrays that are overwritten after the call; refactor then takes values in the order of the arrays as they
 * were. */
static void arrays_stay_the_callers(palmette_storage storage, int in_order) {
  /* The matrix above, or [4 2 0; 2 5 3; 0 3 6] by its lower triangle: A·(1, 1, 1) = (6, 10, 9). */
  int64_t ptr[] = {0, 2, 5, 7}, lower_ptr[] = {0, 2, 4, 5};
  int32_t rows[] = {0, 1, 0, 1, 2, 1, 2}, unordered[] = {1, 0, 2, 0, 1, 2, 1}, lower_rows[] = {1, 0, 1, 2, 2};
  double entries[] = {4, 2, 1, 5, 3, 1, 6}, unordered_entries[] = {2, 4, 3, 1, 5, 6, 1},
         lower_entries[] = {2, 4, 5, 3, 6};
  const int full = storage == PALMETTE_FULL;
  int64_t* const p = full ? ptr : lower_ptr;
  int32_t* const r = !full ? lower_rows : in_order ? rows : unordered;
  double* const v = !full ? lower_entries : in_order ? entries : unordered_entries;
  const int nnz = full ? 7 : 5;
  double b[] = {5, 8, 9}, symmetric_b[] = {6, 10, 9}, x[3], kept[7];
  palmette_solver* solver = NULL;
  EXPECT(palmette_create_d(3, p, r, v, storage, NULL, &solver) == PALMETTE_OK);
  for (int k = 0; k < nnz; ++k) {
    kept[k] = v[k];
    v[k] = -1e300;
    r[k] = 77;
  }
  for (int k = 0; k < 4; ++k) p[k] = -5;
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, full ? b : symmetric_b, 3, x, 3, NULL) == PALMETTE_OK);
    for (int k = 0; k < 3; ++k) EXPECT(near(x[k], 1));
    EXPECT(palmette_refactor_d(solver, kept) == PALMETTE_OK);
    if (turn == 0) continue;
    for (int k = 0; k < nnz; ++k) kept[k] = 0;
  }
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, full ? b : symmetric_b, 3, x, 3, NULL) == PALMETTE_OK);
  for (int k = 0; k < 3; ++k) EXPECT(near(x[k], 1));
  palmette_destroy(solver);
}

/* Solving with each factor in turn, in permuted order, solves the system. */
static void half_solves(palmette_kind kind) {
  /* [4 2 0; 2 5 3; 0 3 6]: A·(1, 2, 3) = (8, 21, 24). */
  const int64_t ptr[] = {0, 2, 5, 7};
  const int32_t rows[] = {0, 1, 0, 1, 2, 1, 2};
  const double entries[] = {4, 2, 2, 5, 3, 3, 6};
  const double b[] = {8, 21, 24};
  double y[3], x[3];
  int32_t row[3], column[3];
  palmette_options options;
  palmette_solver* solver = NULL;
  palmette_default_options(&options);
  options.kind = kind;
  EXPECT(palmette_create_d(3, ptr, rows, entries, PALMETTE_FULL, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_factor_order(solver, row, column) == PALMETTE_OK);
  for (int k = 0; k < 3; ++k) y[k] = b[row[k]];
  EXPECT(palmette_solve_part_d(solver, PALMETTE_PART_L, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_OK);
  if (kind == PALMETTE_LU) {
    EXPECT(palmette_solve_part_d(solver, PALMETTE_PART_U, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_OK);
    EXPECT(palmette_solve_part_d(solver, PALMETTE_PART_D, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_USAGE);
  } else {
    EXPECT(palmette_solve_part_d(solver, PALMETTE_PART_D, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_OK);
    EXPECT(palmette_solve_part_d(solver, PALMETTE_PART_L, PALMETTE_TRANSPOSE, 1, y, 3, y, 3) == PALMETTE_OK);
    EXPECT(palmette_solve_part_d(solver, PALMETTE_PART_U, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_USAGE);
  }
  for (int k = 0; k < 3; ++k) x[column[k]] = y[k];
  for (int k = 0; k < 3; ++k) EXPECT(near(x[k], k + 1));
  EXPECT(palmette_solve_part_d(solver, (palmette_part)9, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_USAGE);
  EXPECT(palmette_solve_part_z(solver, PALMETTE_PART_L, PALMETTE_PLAIN, 1, y, 3, y, 3) == PALMETTE_USAGE);
  EXPECT(palmette_factor_order(NULL, row, column) == PALMETTE_USAGE);
  palmette_destroy(solver);
}

static void inertia_and_null_space_are_found(void) {
  /* [1 -1; -1 1] has the eigenvalues 0 and 2, and the null vector (1, 1) / sqrt 2. */
  const int64_t ptr[] = {0, 2, 4};
  const int32_t rows[] = {0, 1, 0, 1};
  const double entries[] = {1, -1, -1, 1};
  int32_t positive = -1, negative = -1, undecided = -1, dimension = -1;
  double basis[4] = {9, 9, 9, 9};
  palmette_options options;
  palmette_solver* solver = NULL;
  palmette_default_options(&options);
  options.kind = PALMETTE_LDLT;
  EXPECT(palmette_create_d(2, ptr, rows, entries, PALMETTE_FULL, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_inertia(solver, &positive, &negative, &undecided) == PALMETTE_OK);
  EXPECT(positive == 1 && negative == 0 && undecided == 1);
  EXPECT(palmette_inertia(solver, NULL, &negative, &undecided) == PALMETTE_USAGE);
  EXPECT(palmette_null_space_d(solver, 0, NULL, &dimension) == PALMETTE_OK && dimension == 1);
  EXPECT(palmette_null_space_d(solver, 2, basis, &dimension) == PALMETTE_OK && dimension == 1);
  EXPECT(near(basis[0] * basis[0], 0.5) && near(basis[0] - basis[1], 0) && basis[2] == 9);
  EXPECT(palmette_null_space_d(solver, 1, NULL, &dimension) == PALMETTE_USAGE);
  EXPECT(palmette_null_space_z(solver, 1, basis, &dimension) == PALMETTE_USAGE);
  palmette_destroy(solver);
}

static void updates_of_low_rank_are_solved(void) {
  /* diag(2, 4) + (0, 1)'(1, 0) = [2 0; 1 4]: x = (1, 1) for b = (2, 5). */
  const int64_t ptr[] = {0, 1, 2};
  const int32_t rows[] = {0, 1};
  const double entries[] = {2, 4}, u[] = {0, 1}, v[] = {1, 0}, w[] = {-2, 0}, b[] = {2, 5};
  double x[2], error = -1;
  palmette_change change = {1, u, 2, v, 2};
  const palmette_columns columns = {1, b, 2, x, 2};
  palmette_solver* solver = NULL;
  palmette_updated* updated = NULL;
  EXPECT(palmette_create_d(2, ptr, rows, entries, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_update_d(solver, &change, &updated) == PALMETTE_OK);
  palmette_destroy(solver);
  EXPECT(palmette_solve_updated_d(updated, PALMETTE_PLAIN, &columns, &error) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 1) && error >= 0 && error < 1e-15);
  EXPECT(palmette_solve_updated_z(updated, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_USAGE);
  palmette_destroy_updated(updated);
  palmette_destroy_updated(NULL);
  /* diag(2, 4) - 2 (1, 0)'(1, 0) is singular. */
  EXPECT(palmette_create_d(2, ptr, rows, entries, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  change.u = w;
  EXPECT(palmette_update_d(solver, &change, &updated) == PALMETTE_NUMERICAL && updated == NULL);
  EXPECT(strstr(palmette_last_error(), "capacitance") != NULL);
  change.u = NULL;
  EXPECT(palmette_update_d(solver, &change, &updated) == PALMETTE_USAGE);
  palmette_destroy(solver);
}

static void factors_are_updated(void) {
  /* [4 1; 1 4] + (1, 1)'(1, 1) = [5 2; 2 5]: x = (1, 1) for b = (7, 7). */
  const int64_t ptr[] = {0, 2, 4}, one[] = {0, 2}, reversed[] = {2, 0};
  const int32_t rows[] = {0, 1, 0, 1}, both[] = {1, 0};
  const double entries[] = {4, 1, 1, 4}, w[] = {1, 1}, large[] = {3, 3}, b[] = {7, 7};
  double x[2];
  palmette_sparse_columns columns = {1, one, both, w};
  palmette_options options;
  palmette_solver* solver = NULL;
  palmette_default_options(&options);
  options.kind = PALMETTE_LLT;
  EXPECT(palmette_create_d(2, ptr, rows, entries, PALMETTE_FULL, &options, &solver) == PALMETTE_OK);
  EXPECT(palmette_update_factor_d(solver, &columns, 0) == PALMETTE_OK);
  EXPECT(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b, 2, x, 2, NULL) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 1));
  EXPECT(palmette_update_factor_z(solver, &columns, 0) == PALMETTE_USAGE);
  columns.values = large;
  EXPECT(palmette_update_factor_d(solver, &columns, 1) == PALMETTE_NUMERICAL);
  EXPECT(strstr(palmette_last_error(), "not positive definite") != NULL);
  columns.column_ptr = reversed;
  EXPECT(palmette_update_factor_d(solver, &columns, 1) == PALMETTE_USAGE);
  columns.column_ptr = NULL;
  EXPECT(palmette_update_factor_d(solver, &columns, 1) == PALMETTE_USAGE);
  columns.column_ptr = one;
  columns.values = w;
  EXPECT(palmette_update_factor_d(solver, &columns, 1) == PALMETTE_OK);
  EXPECT(palmette_refactor_d(solver, entries) == PALMETTE_OK);
  palmette_destroy(solver);
}

static void schur_complements_are_found(void) {
  /* [2 -1 0; -1 2 -1; 0 -1 2] on the unknowns 2 and 0: [1.5 -0.5; -0.5 1.5]; A (1, 1, 1) = (1, 0, 1). */
  const int64_t ptr[] = {0, 2, 5, 7};
  const int32_t rows[] = {0, 1, 0, 1, 2, 1, 2}, unknowns[] = {2, 0};
  const double entries[] = {2, -1, -1, 2, -1, -1, 2}, b[] = {1, 0, 1}, part[] = {1, 1};
  double s[4], g[2], x[3];
  const palmette_arrays arrays = {3, ptr, rows, entries, PALMETTE_FULL};
  palmette_boundary boundary = {2, unknowns};
  const palmette_columns condensed = {1, b, 3, g, 2}, whole = {1, b, 3, x, 3};
  palmette_schur* schur = NULL;
  EXPECT(palmette_schur_create_d(&arrays, &boundary, NULL, &schur) == PALMETTE_OK);
  EXPECT(palmette_schur_complement_d(schur, s) == PALMETTE_OK);
  EXPECT(near(s[0], 1.5) && near(s[1], -0.5) && near(s[2], -0.5) && near(s[3], 1.5));
  EXPECT(palmette_schur_condense_d(schur, &condensed) == PALMETTE_OK);
  EXPECT(near(g[0], 1) && near(g[1], 1));
  EXPECT(palmette_schur_expand_d(schur, part, 2, &whole) == PALMETTE_OK);
  for (int k = 0; k < 3; ++k) EXPECT(near(x[k], 1));
  EXPECT(palmette_schur_solve_interior_d(schur, &whole) == PALMETTE_OK);
  EXPECT(near(x[0], 0) && near(x[1], 0) && near(x[2], 0));
  EXPECT(palmette_schur_complement_z(schur, s) == PALMETTE_USAGE);
  EXPECT(palmette_schur_expand_d(schur, part, 1, &whole) == PALMETTE_USAGE);
  palmette_destroy_schur(schur);
  palmette_destroy_schur(NULL);
  boundary.num_boundary = -1;
  EXPECT(palmette_schur_create_d(&arrays, &boundary, NULL, &schur) == PALMETTE_USAGE && schur == NULL);
}

static void a_saved_solver_is_the_same(void) {
  const int64_t ptr[] = {0, 2, 4};
  const int32_t rows[] = {0, 1, 0, 1};
  const double entries[] = {2, 1, 1, 3}, b[] = {3, 4}, more[] = {4, 2, 2, 6};
  const char* path = "capi_test.factors";
  double x[2];
  palmette_options options;
  palmette_report report;
  palmette_solver* solver = NULL;
  palmette_solver* again = NULL;
  EXPECT(palmette_create_d(2, ptr, rows, entries, PALMETTE_FULL, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_save(solver, path) == PALMETTE_OK);
  EXPECT(palmette_load(path, NULL, &again) == PALMETTE_OK);
  EXPECT(palmette_size(again) == 2 && !palmette_is_complex(again));
  EXPECT(palmette_solve_d(again, PALMETTE_PLAIN, 1, b, 2, x, 2, NULL) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 1));
  EXPECT(palmette_refactor_d(again, more) == PALMETTE_OK);
  EXPECT(palmette_solve_d(again, PALMETTE_PLAIN, 1, b, 2, x, 2, NULL) == PALMETTE_OK);
  EXPECT(near(x[0], 0.5) && near(x[1], 0.5));
  palmette_destroy(again);
  palmette_default_options(&options);
  options.memory_budget = 1000000; /* this factor is so thin that it is kept in memory */
  EXPECT(palmette_load(path, &options, &again) == PALMETTE_OK);
  EXPECT(palmette_solve_d(again, PALMETTE_PLAIN, 1, b, 2, x, 2, &report) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 1) && report.file_bytes != report.file_bytes);
  palmette_destroy(again);
  options.memory_budget = 1;
  EXPECT(palmette_load(path, &options, &again) == PALMETTE_USAGE && again == NULL);
  EXPECT(strstr(palmette_last_error(), "give at least") != NULL);
  options.memory_budget = -1;
  EXPECT(palmette_load(path, &options, &again) == PALMETTE_USAGE);
  EXPECT(palmette_load("absent.factors", NULL, &again) == PALMETTE_IO && again == NULL);
  EXPECT(strstr(palmette_last_error(), "absent.factors: cannot be read") != NULL);
  EXPECT(palmette_save(solver, "absent/factors") == PALMETTE_IO);
  EXPECT(palmette_save(NULL, path) == PALMETTE_USAGE && palmette_load(NULL, NULL, &again) == PALMETTE_USAGE);
  palmette_destroy(solver);
  remove(path);
}

/* T = [2 0; 1 4]. A = 2·[1 0; 3 1]·[2 1; 0 5] with its rows exchanged: [12 16; 4 2]. */
static void triangles_and_factors_are_solved(void) {
  const int64_t ptr[] = {0, 2, 3}, upper_ptr[] = {0, 1, 3}, whole_ptr[] = {0, 2, 4};
  const int32_t rows[] = {0, 1, 1}, upper_rows[] = {0, 0, 1}, whole_rows[] = {0, 1, 0, 1};
  const double lower[] = {2, 1, 4}, l[] = {1, 3, 1}, u[] = {2, 1, 5}, a[] = {12, 4, 16, 2};
  const double none[] = {0, 1, 4};
  double x[] = {2, 9};
  const palmette_columns columns = {1, x, 2, x, 2};
  palmette_triangle triangle = {{2, ptr, rows, lower, PALMETTE_FULL}, 0, 0, 0};
  palmette_triangular* solver = NULL;
  palmette_report report;
  EXPECT(palmette_triangular_create_d(&triangle, NULL, &solver) == PALMETTE_OK);
  EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &columns, &report) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 2) && report.verified && report.nnz_factor == 0);
  EXPECT(report.factorize_seconds != report.factorize_seconds);
  EXPECT(palmette_triangular_solve_d(solver, PALMETTE_TRANSPOSE, &columns, NULL) == PALMETTE_OK);
  EXPECT(near(x[0], 0.25) && near(x[1], 0.5)); /* 2 x0 + x1 = 1, 4 x1 = 2 */
  EXPECT(palmette_triangular_solve_z(solver, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_USAGE);
  EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, NULL, NULL) == PALMETTE_USAGE);
  palmette_triangular_destroy(solver);
  palmette_triangular_destroy(NULL);
  triangle.upper = 1; /* only the diagonal: entries on the other side are ignored */
  EXPECT(palmette_triangular_create_d(&triangle, NULL, &solver) == PALMETTE_OK);
  x[0] = x[1] = 4;
  EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_OK);
  EXPECT(near(x[0], 2) && near(x[1], 1));
  palmette_triangular_destroy(solver);
  triangle.entries.values = none;
  EXPECT(palmette_triangular_create_d(&triangle, NULL, &solver) == PALMETTE_NUMERICAL && solver == NULL);
  palmette_options options;
  palmette_default_options(&options);
  options.device_rows = 2;
  triangle.entries.values = lower;
  EXPECT(palmette_triangular_create_d(&triangle, &options, &solver) == PALMETTE_USAGE);
  options.device_layers = 2;
  EXPECT(palmette_triangular_create_d(&triangle, &options, &solver) == PALMETTE_USAGE);
  EXPECT(palmette_triangular_create_d(NULL, NULL, &solver) == PALMETTE_USAGE);
  triangle.entries.storage = PALMETTE_LOWER_SYMMETRIC;
  EXPECT(palmette_triangular_create_d(&triangle, NULL, &solver) == PALMETTE_USAGE && solver == NULL);
  EXPECT(strstr(palmette_last_error(), "is not PALMETTE_FULL") != NULL);
  triangle.entries.storage = PALMETTE_FULL;
  triangle.tasks_per_device = -1;
  EXPECT(palmette_triangular_create_d(&triangle, NULL, &solver) == PALMETTE_USAGE);

  const int32_t exchanged[] = {1, 0};
  const double halves[] = {0.5, 0.5};
  const palmette_arrays matrix = {2, whole_ptr, whole_rows, a, PALMETTE_FULL};
  palmette_factors factors = {{2, ptr, rows, l, PALMETTE_FULL}, {2, upper_ptr, upper_rows, u, PALMETTE_FULL},
                              exchanged, NULL, halves, NULL, 0, 0, 0, NULL, 0};
  for (int known = 0; known < 2; ++known) {
    factors.matrix = known ? &matrix : NULL;
    EXPECT(palmette_triangular_from_factors_d(&factors, NULL, &solver) == PALMETTE_OK);
    x[0] = 28, x[1] = 6;
    EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &columns, &report) == PALMETTE_OK);
    EXPECT(near(x[0], 1) && near(x[1], 1) && report.verified);
    palmette_triangular_destroy(solver);
  }
  palmette_arrays* const given[] = {&factors.lower, &factors.upper};
  for (int k = 0; k < 2; ++k) {
    given[k]->storage = PALMETTE_LOWER_HERMITIAN;
    EXPECT(palmette_triangular_from_factors_d(&factors, NULL, &solver) == PALMETTE_USAGE && solver == NULL);
    EXPECT(strstr(palmette_last_error(), "is not PALMETTE_FULL") != NULL);
    given[k]->storage = PALMETTE_FULL;
  }
  factors.upper.column_ptr = NULL; /* L·Lᵀ = [1 3; 3 10], twice, rows exchanged */
  factors.matrix = NULL;
  EXPECT(palmette_triangular_from_factors_d(&factors, NULL, &solver) == PALMETTE_OK);
  x[0] = 26, x[1] = 8;
  EXPECT(palmette_triangular_solve_d(solver, PALMETTE_PLAIN, &columns, NULL) == PALMETTE_OK);
  EXPECT(near(x[0], 1) && near(x[1], 1));
  palmette_triangular_destroy(solver);
  factors.lower.values = none;
  EXPECT(palmette_triangular_from_factors_d(&factors, NULL, &solver) == PALMETTE_NUMERICAL && solver == NULL);
  EXPECT(palmette_triangular_from_factors_d(NULL, NULL, &solver) == PALMETTE_USAGE);
}

static void batches_are_solved(void) {
  const int64_t ptr[] = {0, 2, 4};
  const int32_t rows[] = {0, 1, 0, 1};
  const int32_t unsorted[] = {1, 0, 0, 1};
  /* Regular, regular, singular. */
  const double values[] = {2, 1, 1, 3, 4, 1, 1, 2, 1, 1, 1, 1};
  double x[] = {3, 4, 5, 3, 1, 2}, error[3];
  int32_t state[3];
  const palmette_batch_systems systems = {3, 1, values, x, x, error, state};
  const palmette_batch_pattern pattern = {2, ptr, rows, values}, bad = {2, ptr, unsorted, values};
  palmette_batch* batch = NULL;
  EXPECT(palmette_batch_create_d(&bad, NULL, &batch) == PALMETTE_USAGE && batch == NULL);
  EXPECT(palmette_batch_create_d(NULL, NULL, &batch) == PALMETTE_USAGE);
  EXPECT(palmette_batch_create_d(&pattern, NULL, &batch) == PALMETTE_OK);
  EXPECT(palmette_batch_solve_z(batch, &systems) == PALMETTE_USAGE);
  EXPECT(palmette_batch_solve_d(batch, &systems) == PALMETTE_NOT_VERIFIED);
  for (int k = 0; k < 4; ++k) EXPECT(near(x[k], 1));
  EXPECT(state[0] == PALMETTE_BATCH_SOLVED && state[1] == PALMETTE_BATCH_SOLVED);
  EXPECT(state[2] == PALMETTE_BATCH_SINGULAR && x[4] != x[4] && error[0] < 1e-15);
  EXPECT(palmette_batch_solve_d(batch, NULL) == PALMETTE_USAGE);
  palmette_batch_destroy(batch);
  palmette_batch_destroy(NULL);
}

int main(void) {
  a_saved_solver_is_the_same();
  batches_are_solved();
  triangles_and_factors_are_solved();
  solves_and_refactors();
  half_solves(PALMETTE_LLT);
  half_solves(PALMETTE_LDLT);
  half_solves(PALMETTE_LU);
  arrays_stay_the_callers(PALMETTE_FULL, 1);
  arrays_stay_the_callers(PALMETTE_FULL, 0);
  arrays_stay_the_callers(PALMETTE_LOWER_SYMMETRIC, 0);
  solves_a_hermitian_matrix();
  entries_of_the_inverse_are_found();
  entries_of_a_solution_are_found();
  inertia_and_null_space_are_found();
  updates_of_low_rank_are_solved();
  factors_are_updated();
  schur_complements_are_found();
  singular_systems_are_answered_as_asked();
  errors_name_their_place();
  empty_matrix_is_solved();
  printf("%s, version %s\n", failures == 0 ? "passed" : "FAILED", palmette_version());
  return failures == 0 ? 0 : 1;
}
