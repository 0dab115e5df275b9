// A file of a rank holds what the rank holds: the whole matrix or its rows, order and structure, and its part
// of the factor. Owners of blocks follow from the structure and are compared with those of the file.
#include "palmette/solver/kept_ranks.hpp"

#include "palmette/solver/kept_factor.hpp"
#include "palmette/solver/kept_structure.hpp"

namespace palmette {
namespace {

constexpr std::string_view ranks_content = "rank factors";
// Of the sections and their meaning: another number for every change of either.
constexpr std::uint32_t ranks_version = 1;
constexpr std::string_view other_remedy = "factorize the matrix again and save that";

/// Visits the options with the layout that was used, not with what chose it.
void visit_rank_options(const FigureVisit& visit, RankSolverOptions& options) {
  visit_kind(visit, options.kind);
  pass(visit, options.ordering);
  pass(visit, options.tiny_pivot);
  pass(visit, options.matching);
  visit_analysis(visit, options.analyze);
  pass(visit, options.grid.rows);
  pass(visit, options.grid.cols);
  pass(visit, options.layers);
  pass(visit, options.layered_method);
  pass(visit, options.map);
  pass(visit, options.whole.kept);
  pass(visit, options.whole.max_entries);
  pass(visit, options.rhs_groups);
  pass(visit, options.trees);
  pass(visit, options.delivery);
  pass(visit, options.max_rhs);
}

void visit_rank_figures(const FigureVisit& visit, FactorKind& kind, Report& report) {
  pass(visit, kind);
  visit_phases(visit, report);
}

ArchiveRequest request_for(bool check_panels) {
  ArchiveRequest request;
  request.name = ranks_content;
  request.version = ranks_version;
  request.remedy = other_remedy;
  request.library = version();
  request.unchecked_prefix = panel_sections;
  request.check_all = check_panels;
  return request;
}

template <class T>
void add_factor(ArchiveWriter& file, const RankFactor<T>& factor) {
  const index_t numbers[] = {static_cast<index_t>(factor.kind), factor.hermitian ? 1 : 0};
  file.add("factor.numbers", std::span<const index_t>(numbers));
  save_pivoting(file, factor);
  std::vector<offset_t> blocks;
  for (const OwnBlock& own : factor.owned.own) blocks.push_back(own.block);
  file.add("owned.panel", factor.owned.panel);
  file.add("owned.block", blocks);
  file.add("panels.lower", span_over(factor.lower));
  file.add("panels.upper", span_over(factor.upper));
}

template <class T>
void add_sections(ArchiveWriter& file, const RankProducts<T>& made, RankSolverOptions options) {
  options.grid = made.layout.ranks.grid;
  options.layers = made.layout.ranks.layers;
  options.layered_method = made.layout.layered_method;
  options.map = made.layout.map;
  options.rhs_groups = made.layout.rhs_groups;
  FactorKind kind = made.kind;
  Report report = made.report.run;
  save_figures(file, [&](const FigureVisit& visit) {
    visit_rank_options(visit, options);
    visit_rank_figures(visit, kind, report);
  });
  file.add("solver.user_ordering", options.user_ordering.new_to_old());
  made.input->save(file);
  save_structure(file, *made.ordering, *made.symbolic);
  save_pivots(file, report.factorize->pivots);
  save_replaced(file, made.replaced);
  add_factor(file, made.inverse->factor());
}

std::vector<std::uint64_t> numbers_of_all(std::uint64_t mine, const RankTeam& ranks) {
  std::vector<std::uint64_t> all;
  exchange(ranks.transport, [&] { all = values_of_ranks(mine, ranks.transport, ranks.team, ranks.drive); });
  return all;
}

std::string count_of_ranks(std::uint32_t ranks) {
  return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

void check_place(const Archive& file, index_t rank, index_t num_ranks) {
  const ArchiveSet set = file.set();
  if (set.num_files != static_cast<std::uint32_t>(num_ranks))
    file.refuse("was saved by " + count_of_ranks(set.num_files) + ", but this run has " +
                std::to_string(num_ranks) + ": start as many as saved it");
  if (set.file != static_cast<std::uint32_t>(rank))
    file.refuse("was saved by rank " + std::to_string(set.file) + " of its set, not by rank " +
                std::to_string(rank) + ": give it back its name");
}

/// The panels of a factor whose owners are known.
template <class T>
void load_blocks(const std::shared_ptr<const Archive>& file, bool map, RankFactor<T>& factor) {
  const std::span<const index_t> panel = file->section<index_t>("owned.panel");
  const std::span<const offset_t> block = file->section<offset_t>("owned.block");
  const OwnedBlocks& owned = factor.owned;
  const auto is_same = [](offset_t number, const OwnBlock& own) { return number == own.block; };
  if (!std::equal(panel.begin(), panel.end(), owned.panel.begin(), owned.panel.end()) ||
      !std::equal(block.begin(), block.end(), owned.own.begin(), owned.own.end(), is_same))
    file->refuse("gives blocks to other ranks than this version of Palmette");
  factor.lower = load_panels<T>(file, "panels.lower", map);
  factor.upper = load_panels<T>(file, "panels.upper", map);
  const offset_t upper = factor.kind == FactorKind::lu ? owned.entries() : 0;
  if (factor.lower.size() != owned.entries() || factor.upper.size() != upper)
    file->refuse("is damaged: its blocks do not fit its structure");
}

template <class T>
std::shared_ptr<RankFactor<T>> load_part(const std::shared_ptr<const Archive>& file,
                                         const RankProducts<T>& made, index_t rank, bool map) {
  const std::span<const index_t> numbers = file->section<index_t>("factor.numbers");
  if (numbers.size() != 2 || numbers[0] != static_cast<index_t>(made.kind))
    file->refuse("is damaged: its factor has no kind, or another");
  const LayerSystem* const layer = made.layers.several() ? &made.layers.of(rank) : nullptr;
  auto factor = std::make_shared<RankFactor<T>>();
  factor->kind = made.kind;
  factor->hermitian = numbers[1] != 0;
  factor->symbolic = layer != nullptr ? layer->symbolic : made.symbolic;
  factor->placement = layer != nullptr ? layer->placement : made.placement;
  factor->owned = owned_blocks(*factor->symbolic, *factor->placement,
                               layer != nullptr ? rank - layer->ranks.first_rank(layer->layer) : rank);
  load_pivoting<T>(*file, made.symbolic->n, *factor);
  load_blocks(file, map, *factor);
  return factor;
}

}  // namespace

std::string file_of_rank(const std::string& path, index_t rank) {
  return path + ".rank" + std::to_string(rank);
}

ScalarType saved_scalar_over_ranks(const std::string& path, Transport& transport) {
  ThreadTeam alone(1);
  ScalarType scalar = ScalarType::float64;
  check_on_all({transport, alone, {}}, [&] {
    const auto file = Archive::open(file_of_rank(path, transport.rank()), request_for(false));
    check_place(*file, transport.rank(), transport.num_ranks());
    scalar = file->scalar();
  });
  return scalar;
}

void check_savable_over_ranks(const std::string& path, Transport& transport) {
  ThreadTeam alone(1);
  check_on_all({transport, alone, {}}, [&] { check_savable(file_of_rank(path, transport.rank())); });
}

template <class T>
void save_rank_products(const std::string& path, const RankProducts<T>& made,
                        const RankSolverOptions& options, const RankTeam& ranks) {
  const index_t rank = ranks.transport.rank();
  std::optional<ArchiveWriter> file;
  check_on_all(ranks, [&] {
    file.emplace(file_of_rank(path, rank),
                 ArchiveContent{ranks_content, ranks_version, ScalarTraits<T>::type, version()});
    add_sections(*file, made, options);
  });
  // The content of all files names the set, so the same solver always writes the same files.
  const std::vector<std::uint64_t> sums = numbers_of_all(file->sum(), ranks);
  check_on_all(ranks, [&] {
    file->set_place({checksum(std::as_bytes(std::span(sums))), static_cast<std::uint32_t>(rank),
                     static_cast<std::uint32_t>(ranks.transport.num_ranks())});
    file->seal();
  });
  check_on_all(ranks, [&] { file->publish(); });
}

template <class T>
std::shared_ptr<const Archive> open_file_of_rank(const std::string& path, const RankLoadOptions& options,
                                                 const RankTeam& ranks) {
  std::shared_ptr<const Archive> file;
  check_on_all(ranks, [&] {
    file = Archive::open(file_of_rank(path, ranks.transport.rank()), request_for(options.check_panels));
    check_place(*file, ranks.transport.rank(), ranks.transport.num_ranks());
    if (file->scalar() == ScalarTraits<T>::type) return;
    const std::string found(name_of(file->scalar()));
    throw IoError(file->path(), 0,
                  "holds factors of " + found + ", not of " + std::string(ScalarTraits<T>::name) +
                      "; load them as " + found);
  });
  const std::vector<std::uint64_t> ids = numbers_of_all(file->set().id, ranks);
  for (std::size_t rank = 1; rank < ids.size(); ++rank)
    if (ids[rank] != ids[0])
      throw IoError(file_of_rank(path, static_cast<index_t>(rank)), 0,
                    "belongs to another set than " + file_of_rank(path, 0) +
                        "; put together the files of one save, or " + std::string(other_remedy));
  return file;
}

RankSolverOptions kept_rank_options(const Archive& file, const RankLoadOptions& options) {
  RankSolverOptions kept;
  load_figures(file, [&](const FigureVisit& visit) { visit_rank_options(visit, kept); });
  kept.user_ordering = Permutation(file.values<index_t>("solver.user_ordering"));
  kept.threads = options.threads;
  kept.watchdog_seconds = options.watchdog_seconds;
  kept.device = options.device;
  kept.memory = options.memory;
  kept.singular = options.singular;
  if (kept.device) kept.rhs_groups = 1;
  kept.transport_name = options.transport_name;
  kept.transport_note = options.transport_note;
  kept.planned = options.planned;
  return kept;
}

template <class T>
KeptRankProducts<T> load_rank_products(const std::shared_ptr<const Archive>& file,
                                       std::shared_ptr<const RankInput<T>> input,
                                       const RankSolverOptions& options, index_t rank, bool map) {
  KeptRankProducts<T> kept;
  RankProducts<T>& made = kept.made;
  Report& run = made.report.run;
  run.order.emplace();
  run.analyze.emplace();
  run.factorize.emplace();
  load_figures(*file, [&](const FigureVisit& visit) {
    RankSolverOptions read_before;
    visit_rank_options(visit, read_before);
    visit_rank_figures(visit, made.kind, run);
  });
  const index_t n = input->pattern().rows;
  made.input = std::move(input);
  made.ordering = std::make_shared<const Ordering>(load_ordering(*file, *run.order, n));
  made.symbolic = std::make_shared<const SymbolicFactor>(load_structure(*file, n));
  run.factorize->pivots = load_pivots(*file);
  if (file->has("replaced.row")) made.replaced = load_replaced(*file, n);
  place_into(made,
             {{options.grid, options.layers}, options.map, options.layered_method, options.rhs_groups},
             options.whole);
  kept.factor = load_part(file, made, rank, map);
  run.notes.push_back("factors of " + file->path() + " and the other files of its set, which Palmette " +
                      file->library() + " saved, " +
                      (map ? "used where they lie in the files" : "copied into memory"));
  return kept;
}

#define PALMETTE_INSTANTIATE(T)                                                                        \
  template void save_rank_products<T>(const std::string&, const RankProducts<T>&,                     \
                                      const RankSolverOptions&, const RankTeam&);                     \
  template std::shared_ptr<const Archive> open_file_of_rank<T>(                                       \
      const std::string&, const RankLoadOptions&, const RankTeam&);                                   \
  template KeptRankProducts<T> load_rank_products<T>(const std::shared_ptr<const Archive>&,           \
                                                     std::shared_ptr<const RankInput<T>>,             \
                                                     const RankSolverOptions&, index_t, bool);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
