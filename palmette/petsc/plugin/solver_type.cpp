// MatSolverType "palmette": PETSc's operations of a factored Mat, each a call of Factored.
#include <petsc/private/matimpl.h>

#include <new>

#include "palmette/petsc/petsc.h"
#include "palmette/petsc/plugin/factored.hpp"

namespace palmette::petsc {
namespace {

static_assert(sizeof(PetscScalar) == (sizeof(PetscReal) == 8 && sizeof(PetscScalar) == 16 ? 16 : 8),
              "PETSc in single or quadruple precision is not supported");
#if defined(PETSC_USE_COMPLEX)
using Scalar = std::complex<double>;
#else
using Scalar = double;
#endif
using Data = Factored<Scalar>;

Data& data_of(Mat factor) {
  return *static_cast<Data*>(factor->data);
}
const Scalar* scalars(const PetscScalar* values) {
  return reinterpret_cast<const Scalar*>(values);
}
Scalar* scalars(PetscScalar* values) {
  return reinterpret_cast<Scalar*>(values);
}

/// Calls work, and turns what it throws into PETSc's errors.
template <class Work>
PetscErrorCode guarded(Mat factor, const Work& work) {
  const auto comm = PetscObjectComm(reinterpret_cast<PetscObject>(factor));
  PetscFunctionBegin;
  try {
    const Outcome<void> done = work();
    if (done) PetscFunctionReturn(0);
    factor->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    factor->factorerror_zeropivot_row = done.failure().row;
    PetscCall(PetscInfo(factor, "Palmette: %s\n", done.failure().message.c_str()));
    PetscCheck(!factor->erroriffailure, comm, PETSC_ERR_MAT_LU_ZRPVT, "Palmette: %s",
               done.failure().message.c_str());
  } catch (const UsageError& error) {
    SETERRQ(comm, PETSC_ERR_USER_INPUT, "Palmette: %s", error.what());
  } catch (const MemoryError& error) {
    SETERRQ(comm, PETSC_ERR_MEM, "Palmette: %s", error.what());
  } catch (const std::bad_alloc&) {
    SETERRQ(comm, PETSC_ERR_MEM, "Palmette: out of memory");
  } catch (const std::exception& error) {
    SETERRQ(comm, PETSC_ERR_LIB, "Palmette: %s", error.what());
  }
  PetscFunctionReturn(0);
}

PetscErrorCode read_rows(Mat matrix, LocalRows<Scalar>& rows) {
  PetscInt begin, end;
  PetscFunctionBegin;
  PetscCheck(matrix->rmap->N == matrix->cmap->N && matrix->rmap->N < PETSC_MAX_INT, PETSC_COMM_SELF,
             PETSC_ERR_ARG_SIZ, "Palmette: the matrix is not square");
  PetscCall(MatGetOwnershipRange(matrix, &begin, &end));
  rows.size = static_cast<index_t>(matrix->rmap->N);
  rows.first_row = static_cast<index_t>(begin);
  for (PetscInt row = begin; row < end; ++row) {
    PetscInt count;
    const PetscInt* columns;
    const PetscScalar* values;
    PetscCall(MatGetRow(matrix, row, &count, &columns, &values));
    rows.column.insert(rows.column.end(), columns, columns + count);
    rows.values.insert(rows.values.end(), scalars(values), scalars(values) + count);
    rows.row_ptr.push_back(static_cast<offset_t>(rows.column.size()));
    PetscCall(MatRestoreRow(matrix, row, &count, &columns, &values));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode factor_numeric(Mat factor, Mat matrix, const MatFactorInfo*) {
  LocalRows<Scalar> rows;
  PetscFunctionBegin;
  PetscCall(read_rows(matrix, rows));
  factor->factorerrortype = MAT_FACTOR_NOERROR;
  factor->erroriffailure = matrix->erroriffailure;
  PetscCall(guarded(factor, [&] { return data_of(factor).factorize(rows); }));
  factor->assembled = PETSC_TRUE;
  PetscFunctionReturn(0);
}

// KSP calls these again if the pattern has changed.
PetscErrorCode lu_symbolic(Mat factor, Mat, IS, IS, const MatFactorInfo*) {
  PetscFunctionBegin;
  data_of(factor).forget_pattern();
  factor->ops->lufactornumeric = factor_numeric;
  PetscFunctionReturn(0);
}
PetscErrorCode cholesky_symbolic(Mat factor, Mat, IS, const MatFactorInfo*) {
  PetscFunctionBegin;
  data_of(factor).forget_pattern();
  factor->ops->choleskyfactornumeric = factor_numeric;
  PetscFunctionReturn(0);
}

PetscErrorCode solve_vector(Mat factor, Vec b, Vec x, Operation operation) {
  const PetscScalar* from;
  PetscScalar* to;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArray(x, &to));
  const auto n = static_cast<index_t>(factor->rmap->n);
  PetscCall(guarded(factor, [&] {
    return data_of(factor).solve(operation, {scalars(from), n, 1, n}, {scalars(to), n, 1, n});
  }));
  PetscCall(VecRestoreArray(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscFunctionReturn(0);
}
PetscErrorCode solve(Mat factor, Vec b, Vec x) {
  return solve_vector(factor, b, x, Operation::plain);
}
PetscErrorCode solve_transpose(Mat factor, Vec b, Vec x) {
  return solve_vector(factor, b, x, Operation::transpose);
}

PetscErrorCode solve_columns(Mat factor, Mat b, Mat x) {
  const PetscScalar* from;
  PetscScalar* to;
  PetscInt from_step, to_step;
  PetscFunctionBegin;
  PetscCall(MatDenseGetArrayRead(b, &from));
  PetscCall(MatDenseGetArrayWrite(x, &to));
  PetscCall(MatDenseGetLDA(b, &from_step));
  PetscCall(MatDenseGetLDA(x, &to_step));
  const auto n = static_cast<index_t>(factor->rmap->n), columns = static_cast<index_t>(b->cmap->N);
  PetscCall(guarded(factor, [&] {
    return data_of(factor).solve(Operation::plain, {scalars(from), n, columns, from_step},
                                 {scalars(to), n, columns, to_step});
  }));
  PetscCall(MatDenseRestoreArrayWrite(x, &to));
  PetscCall(MatDenseRestoreArrayRead(b, &from));
  PetscFunctionReturn(0);
}

PetscErrorCode view(Mat factor, PetscViewer viewer) {
  PetscBool is_text;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  const Report* report = data_of(factor).report();
  if (!is_text || report == nullptr) PetscFunctionReturn(0);
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "Palmette %s: %s by ordering %s, %d threads a rank\n", std::string(version()).c_str(),
      std::string(name_of(report->factorize->kind)).c_str(),
      std::string(name_of(report->order->method)).c_str(), report->factorize->threads));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  entries of the factor: %lld, replaced pivots: %d\n",
                                   static_cast<long long>(report->analyze->nnz_factor),
                                   report->factorize->pivots.perturbed));
  if (report->verify)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: backward error %.1e, %d steps of refinement\n",
                                     report->verify->backward_error, report->verify->refine_steps));
  PetscFunctionReturn(0);
}

