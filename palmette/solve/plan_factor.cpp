// plan_solve: a plan from a Factor, and its memory predicted from the structure alone.
#include <algorithm>
#include <new>

#include "palmette/solve/plan_body.hpp"
#include "palmette/solve/device_core.hpp"

namespace palmette {
namespace {

/// Bytes that a sweep reads for one entry of the factor: one array serves each sweep, for LU too.
int bytes_of(ScalarType scalar) {
  switch (scalar) {
    case ScalarType::float32: return 4;
    case ScalarType::float64: return 8;
    case ScalarType::complex64: return 8;
    case ScalarType::complex128: return 16;
  }
  return 0;
}

using solve_detail::PanelPositions;

PanelPositions positions_of(const PanelsInFile& file, bool upper) {
  if (upper) return {file.plan_upper, file.upper};
  return {file.plan_lower, file.lower};
}

template <class T>
std::uint64_t largest_panel_bytes_of(const solve_detail::SupernodalParts<T>& parts,
                                     const PanelsInFile& file) {
  const std::uint64_t largest = solve_detail::largest_panel_bytes(*parts.lower, positions_of(file, false));
  if (!parts.upper) return largest;
  return std::max(largest, solve_detail::largest_panel_bytes(*parts.upper, positions_of(file, true)));
}

/// The panels of both triangles come from the file from now on.
template <class T>
void stream_panels(solve_detail::SupernodalParts<T>& parts, const PanelsInFile& file) {
  const std::uint64_t largest = largest_panel_bytes_of(parts, file),
                      least = solve_detail::least_buffer_bytes(largest);
  if (file.memory_bytes < least)
    throw UsageError("panels in a file need at least " + std::to_string(least) + " bytes of memory, not " +
                     std::to_string(file.memory_bytes));
  parts.streamed = std::make_unique<solve_detail::StreamedTriangles>(
      file, largest, parts.upper != nullptr, [&](bool upper, std::uint64_t piece_bytes) {
        return solve_detail::pieces_of(upper ? *parts.upper : *parts.lower, positions_of(file, upper),
                                       piece_bytes);
      });
  parts.lower->look_through(&parts.streamed->window(false));
  if (parts.upper) parts.upper->look_through(&parts.streamed->window(true));
}

/// What a triangle may be made of besides its factor.
template <class T>
struct TriangleOrigin {
  const TriangleValues<T>& values;  ///< of this triangle
  const PlanValues<T>& all;         ///< of the plan
  std::shared_ptr<solve_detail::TriangleStore<T>> store;  ///< null: memory of its own
};

template <class T>
std::unique_ptr<solve_detail::SupernodalTriangle<T>> triangle_of(
    const PlanStructure& structure, const solve_detail::TriangleSource<T>& source, const PlanOptions& options,
    const TriangleOrigin<T>& from) {
  using Triangle = solve_detail::SupernodalTriangle<T>;
  if (from.store) return std::make_unique<Triangle>(structure, source, options, from.store);
  if (from.all.file) return std::make_unique<Triangle>(structure, source, from.values);
  return std::make_unique<Triangle>(structure, source, options, from.values, from.all.owner);
}

template <class T>
solve_detail::SupernodalParts<T> parts_of(std::shared_ptr<const Factor<T>> factor, const PlanOptions& options,
                                          std::shared_ptr<const PlanStructure> structure,
                                          const PlanValues<T>& known, PlanStore<T>* store = nullptr) {
  solve_detail::SupernodalParts<T> parts;
  const bool fits = structure && &structure->symbolic() == factor->symbolic.get() &&
                    structure->entry_bytes() == bytes_of(ScalarTraits<T>::type);
  parts.structure = fits ? std::move(structure) : plan_structure(factor->symbolic, ScalarTraits<T>::type);
  solve_detail::StoredParts<T> none{nullptr, factor->kind, nullptr, nullptr, nullptr};
  const solve_detail::StoredParts<T>& stored =
      store != nullptr ? store->parts_for(parts.structure, factor->kind) : none;
  solve_detail::TriangleSource<T> lower;
  lower.diagonal = lower.below = factor->lower.data();
  lower.unit_diagonal = factor->kind != FactorKind::llt;
  lower.place = factor->kind != FactorKind::llt ? factor->place.data() : nullptr;
  parts.lower = triangle_of<T>(*parts.structure, lower, options, {known.lower, known, stored.lower});
  if (factor->kind == FactorKind::lu) {
    solve_detail::TriangleSource<T> upper;
    upper.diagonal = upper.below = factor->upper.data();
    parts.upper = triangle_of<T>(*parts.structure, upper, options, {known.upper, known, stored.upper});
  }
  if (factor->kind == FactorKind::ldlt)
    parts.diagonal.emplace(factor->hermitian, std::span<const T>(factor->d),
                           std::span<const T>(factor->d_below));
  parts.adjoint = factor->kind == FactorKind::llt || factor->hermitian;
  const std::vector<double>&rows = factor->row_scale, &columns = factor->column_scale;
  parts.num_scales = (rows.empty() ? 0 : 1) + (columns.empty() || columns == rows ? 0 : 1);
  parts.values = std::move(factor);
  return parts;
}

/// Scales in the order in which a sweep meets its rows. By the caller's rows they would be read here and
/// there, as the values of b are.
struct ScalesInOrder {
  PanelArray<double> range, domain;

