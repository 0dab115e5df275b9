/* Palmette from C: solve sparse linear systems, verified. Opaque handles, status codes, no globals beyond the
 * last error of each thread. Doubles (_d) and double complex (_z, real and imaginary parts interleaved).
 *
 * Every function returns a palmette_status; palmette_last_error() has the message. Indices count from
 * 0. Several threads may solve with one handle at once; all other functions need one thread at a time.
 *
 * Ownership: arrays and strings that are passed in belong to the caller. Palmette copies what it needs
 * later; they may be changed or freed as soon as the function has returned. A solver that is returned
 * through a palmette_solver** belongs to the caller and is freed with palmette_destroy. Returned strings
 * belong to the library. */
#ifndef PALMETTE_H
#define PALMETTE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  PALMETTE_OK = 0,            /* for solves: solved and verified */
  PALMETTE_USAGE = 2,         /* misuse: an invalid size, index, option, or value that is not finite */
  PALMETTE_IO = 3,            /* a file could not be read or parsed */
  PALMETTE_NUMERICAL = 4,     /* singular, or not positive definite although PALMETTE_LLT was requested */
  PALMETTE_MEMORY = 5,        /* out of memory */
  PALMETTE_NOT_VERIFIED = 6,  /* x was computed, but its backward error exceeds the bound */
  PALMETTE_INTERNAL = 7,      /* a defect of Palmette: please report it */
  PALMETTE_BROKEN_RUN = 8,    /* over ranks: another rank failed, died or stopped responding */
  PALMETTE_DEVICE_ERROR = 9   /* a device failed, or this build cannot do that with such devices */
} palmette_status;

/* The ..._MAX entries make every non-negative int a value of its enum, so that invalid values are detected
 * rather than being undefined behaviour. */
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
/* Which entries of A are passed: all of them, or the lower triangle of a symmetric or Hermitian matrix.
 */
typedef enum {
  PALMETTE_FULL = 0,
  PALMETTE_LOWER_SYMMETRIC = 1,
  PALMETTE_LOWER_HERMITIAN = 2,
  PALMETTE_STORAGE_MAX = 0x7fffffff
} palmette_storage;

/* One of the factors: L; D of LDL'; U of LU. */
typedef enum {
  PALMETTE_PART_L = 0,
  PALMETTE_PART_D = 1,
  PALMETTE_PART_U = 2,
  PALMETTE_PART_MAX = 0x7fffffff
} palmette_part;
/* What to do with a matrix that is singular to working precision. Solutions are returned with
 * PALMETTE_NOT_VERIFIED. */
typedef enum {
  PALMETTE_SINGULAR_RAISE = 0, /* PALMETTE_NUMERICAL, and no solution */
  PALMETTE_SINGULAR_WARN = 1,  /* the best x, huge along null vectors if b is not in the range of A */
  PALMETTE_SINGULAR_LEAST_NORM =
      2, /* the least-squares solution of least norm, for up to 16 dependent columns */
  PALMETTE_SINGULAR_MAX = 0x7fffffff
} palmette_singular;

/* Initialize with palmette_default_options, then change fields. */
typedef struct {
  palmette_kind kind;       /* default PALMETTE_KIND_AUTO */
  const char* ordering;     /* "auto" (default), "amd", "nd", "metis", "scotch", "natural" */
  const char* method;       /* "auto" (default), "serial", "level_set", "sync_free", "task_driven" */
  int threads;              /* 0 (default): all processors that the process may use */
  int mixed_precision;      /* nonzero: factor in single precision, refine to double */
  int measure;              /* nonzero: measure the machine's bandwidth for the report; default 0 */
  int max_refine_steps;     /* -1 (default): as needed; 0: none; N: up to N */
  int condition;            /* nonzero: estimate condition and forward error bound; default 0 */
  palmette_singular singular; /* default PALMETTE_SINGULAR_RAISE */
  /* What holds the factor and solves with it: "none" (default): the host; "emulated" or "cuda", with ":N" for
   * one of several, by "device_tree", "device_level_set" or "device_sync_free"; "auto": the first GPU, if it
   * has room and a solve there is predicted to be faster. "cuda@16e9": at most that many bytes of memory. */
  const char* device;
  /* Several devices of the kind `device` hold the factor and solve together: rows x columns of a grid, and
   * layers of such grids; method "auto". 1, 1, 1 (default): one device. No columns: `device_rows` devices, in
   * one layer as the grid that is predicted to be the fastest, in several layers as one column each; with 0
   * layers too, the grid and layers that are predicted to be the fastest. The last bits of x depend on the
   * number of layers. */
  int32_t device_rows;
  int32_t device_columns;
  int32_t device_layers;
  /* palmette_load alone: bytes of memory for the solver; the panels of its factors then stay in the file and
   * are read for each solve. 0 (default): they are mapped */
  int64_t memory_budget;
} palmette_options;

