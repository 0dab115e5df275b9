/* The door of `pardiso`: the functions of PARDISO, answered by Palmette.
 *
 * Two libraries have the same names with different arguments, so there are two shared libraries:
 * libpalmette_pardiso_mkl has the functions of oneMKL, and libpalmette_pardiso those of the PARDISO project.
 * This header declares the first; define PALMETTE_PARDISO_PROJECT before it for the second. Programs written
 * for either need no header of ours: they link with, or load, the library. Fortran has the same names (each
 * also with an underscore behind it). docs/guide/pardiso.md says which elements of iparm have a meaning, and
 * where Palmette answers differently.
 */
#ifndef PALMETTE_PARDISO_H
#define PALMETTE_PARDISO_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PALMETTE_PARDISO_PROJECT

/* pt: 64 pointers, set to NULL. solver: 0 or 1, both direct. iparm: 64 integers. dparm: 64 doubles. error: 0
 * or -1, if mtype is none of 1, 2, -2, 3, 4, -4, 6, 11, 13. */
void pardisoinit(void** pt, const int* mtype, const int* solver, int* iparm, double* dparm, int* error);
/* a, ia, ja: the matrix by rows, 1-based, for symmetric and Hermitian types the upper triangle. b: n x nrhs
 * by columns; x: the same. Phases: 11, 12, 13, 22, 23, 33, 331, 332, 333, 0, -1. */
void pardiso(void** pt, const int* maxfct, const int* mnum, const int* mtype, const int* phase, const int* n,
             const void* a, const int* ia, const int* ja, int* perm, const int* nrhs, int* iparm,
             const int* msglvl, void* b, void* x, int* error, double* dparm);
/* Check a matrix, or right-hand sides: error is 0, or -1. The ones that end with _z read complex numbers. */
void pardiso_chkmatrix(const int* mtype, const int* n, const double* a, const int* ia, const int* ja,
                       int* error);
void pardiso_chkmatrix_z(const int* mtype, const int* n, const void* a, const int* ia, const int* ja,
                         int* error);
void pardiso_chkvec(const int* n, const int* nrhs, const double* b, int* error);
void pardiso_chkvec_z(const int* n, const int* nrhs, const void* b, int* error);
/* Print the sizes of a system. */
void pardiso_printstats(const int* mtype, const int* n, const double* a, const int* ia, const int* ja,
                        const int* nrhs, const double* b, int* error);
void pardiso_printstats_z(const int* mtype, const int* n, const void* a, const int* ia, const int* ja,
                          const int* nrhs, const void* b, int* error);

#else

/* pt: 64 pointers, set to NULL. iparm: 64 integers, set to the defaults of mtype. */
void pardisoinit(void* pt, const int* mtype, int* iparm);
/* a, ia, ja: the matrix by rows, 1-based (0-based with iparm[34] = 1), for symmetric and Hermitian types the
 * upper triangle. b: n x nrhs by columns; x: the same. Phases: 11, 12, 13, 22, 23, 33, 331, 332, 333, 0 and
 * -1. */
void pardiso(void* pt, const int* maxfct, const int* mnum, const int* mtype, const int* phase, const int* n,
             const void* a, const int* ia, const int* ja, int* perm, const int* nrhs, int* iparm,
             const int* msglvl, void* b, void* x, int* error);
/* The same with integers of 64 bits. A matrix of more than 2^31 - 1 rows is refused with error -8. */
void pardiso_64(void* pt, const long long* maxfct, const long long* mnum, const long long* mtype,
                const long long* phase, const long long* n, const void* a, const long long* ia,
                const long long* ja, long long* perm, const long long* nrhs, long long* iparm,
                const long long* msglvl, void* b, void* x, long long* error);

#endif

#ifdef __cplusplus
}
#endif
#endif