PetscErrorCode get_info(Mat factor, MatInfoType, MatInfo* info) {
  const Report* report = data_of(factor).report();
  PetscFunctionBegin;
  *info = MatInfo{};
  info->block_size = 1;
  if (report != nullptr && report->analyze) {
    info->nz_used = info->nz_allocated = static_cast<double>(report->analyze->nnz_factor);
    info->fill_ratio_needed = info->nz_used / static_cast<double>(report->matrix.nnz);
    info->memory = static_cast<double>(report->factorize->memory_bytes);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode get_inertia(Mat factor, PetscInt* negative, PetscInt* zero, PetscInt* positive) {
  PetscFunctionBegin;
  PetscCall(guarded(factor, [&]() -> Outcome<void> {
    const Inertia inertia = data_of(factor).inertia();
    if (negative != nullptr) *negative = inertia.negative;
    if (zero != nullptr) *zero = inertia.zero;
    if (positive != nullptr) *positive = inertia.positive;
    return {};
  }));
  PetscFunctionReturn(0);
}

PetscErrorCode solver_type(Mat, MatSolverType* type) {
  PetscFunctionBegin;
  *type = "palmette";
  PetscFunctionReturn(0);
}

PetscErrorCode destroy(Mat factor) {
  PetscFunctionBegin;
  delete static_cast<Data*>(factor->data);
  factor->data = nullptr;
  PetscCall(
      PetscObjectComposeFunction(reinterpret_cast<PetscObject>(factor), "MatFactorGetSolverType_C", nullptr));
  PetscFunctionReturn(0);
}

PetscErrorCode read_choices(Mat matrix, Choices& choices) {
  char ordering[64] = "auto", transport[64] = "mpi_two_sided";
  PetscInt threads = choices.threads, steps = choices.refine_steps;
  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)),
                    reinterpret_cast<PetscObject>(matrix)->prefix, "Palmette's options", "Mat");
  PetscCall(PetscOptionsString("-mat_palmette_ordering", "fill-reducing order", "", ordering, ordering,
                               sizeof(ordering), nullptr));
  PetscCall(PetscOptionsInt("-mat_palmette_threads", "threads of each rank; 0: all", "", threads, &threads,
                            nullptr));
  PetscCall(PetscOptionsInt("-mat_palmette_refine", "steps of refinement; -1: as many as help", "", steps,
                            &steps, nullptr));
  PetscCall(PetscOptionsString("-mat_palmette_transport", "messages between ranks", "", transport, transport,
                               sizeof(transport), nullptr));
  PetscOptionsEnd();
  choices.ordering = ordering;
  choices.transport = transport;
  choices.threads = static_cast<int>(threads);
  choices.refine_steps = static_cast<int>(steps);
  PetscFunctionReturn(0);
}

