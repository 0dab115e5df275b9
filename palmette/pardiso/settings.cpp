// The meaning of mtype and of the elements of iparm, in the numbering of either library.
#include "palmette/pardiso/settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace palmette::pardiso {
namespace {

constexpr MatrixType matrix_types[] = {
    {1, FactorKind::lu, Symmetry::general, false, true, false},
    {2, FactorKind::llt, Symmetry::symmetric, false, true, false},
    {-2, FactorKind::ldlt, Symmetry::symmetric, false, true, false},
    {3, FactorKind::lu, Symmetry::general, true, true, false},
    {4, FactorKind::llt, Symmetry::hermitian, true, true, false},
    {-4, FactorKind::ldlt, Symmetry::hermitian, true, true, false},
    {6, FactorKind::ldlt, Symmetry::symmetric, true, true, false},
    {11, FactorKind::lu, Symmetry::general, false, false, true},
    {13, FactorKind::lu, Symmetry::general, true, false, true},
};

// Places in iparm that mean the same in both libraries.
constexpr int is_set = 0, ordering = 1, threads = 2, permutation = 4, solution_place = 5, refinement = 7,
              perturbation = 9, scaling = 10, transposition = 11, matching = 12, report_nonzeros = 17,
              report_flops = 18, pivoting = 20;
// oneMKL's.
constexpr int check_structure = 26, single_precision = 27, zero_based = 34, schur = 35, block_storage = 36;
// The project's.
constexpr int determinant = 32, project_schur = 37;

void refuse_if(bool condition, const char* text) {
  if (condition) throw Refusal(Code::inconsistent, text);
}

OrderingMethod ordering_of(std::int64_t choice) {
  if (choice == 0) return OrderingMethod::amd;
  if (choice != 2) return OrderingMethod::automatic;
  const auto& methods = ordering_method_list();
  const bool has_metis = std::any_of(methods.begin(), methods.end(), [](const OrderingMethodInfo& info) {
    return info.method == OrderingMethod::metis && info.available;
  });
  return has_metis ? OrderingMethod::metis : OrderingMethod::nd;
}

Operation operation_of(Dialect dialect, std::int64_t choice) {
  if (choice == 0) return Operation::plain;
  return dialect == Dialect::mkl && choice == 1 ? Operation::adjoint : Operation::transpose;
}

/// 10⁻ᵏ, but not less than rounding in single precision can tell from zero.
double tiny_pivot_of(std::int64_t exponent, bool is_single) {
  if (exponent <= 0 || exponent > 300) return 0;
  const double wanted = std::pow(10.0, -static_cast<double>(exponent));
  return is_single && wanted < unit_roundoff<float> ? 0 : wanted;
}

/// Integers that only one of the libraries has.
void read_own(const Call& call, Settings& settings) {
  const Parameters& iparm = call.iparm;
  if (call.dialect == Dialect::project) {
    refuse_if(iparm[project_schur] > 0, "Schur complements (iparm(38)) are not available");
    settings.wants_determinant = iparm[determinant] == 1;
    return;
  }
  refuse_if(iparm[schur] != 0, "Schur complements (iparm[35]) are not available");
  refuse_if(iparm[block_storage] != 0, "block storage (iparm[36]) is not available; give the rows");
  settings.check_structure = iparm[check_structure] != 0;
  settings.is_single = iparm[single_precision] == 1;
  settings.is_zero_based = iparm[zero_based] == 1;
}

}  // namespace

const MatrixType* matrix_type(std::int64_t number) {
  for (const MatrixType& type : matrix_types)
    if (type.number == number) return &type;
  return nullptr;
}

Parameters default_parameters(Dialect dialect, std::int64_t number) {
  const MatrixType& type = *matrix_type(number);
  Parameters iparm{};
  iparm[is_set] = 1;
  iparm[ordering] = dialect == Dialect::mkl ? 3 : 2;
  iparm[refinement] = dialect == Dialect::mkl ? 2 : 0;
  iparm[report_nonzeros] = iparm[report_flops] = -1;
  if (type.kind == FactorKind::ldlt) iparm[perturbation] = 8, iparm[pivoting] = 1;
  if (type.kind == FactorKind::lu) iparm[perturbation] = 13;
  if (type.is_matched) iparm[scaling] = iparm[matching] = 1;
  return iparm;
}

Settings read_settings(Call& call) {
  Settings settings;
  settings.type = matrix_type(call.mtype);
  refuse_if(settings.type == nullptr, "mtype is none of 1, 2, -2, 3, 4, -4, 6, 11, 13");
  const std::int64_t given_threads = call.iparm[threads];
  if (call.iparm[is_set] == 0) {
    call.iparm = default_parameters(call.dialect, call.mtype);
    call.iparm[threads] = given_threads;
  }
  read_own(call, settings);
  const Parameters& iparm = call.iparm;
  settings.order.method = ordering_of(iparm[ordering]);
  settings.order.pivot_need = pivot_need(settings.type->kind);
  settings.order.matching = iparm[matching] > 0 && settings.type->kind != FactorKind::llt;
  settings.order.scaling = iparm[scaling] > 0 && settings.type->kind != FactorKind::llt;
  settings.user_order = iparm[permutation] == 1;
  settings.return_order = iparm[permutation] == 2;
  if (settings.user_order) settings.order.method = OrderingMethod::user;
  settings.tiny_pivot = tiny_pivot_of(iparm[perturbation], settings.is_single);
  settings.operation = operation_of(call.dialect, iparm[transposition]);
  constexpr std::int64_t automatic_steps = 2, most_steps = 1000;
  settings.refine_steps = static_cast<int>(
      iparm[refinement] == 0 ? automatic_steps : std::min(std::abs(iparm[refinement]), most_steps));
  settings.solution_in_b = iparm[solution_place] == 1;
  settings.threads = static_cast<int>(std::clamp<std::int64_t>(iparm[threads], 0, 4096));
  return settings;
}

}  // namespace palmette::pardiso