/* Figures of the last solve; NAN if unknown. */
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
  double singular_distance; /* relative distance to a singular matrix, if A counts as singular */
  double least_squares_error; /* PALMETTE_SINGULAR_LEAST_NORM: backward error for the part of b in range(A) */
  int64_t null_directions;    /* dependent columns that were found; 0 for regular matrices */
  /* with options.memory_budget: bytes that one solve read, those of them from the page cache, 10^9 bytes a
   * second, and its fraction of the rate of the disk (options.measure) */
  double file_bytes;
  double file_cached_bytes;
  double file_gbs;
  double disk_fraction;
} palmette_report;

typedef struct palmette_solver palmette_solver;

/* An n x n matrix in compressed sparse columns, as of palmette_create_*. */
typedef struct {
  int32_t n;
  const int64_t* column_ptr;
  const int32_t* row_index;
  const double* values;
  palmette_storage storage;
} palmette_arrays;

/* num_rhs columns of b and x, of leading dimensions ldb, ldx (in scalars). x may be b. Over ranks: of each
 * column this rank's rows. */
typedef struct {
  int32_t num_rhs;
  const double* b;
  int64_t ldb;
  double* x;
  int64_t ldx;
} palmette_columns;

void palmette_default_options(palmette_options* options);
const char* palmette_version(void);

/* The message of this thread's last failure, "" if there was none; valid until this thread's next call. */
const char* palmette_last_error(void);
/* Row and column of that failure, -1 if it has none. */
void palmette_last_error_place(int64_t* row, int64_t* column);

/* Order, analyze and factorize an n x n matrix in compressed sparse columns.
 * column_ptr: n + 1; row_index, values: column_ptr[n] (values: twice that many doubles for _z). Any order
 * within a column, duplicates are summed. The arrays are copied. options may be NULL. *solver is NULL on
 * failure. */
palmette_status palmette_create_d(int32_t n, const int64_t* column_ptr, const int32_t* row_index,
                                  const double* values, palmette_storage storage,
                                  const palmette_options* options, palmette_solver** solver);
palmette_status palmette_create_z(int32_t n, const int64_t* column_ptr, const int32_t* row_index,
                                  const double* values, palmette_storage storage,
                                  const palmette_options* options, palmette_solver** solver);
/* The same from a Matrix Market, Rutherford-Boeing or Harwell-Boeing file. */
palmette_status palmette_create_from_file(const char* path, const palmette_options* options,
                                          palmette_solver** solver);
void palmette_destroy(palmette_solver* solver); /* NULL is allowed */

/* Order of the matrix, and whether it is complex (so that _z must be used). */
int32_t palmette_size(const palmette_solver* solver);
int palmette_is_complex(const palmette_solver* solver);

/* x <- op(A)^-1 b for num_rhs columns of leading dimensions ldb, ldx >= n (counted in scalars). x may be b.
 * With PALMETTE_NOT_VERIFIED, x is still the best found, or the solution for a singular matrix that
 * options.singular requests. report may be NULL. */
palmette_status palmette_solve_d(palmette_solver* solver, palmette_operation operation, int32_t num_rhs,
                                 const double* b, int64_t ldb, double* x, int64_t ldx,
                                 palmette_report* report);
palmette_status palmette_solve_z(palmette_solver* solver, palmette_operation operation, int32_t num_rhs,
                                 const double* b, int64_t ldb, double* x, int64_t ldx,
                                 palmette_report* report);

/* The same with b and x in the memory of the device that options.device names: pointers of CUDA or HIP. Work
 * that `stream` (a cudaStream_t or hipStream_t; NULL: the default stream) was given comes before it; x is
 * complete on return. PALMETTE_USAGE if b or x does not lie there. */
palmette_status palmette_solve_on_device_d(palmette_solver* solver, palmette_operation operation,
                                           const palmette_columns* columns, void* stream,
                                           palmette_report* report);
palmette_status palmette_solve_on_device_z(palmette_solver* solver, palmette_operation operation,
                                           const palmette_columns* columns, void* stream,
                                           palmette_report* report);

/* The permutations of the factors, n each: P A P' = L L^H or L D L^H (complex symmetric: L D L'), and P A Q'
 * = L U, where row i of P A is row row[i] of A, and column j of A Q' its column column[j]. Pivoting is part
 * of them, scalings are undone. */
