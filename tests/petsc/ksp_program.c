/* A program that knows only PETSc: systems of a grid, solved by KSP with the options given. Prints whether
 * the residuals are small and, of Cholesky, the inertia. */
#include <petscksp.h>

static PetscErrorCode add_grid(Mat A, PetscInt side, PetscBool is_symmetric, PetscReal shift) {
  PetscInt begin, end;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt i = row % side, j = row / side;
    const PetscReal wind = is_symmetric ? 0 : 0.3;
    if (i > 0) PetscCall(MatSetValue(A, row, row - 1, -1 - wind, INSERT_VALUES));
    if (i + 1 < side) PetscCall(MatSetValue(A, row, row + 1, -1 + wind, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(A, row, row - side, -1, INSERT_VALUES));
    if (j + 1 < side) PetscCall(MatSetValue(A, row, row + side, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, row, row, 4 - shift, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode print_residual(KSP ksp, Mat A, Vec b, Vec x, const char* what) {
  Vec r;
  PetscReal norm, size;
  KSPConvergedReason reason;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, reason %d\n", what,
                        norm <= 1e-12 * size ? "solved" : "WRONG", (int)reason));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve_both_ways(KSP ksp, Mat A, const char* what) {
  Vec b, x;
  Mat turned;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(print_residual(ksp, A, b, x, what));
  PetscCall(KSPSolveTranspose(ksp, b, x));
  PetscCall(MatCreateTranspose(A, &turned));
  PetscCall(print_residual(ksp, turned, b, x, "transposed"));
  PetscCall(MatDestroy(&turned));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

/* Several right-hand sides with the factor itself, and its inertia. */
static PetscErrorCode use_factor(KSP ksp, Mat A, PetscBool is_cholesky) {
  PC pc;
  Mat factor, B, X, R;
  PetscReal norm;
  PetscInt rows, columns, local, negative, zero, positive;
  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &factor));
  PetscCall(MatGetSize(A, &rows, &columns));
  PetscCall(MatGetLocalSize(A, &local, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, rows, 5, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatMatSolve(factor, B, X));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(R, NORM_FROBENIUS, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "five columns: %s\n", norm <= 1e-11 ? "solved" : "WRONG"));
  if (is_cholesky) {
    PetscCall(MatGetInertia(factor, &negative, &zero, &positive));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "inertia %d %d %d\n", (int)negative, (int)zero, (int)positive));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Mat A;
  KSP ksp;
  PC pc;
  PCType type;
  PetscInt side = 20;
  PetscReal shift = 0;
  PetscBool is_cholesky;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &shift, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscStrcmp(type, PCCHOLESKY, &is_cholesky));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, side * side, side * side, 5, NULL, 5,
                         NULL, &A));
  PetscCall(add_grid(A, side, is_cholesky, shift));
  PetscCall(solve_both_ways(ksp, A, "first values"));
  PetscCall(MatShift(A, 0.5));
  PetscCall(solve_both_ways(ksp, A, "new values"));
  PetscCall(use_factor(ksp, A, is_cholesky));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscFinalize());
  return 0;
}