/// LLᵀ for a matrix that is declared positive definite, LDLᵀ for other Cholesky.
PetscErrorCode kind_of(Mat matrix, MatFactorType type, FactorKind& kind) {
  PetscBool is_known, is_definite = PETSC_FALSE;
  PetscFunctionBegin;
  kind = FactorKind::lu;
  if (type != MAT_FACTOR_CHOLESKY) PetscFunctionReturn(0);
  PetscCall(MatIsSPDKnown(matrix, &is_known, &is_definite));
  kind = is_known && is_definite ? FactorKind::llt : FactorKind::ldlt;
  PetscFunctionReturn(0);
}

void set_operations(Mat factor, MatFactorType type) {
  if (type == MAT_FACTOR_LU)
    factor->ops->lufactorsymbolic = lu_symbolic;
  else
    factor->ops->choleskyfactorsymbolic = cholesky_symbolic, factor->ops->getinertia = get_inertia;
  factor->ops->solve = solve;
  factor->ops->solvetranspose = solve_transpose;
  factor->ops->matsolve = solve_columns;
  factor->ops->view = view;
  factor->ops->getinfo = get_info;
  factor->ops->destroy = destroy;
}

PetscErrorCode get_factor(Mat matrix, MatFactorType type, Mat* result) {
  const auto comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  Mat factor;
  Choices choices;
  PetscMPIInt num_ranks;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &num_ranks));
  PetscCall(read_choices(matrix, choices));
  PetscCall(kind_of(matrix, type, choices.kind));
  PetscCall(MatCreate(comm, &factor));
  PetscCall(MatSetSizes(factor, matrix->rmap->n, matrix->cmap->n, matrix->rmap->N, matrix->cmap->N));
  PetscCall(PetscStrallocpy("palmette", &reinterpret_cast<PetscObject>(factor)->type_name));
  PetscCall(MatSetUp(factor));
  factor->data = new Data(static_cast<int>(MPI_Comm_c2f(comm)), num_ranks, choices);
  set_operations(factor, type);
  factor->factortype = type;
  factor->trivialsymbolic = PETSC_TRUE;
  PetscCall(PetscFree(factor->solvertype));
  PetscCall(PetscStrallocpy("palmette", &factor->solvertype));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(factor), "MatFactorGetSolverType_C",
                                       solver_type));
  *result = factor;
  PetscFunctionReturn(0);
}

}  // namespace
}  // namespace palmette::petsc

int PetscDLLibraryRegister_palmette_petsc(void) {
  PetscFunctionBegin;
  for (const MatType matrix : {MATSEQAIJ, MATMPIAIJ})
    for (const MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
      PetscCall(MatSolverTypeRegister("palmette", matrix, type, palmette::petsc::get_factor));
  PetscFunctionReturn(0);
}