palmette_status palmette_factor_order(const palmette_solver* solver, int32_t* row, int32_t* column);
/* x <- op(F)^-1 b with a single factor F, b and x in the order of its rows; as palmette_solve_*, but neither
 * refined nor verified. */
palmette_status palmette_solve_part_d(const palmette_solver* solver, palmette_part part,
                                      palmette_operation operation, int32_t num_rhs, const double* b,
                                      int64_t ldb, double* x, int64_t ldx);
palmette_status palmette_solve_part_z(const palmette_solver* solver, palmette_part part,
                                      palmette_operation operation, int32_t num_rhs, const double* b,
                                      int64_t ldb, double* x, int64_t ldx);

/* values[k] <- entry (row[k], column[k]) of the inverse, for count entries, without the whole inverse.
 * Entries on the pattern of the factors, such as the diagonal of a symmetric matrix, cost about twice the
 * factorization together; each column with others costs a solve. Three columns are solved for and compared:
 * with PALMETTE_NOT_VERIFIED they differ by more than the bound of their errors. _z: pairs of doubles. */
palmette_status palmette_inverse_entries_d(palmette_solver* solver, int64_t count, const int32_t* row,
                                           const int32_t* column, double* values);
palmette_status palmette_inverse_entries_z(palmette_solver* solver, int64_t count, const int32_t* row,
                                           const int32_t* column, double* values);

/* A sparse right-hand side, num_entries entries value[k] in row[k] (those of a row are summed; _z: pairs of
 * doubles), and the rows of x that are wanted, in any order. */
typedef struct {
  int64_t num_entries;
  const int32_t* row;
  const double* value;
  int64_t num_wanted;
  const int32_t* wanted;
} palmette_entries;

/* x[k] <- row wanted[k] of op(A)^-1 b. Only the branches of the elimination tree that b and the wanted rows
 * lie in are visited. The equations of these rows, and of those where b has entries, are checked; if they do
 * not hold, the system is solved whole, refined and verified. */
palmette_status palmette_solve_entries_d(palmette_solver* solver, palmette_operation operation,
                                         const palmette_entries* entries, double* x);
palmette_status palmette_solve_entries_z(palmette_solver* solver, palmette_operation operation,
                                         const palmette_entries* entries, double* x);

/* Write the matrix, its order and structure, and the factors to one file, which appears under its name when
 * all of it is on the disk. */
palmette_status palmette_save(const palmette_solver* solver, const char* path);
/* A solver as palmette_save wrote it, which gives the same x, bit for bit, with the same kernels. The values
 * of its factors are read where they lie in the file, which must not be overwritten in place meanwhile. Of
 * the options (NULL: the defaults), method, threads, measure, max_refine_steps, condition and memory_budget
 * are used.
 * PALMETTE_IO, with the file, the reason and the remedy: it was not saved by Palmette, is of another version,
 * byte order or scalar, was cut short, or has changed. palmette_refactor_* then takes all entries, in
 * compressed columns with ascending rows. */
palmette_status palmette_load(const char* path, const palmette_options* options, palmette_solver** solver);

/* New values for the same pattern, in the order passed to palmette_create_*. On failure the solver keeps
 * its previous factor. Not for handles created from a file. */
palmette_status palmette_refactor_d(palmette_solver* solver, const double* values);
palmette_status palmette_refactor_z(palmette_solver* solver, const double* values);

/* Numbers of positive and negative eigenvalues of a symmetric or Hermitian matrix, and of those whose sign
 * rounding leaves undecided: the first two may be larger by at most that many. Signs that replaced pivots
 * left open are decided by solves with the factor. */
palmette_status palmette_inertia(const palmette_solver* solver, int32_t* positive, int32_t* negative,
                                 int32_t* undecided);

/* The null space of a matrix that is singular to working precision: *dimension (0 for a regular matrix, at
 * most 16, otherwise PALMETTE_NUMERICAL) and an orthonormal basis of n x *dimension, leading dimension n, of
 * which the first max_columns columns are written to basis. Call with max_columns 0 for the dimension alone:
 * the basis is computed once for each factorization. */
palmette_status palmette_null_space_d(palmette_solver* solver, int32_t max_columns, double* basis,
                                      int32_t* dimension);
palmette_status palmette_null_space_z(palmette_solver* solver, int32_t max_columns, double* basis,
                                      int32_t* dimension);

/* A + U V' (V transposed, not conjugated) of small rank, solved with the factor of A. */
typedef struct palmette_updated palmette_updated;
/* U and V: n x rank, leading dimensions ldu, ldv (in scalars). They are copied. */
typedef struct {
  int32_t rank;
  const double* u;
  int64_t ldu;
  const double* v;
  int64_t ldv;
} palmette_change;