  void add(index_t n, ThreadTeam* team, solve_detail::IndexMap& map, PanelArray<double>& scales) {
    if (map.scale == nullptr || map.place == nullptr) return;
    scales = PanelArray<double>(n, Uninitialised());
    over_ranges(team, n, [&](offset_t begin, offset_t end) {
      for (offset_t k = begin; k < end; ++k) scales.data()[k] = map.scale[map.place[k]];
    });
    map.scale_in_order = scales.data();
  }
};

template <class T>
void put_scales_in_order(const Factor<T>& factor, ThreadTeam* team, solve_detail::Stage<T>& stage) {
  if (factor.row_scale.empty() && factor.column_scale.empty()) return;
  const auto made = std::make_shared<ScalesInOrder>();
  made->add(factor.size(), team, stage.range, made->range);
  const SymbolicFactor& symbolic = *factor.symbolic;
  if (symbolic.row.new_to_old() == symbolic.column.new_to_old() && factor.row_scale == factor.column_scale)
    stage.domain.scale_in_order = stage.range.scale_in_order;
  else made->add(factor.size(), team, stage.domain, made->domain);
  stage.maps_bytes = made->range.bytes() + made->domain.bytes();
  stage.maps = made;
}

}  // namespace

std::shared_ptr<const PlanStructure> plan_structure(std::shared_ptr<const SymbolicFactor> symbolic,
                                                    ScalarType scalar) {
  if (!symbolic) throw UsageError("plan_structure: the structure is null; call analyze first");
  return std::make_shared<const PlanStructure>(std::move(symbolic), bytes_of(scalar));
}

template <class T>
const solve_detail::StoredParts<T>& PlanStore<T>::parts_for(std::shared_ptr<const PlanStructure> structure,
                                                            FactorKind kind) {
  if (!parts_ || parts_->structure != structure || parts_->kind != kind) {
    parts_ = std::make_shared<solve_detail::StoredParts<T>>();
    parts_->structure = std::move(structure);
    parts_->kind = kind;
  }
  return *parts_;
}

template <class T>
SolvePlan<T> plan_solve(std::shared_ptr<const Factor<T>> factor, const PlanOptions& options,
                        std::shared_ptr<const PlanStructure> structure, const PlanValues<T>& known,
                        PlanStore<T>* store) {
  if (!factor || !factor->symbolic)
    throw UsageError("plan_solve: the factor is null; call factorize first and check that it succeeded");
  blas::use_one_thread();
  const SubnormalsAsZero scope;
  if (options.device || options.world || known.owner || known.file) store = nullptr;
  try {
    solve_detail::Stage<T> stage;
    // Permutations and scalings stay in the factor, which the core keeps alive.
    const SymbolicFactor& symbolic = *factor->symbolic;
    if (!symbolic.row.is_identity())
      stage.range = {symbolic.row.new_to_old().data(), nullptr, symbolic.row.old_to_new().data()};
    if (!symbolic.column.is_identity())
      stage.domain = {symbolic.column.new_to_old().data(), nullptr, symbolic.column.old_to_new().data()};
    if (!factor->row_scale.empty()) stage.range.scale = factor->row_scale.data();
    if (!factor->column_scale.empty()) stage.domain.scale = factor->column_scale.data();
    // With panels in a file the disk decides, and all memory but a structure's is for panels.
    if (!options.device && !options.world && !known.file)
      put_scales_in_order(*factor, options.team, stage);
    const index_t n = factor->size();
    auto maps = std::make_unique<const solve_detail::PartMaps<T>>(*factor);
    const FactorKind kind = factor->kind;
    solve_detail::SupernodalParts<T> parts =
        parts_of(std::move(factor), options, std::move(structure), known, store);
    const auto workspaces = store != nullptr ? store->parts_for(parts.structure, kind).workspaces : nullptr;
    if (known.file) stream_panels(parts, *known.file);
    stage.core = solve_detail::make_core(std::move(parts), options);
    std::vector<solve_detail::Stage<T>> stages;
    stages.push_back(std::move(stage));
    return SolvePlan<T>(
        std::make_unique<const solve_detail::PlanBody<T>>(n, std::move(stages), std::move(maps), workspaces));
  } catch (const std::bad_alloc&) {
    throw MemoryError("cannot allocate the plan of a solve");
  }
}

template <class T>
offset_t least_panel_memory(std::shared_ptr<const Factor<T>> factor,
                            std::shared_ptr<const PlanStructure> structure, const PlanValues<T>& known) {
  const auto parts = parts_of(std::move(factor), {}, std::move(structure), known);
  return static_cast<offset_t>(
      solve_detail::least_buffer_bytes(largest_panel_bytes_of(parts, *known.file)));
}

index_t plan_layout(ScalarType scalar) {
  return 100000 * solve_detail::panel_layout_version + 1000 * packed_rows(bytes_of(scalar)) +
         solve_detail::packed_width;
}

PlanMemory predicted_plan_bytes(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                                index_t num_rhs) {
  // The symbolic factor is the caller's and outlives this call: shared without ownership.
  return predicted_plan_bytes(
      PlanStructure(std::shared_ptr<const SymbolicFactor>(std::shared_ptr<void>(), &symbolic),
                    bytes_of(scalar)),
      kind, scalar, num_rhs);
}

PlanMemory predicted_plan_bytes(const PlanStructure& structure, FactorKind kind, ScalarType scalar,
                                index_t num_rhs) {
  const offset_t scalar_bytes = bytes_of(scalar), n = structure.symbolic().n;
  PlanMemory memory;
  memory.structure_bytes = structure.memory_bytes();
  memory.plan_bytes = memory.structure_bytes + solve_detail::SupernodalTriangle<double>::predicted_bytes(
                                                   structure, scalar_bytes, kind != FactorKind::llt);
  if (kind == FactorKind::lu)
    memory.plan_bytes +=
        solve_detail::SupernodalTriangle<double>::predicted_bytes(structure, scalar_bytes, false);
  if (kind == FactorKind::ldlt) memory.plan_bytes += 2 * n * scalar_bytes;
  // Scales in the order of sweeps, as long as it is not known that there are none.
  if (kind != FactorKind::llt)
    memory.plan_bytes += n * (kind == FactorKind::lu ? 2 : 1) * offset_t{sizeof(double)};
  const solve_detail::WorkspaceNeed need =
      solve_detail::supernodal_workspace_need(structure, static_cast<int>(scalar_bytes),
                                       std::min(num_rhs, solve_detail::rhs_block));
  memory.workspace_bytes = (need.work + need.boundary + need.thread) * scalar_bytes;
  return memory;
}

#define PALMETTE_INSTANTIATE(T)                                                             \
  template SolvePlan<T> plan_solve<T>(std::shared_ptr<const Factor<T>>, const PlanOptions&, \
                                      std::shared_ptr<const PlanStructure>, const PlanValues<T>&,  \
                                      PlanStore<T>*);                                              \
  template class PlanStore<T>;                                                                     \
  template offset_t least_panel_memory<T>(std::shared_ptr<const Factor<T>>,                        \
                                          std::shared_ptr<const PlanStructure>, const PlanValues<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
