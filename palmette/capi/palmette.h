/* Palmette from C: solve sparse linear systems, verified. Opaque handles, status codes, no globals beyond the last
 * error of each thread. Doubles (_d) and double complex (_z, real and imaginary parts interleaved).
 *
 * Every function returns a palmette_status; what went wrong is in palmette_last_error(). Indices count from 0.
 * Handles may be used by several threads at once for solves, by one for everything else. */
#ifndef PALMETTE_H
#define PALMETTE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  PALMETTE_OK = 0,            /* for solves: solved and verified */
  PALMETTE_USAGE = 2,         /* misuse: a size, an index, an option, a value that is not finite */
  PALMETTE_IO = 3,            /* a file could not be read or understood */
  PALMETTE_NUMERICAL = 4,     /* singular, or not positive definite where that was demanded */
  PALMETTE_MEMORY = 5,        /* out of memory */
  PALMETTE_NOT_VERIFIED = 6,  /* x was computed, but its backward error exceeds the bound */
  PALMETTE_INTERNAL = 7       /* a defect of Palmette: please report it */
} palmette_status;

/* The ..._MAX entries make every non-negative int a value of its enum, so that wrong ones can be refused rather than be
 * undefined behaviour. */
typedef enum {
  PALMETTE_KIND_AUTO = 0,
  PALMETTE_LLT = 1,
  PALMETTE_LDLT = 2,
  PALMETTE_LU = 3,
  PALMETTE_KIND_MAX = 0x7fffffff
} palmette_kind;
typedef enum {
  PALMETTE_PLAIN = 0,
  PALMETTE_TRANSPOSE = 1,
  PALMETTE_ADJOINT = 2,
  PALMETTE_OPERATION_MAX = 0x7fffffff
} palmette_operation;
/* Which entries of A are handed over: all of them, or the lower triangle of a symmetric or Hermitian matrix. */
typedef enum {
  PALMETTE_FULL = 0,
  PALMETTE_LOWER_SYMMETRIC = 1,
  PALMETTE_LOWER_HERMITIAN = 2,
  PALMETTE_STORAGE_MAX = 0x7fffffff
} palmette_storage;

/* Fill with palmette_default_options, then change what you like. */
typedef struct {
  palmette_kind kind;       /* default PALMETTE_KIND_AUTO */
  const char* ordering;     /* "auto" (default), "amd", "nd", "metis", "scotch", "natural" */
  const char* method;       /* "auto" (default), "serial", "level_set", "sync_free", "task_driven" */
  int threads;              /* 0 (default): all processors that the process may use */
  int mixed_precision;      /* nonzero: factor in single precision, refine to double */
  int measure;              /* nonzero: measure the machine's bandwidth for the report; default 0 */
  int max_refine_steps;     /* -1 (default): as needed; 0: none; N: up to N */
  int condition;            /* nonzero: estimate condition and forward error bound; default 0 */
} palmette_options;

/* Figures of the last solve; NAN where not known. */
typedef struct {
  palmette_kind kind;
  int threads;
  int refine_steps;
  int verified;
  int64_t nnz_factor;
  int64_t perturbed_pivots;
  int64_t memory_bytes_predicted;
  double factorize_seconds;
  double solve_seconds;
  double bandwidth_gbs;
  double roofline_fraction;
  double backward_error;
  double componentwise_backward_error;
  double condition_1norm;
  double forward_error_bound;
} palmette_report;

typedef struct palmette_solver palmette_solver;

void palmette_default_options(palmette_options* options);
const char* palmette_version(void);

/* The message of this thread's last failure, "" if there was none; valid until this thread's next call. */
const char* palmette_last_error(void);
/* Row and column of that failure, -1 where it has none. */
void palmette_last_error_place(int64_t* row, int64_t* column);

/* Order, analyze and factorize an n x n matrix in compressed sparse columns.
 * column_ptr: n + 1; row_index, values: column_ptr[n] (values: twice that many doubles for _z). Any order within a column,
 * duplicates are summed. The arrays are copied. options may be NULL. *solver is NULL on failure. */
palmette_status palmette_create_d(int32_t n, const int64_t* column_ptr, const int32_t* row_index, const double* values,
                                  palmette_storage storage, const palmette_options* options, palmette_solver** solver);
palmette_status palmette_create_z(int32_t n, const int64_t* column_ptr, const int32_t* row_index, const double* values,
                                  palmette_storage storage, const palmette_options* options, palmette_solver** solver);
/* The same from a Matrix Market, Rutherford-Boeing or Harwell-Boeing file. */
palmette_status palmette_create_from_file(const char* path, const palmette_options* options, palmette_solver** solver);
void palmette_destroy(palmette_solver* solver); /* NULL is allowed */

/* Order of the matrix, and whether it is complex (so that _z must be used). */
int32_t palmette_size(const palmette_solver* solver);
int palmette_is_complex(const palmette_solver* solver);

/* x <- op(A)^-1 b for num_rhs columns of leading dimensions ldb, ldx >= n (counted in scalars). x may be b.
 * PALMETTE_NOT_VERIFIED still leaves the best x found. report may be NULL. */
palmette_status palmette_solve_d(palmette_solver* solver, palmette_operation operation, int32_t num_rhs, const double* b,
                                 int64_t ldb, double* x, int64_t ldx, palmette_report* report);
palmette_status palmette_solve_z(palmette_solver* solver, palmette_operation operation, int32_t num_rhs, const double* b,
                                 int64_t ldb, double* x, int64_t ldx, palmette_report* report);

/* New values for the same pattern, in the order in which palmette_create_* was given them. On failure the former factor
 * stays. Not for handles made from a file. */
palmette_status palmette_refactor_d(palmette_solver* solver, const double* values);
palmette_status palmette_refactor_z(palmette_solver* solver, const double* values);

#ifdef __cplusplus
}
#endif
#endif