/* Costs about 2 * rank solves. The result keeps the factor that the solver has now; free it with
 * palmette_destroy_updated. PALMETTE_NUMERICAL if the capacitance matrix I + V' A^-1 U is singular. */
palmette_status palmette_update_d(palmette_solver* solver, const palmette_change* change,
                                  palmette_updated** updated);
palmette_status palmette_update_z(palmette_solver* solver, const palmette_change* change,
                                  palmette_updated** updated);
/* x <- op(A + U V')^-1 b, refined and verified against A, U and V. *backward_error (may be NULL): the worst.
 */
palmette_status palmette_solve_updated_d(const palmette_updated* updated, palmette_operation operation,
                                         const palmette_columns* columns, double* backward_error);
palmette_status palmette_solve_updated_z(const palmette_updated* updated, palmette_operation operation,
                                         const palmette_columns* columns, double* backward_error);
void palmette_destroy_updated(palmette_updated* updated); /* NULL is allowed */

/* W, n x num_columns, in compressed columns; rows may be in any order within a column, duplicates are summed.
 * _z: pairs of doubles. */
typedef struct {
  int32_t num_columns;
  const int64_t* column_ptr;
  const int32_t* row_index;
  const double* values;
} palmette_sparse_columns;

/* Make this the solver of A + W W^H, or of A - W W^H if subtract is not 0, by changes of its factor L L^H
 * along the paths of the elimination tree on which the columns of W lie. PALMETTE_NUMERICAL: A - W W^H is not
 * positive definite, the solver is as it was. PALMETTE_USAGE: the factor is of another kind, or an entry of W
 * has no place in it (the message names the first). If W W^H has entries that A has not, palmette_refactor_*
 * then takes all entries of the changed matrix, in compressed columns with ascending rows. */
palmette_status palmette_update_factor_d(palmette_solver* solver, const palmette_sparse_columns* w,
                                         int subtract);
palmette_status palmette_update_factor_z(palmette_solver* solver, const palmette_sparse_columns* w,
                                         int subtract);

/* The Schur complement S = A_BB - A_BI A_II^-1 A_IB on `num_boundary` unknowns B that are not eliminated. Of
 * the options, kind, ordering and threads are used. PALMETTE_NOT_VERIFIED: S was computed, but does not agree
 * with A; *schur is set. Free it with palmette_destroy_schur. */
typedef struct palmette_schur palmette_schur;
typedef struct {
  int32_t num_boundary;
  const int32_t* boundary;
} palmette_boundary;
palmette_status palmette_schur_create_d(const palmette_arrays* matrix, const palmette_boundary* boundary,
                                        const palmette_options* options, palmette_schur** schur);
palmette_status palmette_schur_create_z(const palmette_arrays* matrix, const palmette_boundary* boundary,
                                        const palmette_options* options, palmette_schur** schur);
void palmette_destroy_schur(palmette_schur* schur); /* NULL is allowed */
/* S, num_boundary x num_boundary, column after column, in the order of the boundary. */
palmette_status palmette_schur_complement_d(const palmette_schur* schur, double* complement);
palmette_status palmette_schur_complement_z(const palmette_schur* schur, double* complement);
/* x_I <- A_II^-1 b_I, refined and verified; x is zero on the boundary. b and x have n rows. */
palmette_status palmette_schur_solve_interior_d(const palmette_schur* schur, const palmette_columns* columns);
palmette_status palmette_schur_solve_interior_z(const palmette_schur* schur, const palmette_columns* columns);
/* x (num_boundary rows) <- b_B - A_BI A_II^-1 b_I: the right-hand side of the system with S. b has n rows. */
palmette_status palmette_schur_condense_d(const palmette_schur* schur, const palmette_columns* columns);
palmette_status palmette_schur_condense_z(const palmette_schur* schur, const palmette_columns* columns);
/* x <- the solution of A x = b whose part on the boundary is given: num_boundary rows, leading dimension
 * ld_part (in scalars). Verified as a solution of the whole system. */
palmette_status palmette_schur_expand_d(const palmette_schur* schur, const double* boundary_part,
                                        int64_t ld_part, const palmette_columns* columns);
palmette_status palmette_schur_expand_z(const palmette_schur* schur, const double* boundary_part,
                                        int64_t ld_part, const palmette_columns* columns);

/* ---- Triangles and factors that the caller provides. ---- */

/* A triangle of a matrix; entries on the other side are ignored. */
typedef struct {
  palmette_arrays entries;  /* must be stored as PALMETTE_FULL */
  int upper;                /* 0: the lower triangle, else the upper one */
  int unit_diagonal;        /* nonzero: the diagonal is taken as one, whatever is stored */
  int32_t tasks_per_device; /* tasks into which each device's columns are cut; 0: 8 */
} palmette_triangle;

