/* The door of `petsc`: registers MatSolverType "palmette" for LU and Cholesky of AIJ matrices, sequential and
 * over MPI. Programs that load libpalmette_petsc.so with -dll_append need not call it. docs/guide/petsc.md.
 */
#ifndef PALMETTE_PETSC_H
#define PALMETTE_PETSC_H

#ifdef __cplusplus
extern "C" {
#endif

/* After PetscInitialize. Returns a PetscErrorCode. */
int PetscDLLibraryRegister_palmette_petsc(void);

#ifdef __cplusplus
}
#endif
#endif