/* Factors of A with rows and columns scaled and permuted: row_scale[r] * A(r, c) * column_scale[c] is entry
 * (i, j) of L U for r = row[i], c = column[j]. NULL: no permutation, no scaling. */
typedef struct {
  palmette_arrays lower; /* must be stored as PALMETTE_FULL */
  palmette_arrays upper; /* likewise; column_ptr NULL: there is none, and A is L L', or L L^H */
  const int32_t* row;
  const int32_t* column;
  const double* row_scale;
  const double* column_scale;
  int lower_unit_diagonal, upper_unit_diagonal; /* as palmette_triangle */
  int hermitian;                                /* nonzero: without U, A is L L^H */
  const palmette_arrays* matrix; /* A, in any storage: solutions are refined and verified by it; NULL: by
                                  * the factors */
  int32_t tasks_per_device;      /* as palmette_triangle */
} palmette_factors;

typedef struct palmette_triangular palmette_triangular;
/* Of the options (NULL: the defaults), method, threads, measure, max_refine_steps, condition, device and
 * device_rows are used: with several devices, `device_rows` of that kind are dealt the columns, or the
 * supernodes where they pay; methods "devices_zero_copy", "devices_unified" and "devices_pushed" always take
 * columns. PALMETTE_NUMERICAL: a diagonal entry is zero or missing. *solver is NULL on failure. */
palmette_status palmette_triangular_create_d(const palmette_triangle* triangle,
                                             const palmette_options* options, palmette_triangular** solver);
palmette_status palmette_triangular_create_z(const palmette_triangle* triangle,
                                             const palmette_options* options, palmette_triangular** solver);
palmette_status palmette_triangular_from_factors_d(const palmette_factors* factors,
                                                   const palmette_options* options,
                                                   palmette_triangular** solver);
palmette_status palmette_triangular_from_factors_z(const palmette_factors* factors,
                                                   const palmette_options* options,
                                                   palmette_triangular** solver);
/* x <- op(T)^-1 b, or op(A)^-1 b, as palmette_solve_d; in the report, what does not exist is 0 or NAN. Over
 * ranks all must call it, with the same b, and all get the whole x. */
palmette_status palmette_triangular_solve_d(palmette_triangular* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report);
palmette_status palmette_triangular_solve_z(palmette_triangular* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report);
/* Over ranks called by all, before MPI_Finalize. NULL is allowed. */
void palmette_triangular_destroy(palmette_triangular* solver);

/* ---- Many small systems whose matrices share one pattern, solved side by side in the lanes of vector
 * registers. ---- */

typedef enum {
  PALMETTE_BATCH_SOLVED = 0,
  PALMETTE_BATCH_SOLVED_ALONE = 1, /* verified too, by a solver of its own, with row exchanges */
  PALMETTE_BATCH_NOT_VERIFIED = 2, /* x is the best found */
  PALMETTE_BATCH_SINGULAR = 3,     /* x is NaN, as in those below */
  PALMETTE_BATCH_NOT_DEFINITE = 4, /* PALMETTE_LLT was asked for */
  PALMETTE_BATCH_NOT_FINITE = 5,   /* a value is not finite */
  PALMETTE_BATCH_STATE_MAX = 0x7fffffff
} palmette_batch_state;

/* num_systems systems, one after the other: of each the values in the order of the pattern, n * num_rhs
 * values of b and of x (column after column), which may be the same memory. _z: pairs of doubles. */
typedef struct {
  int32_t num_systems;
  int32_t num_rhs;
  const double* values;
  const double* b;
  double* x;
  double* backward_error; /* one for each system, or NULL */
  int32_t* state;         /* a palmette_batch_state for each system, or NULL */
} palmette_batch_systems;

typedef struct palmette_batch palmette_batch;

/* The pattern of n x n matrices in compressed columns: rows ascending within each column, each once, both
 * triangles. first_values, of a matrix like the others, decide the kind (PALMETTE_LDLT if it is symmetric or
 * Hermitian, else PALMETTE_LU) and which rows are matched with which columns. */
typedef struct {
  int32_t n;
  const int64_t* column_ptr;
  const int32_t* row_index;
  const double* first_values;
} palmette_batch_pattern;

/* Order and analyze, once for all systems. Of the options (NULL: the defaults), kind, ordering and threads
 * are used. *batch is NULL on failure. */
palmette_status palmette_batch_create_d(const palmette_batch_pattern* pattern,
                                        const palmette_options* options, palmette_batch** batch);
palmette_status palmette_batch_create_z(const palmette_batch_pattern* pattern,
                                        const palmette_options* options, palmette_batch** batch);
void palmette_batch_destroy(palmette_batch* batch); /* NULL is allowed */

/* Factorize and solve every system, and verify every solution. PALMETTE_NOT_VERIFIED if a system was not
 * solved; the others are. */
palmette_status palmette_batch_solve_d(const palmette_batch* batch, const palmette_batch_systems* systems);
palmette_status palmette_batch_solve_z(const palmette_batch* batch, const palmette_batch_systems* systems);

/* ---- Over MPI ranks: programs that use these functions also link palmette::capi_mpi. MPI must have been
 * initialized. ----
 *
 * Each rank passes consecutive rows of the matrix and of right-hand sides, and gets those rows of x. The
 * factor is distributed; no rank holds all values. All ranks of the communicator must call every function
 * except palmette_rank_report_json and palmette_rows_over_ranks. It returns the same status on all ranks,
 * except if only one rank can check an argument (a NULL pointer): then that rank gets PALMETTE_USAGE, the
 * others PALMETTE_BROKEN_RUN. */

/* Rows [first_row, first_row + num_rows) of an n x n matrix in compressed rows; the blocks of all ranks
 * together hold every row once, a block may be empty. row_ptr: num_rows + 1, from 0; column, values:
 * row_ptr[num_rows] (values: twice that many doubles for _z). Any order within a row, duplicates are summed;
 * both triangles of a symmetric matrix. */
typedef struct {
  int32_t n;
  int32_t first_row;
  int32_t num_rows;
  const int64_t* row_ptr;
  const int32_t* column;
  const double* values;
} palmette_rows;

/* Initialize with palmette_default_rank_options, then change fields. The same on all ranks. */
typedef struct {
  palmette_kind kind;       /* default PALMETTE_KIND_AUTO */
  const char* ordering;     /* as palmette_options */
  const char* transport;    /* "mpi_two_sided" (default), "mpi_rma", "mpi_rma_counter" */
  const char* map;          /* "subtree_to_subcube" (default), "block_cyclic" */
  const char* trees;        /* "binary" (default), "flat" */
  int grid_rows, grid_cols; /* of one layer; 0, 0 (default): the most nearly square */
  int layers;               /* default 1 */
  int threads;              /* of each rank; default 1 */
  int matching; /* nonzero (default): LDL' and LU use the size of every entry for ordering; 0: of none
                 */
  int max_refine_steps;     /* as palmette_options */
  int condition;            /* as palmette_options */
  int most_rhs;             /* most right-hand sides that are solved together; default 64 */
  double watchdog_seconds;  /* a rank that waits this long ends the run; default 600, 0: none */
  /* "none" (default): ranks solve. "cuda", "hip" or "emulated": each rank has one device of this kind, which
   * holds its part of the factor and solves; ranks of one machine take its devices in turn. "cuda:0": this
   * one. Several layers then meet once in a solve. */
  const char* device;
  /* With a device, how what it sends reaches that of another rank: "native", from address to address;
   * "reference", by way of the hosts; "symmetric", by puts of the kernels, in a build with NVSHMEM;
   * "auto" (default): the first, if MPI can, else the second. */
  const char* memory;
  palmette_singular singular; /* default PALMETTE_SINGULAR_RAISE */
} palmette_rank_options;

typedef struct palmette_rank_solver palmette_rank_solver;

void palmette_default_rank_options(palmette_rank_options* options);

/* Order, analyze and factorize. communicator: from MPI_Comm_c2f; it is duplicated. The arrays are
 * copied as far as needed. options may be NULL. *solver is NULL on failure. */
palmette_status palmette_create_over_ranks_d(const palmette_rows* rows, int communicator,
                                             const palmette_rank_options* options,
                                             palmette_rank_solver** solver);
palmette_status palmette_create_over_ranks_z(const palmette_rows* rows, int communicator,
                                             const palmette_rank_options* options,
                                             palmette_rank_solver** solver);
/* Called by all ranks, before MPI_Finalize. NULL is allowed. */
void palmette_destroy_over_ranks(palmette_rank_solver* solver);

/* x <- op(A)^-1 b, as palmette_solve_d. report may be NULL. */
palmette_status palmette_solve_over_ranks_d(palmette_rank_solver* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report);
palmette_status palmette_solve_over_ranks_z(palmette_rank_solver* solver, palmette_operation operation,
                                            const palmette_columns* columns, palmette_report* report);

/* As palmette_solve_entries_*: each rank passes entries of b in its rows, counted in the whole matrix, and
 * the rows of the whole x that it wants, which it gets. Ranks whose blocks lie in none of the branches that
 * are visited run no task and send no message of the sweeps; the rows that any rank wants go to all, with all
 * other unknowns of the equations that are checked. */
palmette_status palmette_solve_entries_over_ranks_d(palmette_rank_solver* solver,
                                                    palmette_operation operation,
                                                    const palmette_entries* entries, double* x);
palmette_status palmette_solve_entries_over_ranks_z(palmette_rank_solver* solver,
                                                    palmette_operation operation,
                                                    const palmette_entries* entries, double* x);

/* As palmette_inverse_entries_*, with the same lists on all ranks, which all get the values. Entries on the
 * pattern of the factors come from its selected inverse, computed where the factor lies, if that needs fewer
 * flops than solves for all columns; other columns are solved for by the branches of the tree that their
 * entries lie in, 64 at a time. Three are compared with whole solutions. */
palmette_status palmette_inverse_entries_over_ranks_d(palmette_rank_solver* solver, int64_t count,
                                                      const int32_t* row, const int32_t* column,
                                                      double* values);
palmette_status palmette_inverse_entries_over_ranks_z(palmette_rank_solver* solver, int64_t count,
                                                      const int32_t* row, const int32_t* column,
                                                      double* values);

/* New values for the same rows and pattern, in the order passed to palmette_create_over_ranks_*. */
palmette_status palmette_refactor_over_ranks_d(palmette_rank_solver* solver, const double* values);
palmette_status palmette_refactor_over_ranks_z(palmette_rank_solver* solver, const double* values);

/* Write the solver to a set of files, path.rank0, path.rank1, ..., one for each rank, with what it holds.
 * They appear under their names when all ranks have written theirs. */
palmette_status palmette_save_over_ranks(palmette_rank_solver* solver, const char* path);
/* A solver as palmette_save_over_ranks wrote it, by as many ranks; it gives the same x, bit for bit, with the
 * same kernels. The values of its factor are read where they lie in the files, which must not be overwritten
 * in place meanwhile. Of the options (NULL: the defaults), transport, threads, max_refine_steps, condition,
 * watchdog_seconds, device, memory and singular are used; the files say the rest.
 * PALMETTE_IO on all ranks, with the file, the reason and the remedy: as palmette_load; the set is of another
 * number of ranks; a file is of another set. palmette_refactor_over_ranks_* then takes the entries of a row
 * with ascending columns, duplicates summed. A set whose ranks had the whole matrix, as that of the command,
 * gives each rank all rows, and cannot be refactored from C. */
palmette_status palmette_load_over_ranks(const char* path, int communicator,
                                         const palmette_rank_options* options,
                                         palmette_rank_solver** solver);
/* Order of the matrix, and the rows of this rank; each pointer may be NULL. Not called together. */
palmette_status palmette_rows_over_ranks(const palmette_rank_solver* solver, int32_t* n, int32_t* first_row,
                                         int32_t* num_rows);

/* As palmette_inertia and palmette_null_space_*. Called by all ranks, since both solve with the factor. basis
 * has this rank's rows: its leading dimension is their number. */
palmette_status palmette_inertia_over_ranks(palmette_rank_solver* solver, int32_t* positive,
                                            int32_t* negative, int32_t* undecided);
palmette_status palmette_null_space_over_ranks_d(palmette_rank_solver* solver, int32_t max_columns,
                                                 double* basis, int32_t* dimension);
palmette_status palmette_null_space_over_ranks_z(palmette_rank_solver* solver, int32_t max_columns,
                                                 double* basis, int32_t* dimension);

/* A + U V' of small rank (V transposed, not conjugated), solved with the distributed factor of A, as by
 * palmette_update_*: of U and V each rank passes its rows. The result keeps the factor that the solver has
 * now. */
typedef struct palmette_rank_updated palmette_rank_updated;
palmette_status palmette_update_over_ranks_d(palmette_rank_solver* solver, const palmette_change* change,
                                             palmette_rank_updated** updated);
palmette_status palmette_update_over_ranks_z(palmette_rank_solver* solver, const palmette_change* change,
                                             palmette_rank_updated** updated);
/* As palmette_solve_updated_*, with this rank's rows of b and x. */
palmette_status palmette_solve_updated_over_ranks_d(palmette_rank_updated* updated,
                                                    palmette_operation operation,
                                                    const palmette_columns* columns, double* backward_error);
palmette_status palmette_solve_updated_over_ranks_z(palmette_rank_updated* updated,
                                                    palmette_operation operation,
                                                    const palmette_columns* columns, double* backward_error);
/* Called by all ranks, before MPI_Finalize. NULL is allowed. */
void palmette_destroy_updated_over_ranks(palmette_rank_updated* updated);

/* The Schur complement over ranks, as by palmette_schur_create_*. S lies whole on one rank, or block-cyclic
 * as ScaLAPACK has it: row i belongs to grid row (i / block) mod grid_rows, likewise columns; grid position
 * (r, c) is rank r * grid_cols + c. A rank's part is column-major without gaps. */
typedef struct palmette_rank_schur palmette_rank_schur;
typedef struct {
  palmette_boundary boundary;            /* the same on all ranks */
  const palmette_rank_options* options;  /* NULL: the defaults; `singular` must be that of the defaults */
  int block_cyclic;                      /* 0: all of S on the rank `root` */
  int32_t root;
  int32_t grid_rows, grid_cols;          /* of S; 0, 0: all ranks, nearly square */
  int32_t block;                         /* rows and columns of a block; 0: 64 */
} palmette_rank_schur_request;
/* PALMETTE_NOT_VERIFIED on all ranks: S was computed, but does not agree with A; *schur is set. */
palmette_status palmette_schur_create_over_ranks_d(const palmette_rows* rows, int communicator,
                                                   const palmette_rank_schur_request* request,
                                                   palmette_rank_schur** schur);
palmette_status palmette_schur_create_over_ranks_z(const palmette_rows* rows, int communicator,
                                                   const palmette_rank_schur_request* request,
                                                   palmette_rank_schur** schur);
/* Called by all ranks, before MPI_Finalize. NULL is allowed. */
void palmette_destroy_schur_over_ranks(palmette_rank_schur* schur);
/* Rows and columns of this rank's part of S; each pointer may be NULL. Neither this nor the next is called
 * together. */
palmette_status palmette_schur_part_over_ranks(const palmette_rank_schur* schur, int32_t* num_rows,
                                               int32_t* num_cols);
/* This rank's part of S. */
palmette_status palmette_schur_complement_over_ranks_d(const palmette_rank_schur* schur, double* part);
palmette_status palmette_schur_complement_over_ranks_z(const palmette_rank_schur* schur, double* part);
/* As palmette_schur_solve_interior_*, palmette_schur_condense_* and palmette_schur_expand_*, with this rank's
 * rows of b and x; the parts on the boundary (x of condense, boundary_part) are whole on every rank. */
palmette_status palmette_schur_solve_interior_over_ranks_d(palmette_rank_schur* schur,
                                                           const palmette_columns* columns);
palmette_status palmette_schur_solve_interior_over_ranks_z(palmette_rank_schur* schur,
                                                           const palmette_columns* columns);
palmette_status palmette_schur_condense_over_ranks_d(palmette_rank_schur* schur,
                                                     const palmette_columns* columns);
palmette_status palmette_schur_condense_over_ranks_z(palmette_rank_schur* schur,
                                                     const palmette_columns* columns);
palmette_status palmette_schur_expand_over_ranks_d(palmette_rank_schur* schur, const double* boundary_part,
                                                   int64_t ld_part, const palmette_columns* columns);
palmette_status palmette_schur_expand_over_ranks_z(palmette_rank_schur* schur, const double* boundary_part,
                                                   int64_t ld_part, const palmette_columns* columns);

/* Triangles and factors over ranks with one device each, whose kernels put to each other: over NVSHMEM, or
 * with "emulated" among ranks of one process; else PALMETTE_DEVICE_ERROR. Every rank passes the same, whole.
 * Of the options (NULL: the defaults, which have no device, and so PALMETTE_USAGE), transport, device,
 * watchdog_seconds, max_refine_steps and condition are used. */
palmette_status palmette_triangular_create_over_ranks_d(const palmette_triangle* triangle, int communicator,
                                                        const palmette_rank_options* options,
                                                        palmette_triangular** solver);
palmette_status palmette_triangular_create_over_ranks_z(const palmette_triangle* triangle, int communicator,
                                                        const palmette_rank_options* options,
                                                        palmette_triangular** solver);
palmette_status palmette_triangular_from_factors_over_ranks_d(const palmette_factors* factors,
                                                              int communicator,
                                                              const palmette_rank_options* options,
                                                              palmette_triangular** solver);
palmette_status palmette_triangular_from_factors_over_ranks_z(const palmette_factors* factors,
                                                              int communicator,
                                                              const palmette_rank_options* options,
                                                              palmette_triangular** solver);

/* The report of the last solve (before the first: of the factorization) as JSON, with the names of `palmette
 * solve --json`; valid until the next call with this solver. NULL if solver is NULL or memory runs out. */
const char* palmette_rank_report_json(palmette_rank_solver* solver);

#ifdef __cplusplus
}
#endif
#endif
