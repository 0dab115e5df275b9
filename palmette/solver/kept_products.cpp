// A solver's file: options, matrix, structure and inverse.
#include "palmette/solver/kept_products.hpp"

#include "palmette/solver/hall.hpp"
#include "palmette/solver/kept_factor.hpp"
#include "palmette/solver/kept_structure.hpp"

namespace palmette {
namespace {

constexpr std::string_view factors_content = "factors";
// Of the sections and their meaning: another number for every change of either.
constexpr std::uint32_t factors_version = 2;

void visit_options(const FigureVisit& visit, SolverOptions& options) {
  visit_kind(visit, options.kind);
  pass(visit, options.ordering);
  pass(visit, options.mixed_precision);
  pass(visit, options.tiny_pivot);
  pass(visit, options.singular);
  visit_analysis(visit, options.analyze);
}

template <class T>
void visit_figures(const FigureVisit& visit, Products<T>& made) {
  pass(visit, made.kind);
  pass(visit, made.known.symmetry);
  pass(visit, made.known.asymmetry);
  visit_phases(visit, made.report);
}

std::vector<MatrixPlace> load_completion(const Archive& file, index_t n) {
  const std::span<const index_t> numbers = file.section<index_t>("matrix.completion");
  std::vector<MatrixPlace> places;
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) places.push_back({numbers[k], numbers[k + 1]});
  for (const MatrixPlace& place : places)
    if (place.row < 0 || place.row >= n || place.column < 0 || place.column >= n)
      file.refuse("is damaged: an added entry lies outside its matrix");
  return places;
}

template <class T>
void save_sections(ArchiveWriter& file, Products<T> made, SolverOptions options) {
  save_figures(file, [&](const FigureVisit& visit) {
    visit_options(visit, options);
    visit_figures(visit, made);
  });
  file.add("solver.user_ordering", options.user_ordering.new_to_old());
  save_matrix(file, *made.known.matrix);
  std::vector<index_t> completion;
  for (const MatrixPlace& place : made.completion)
    completion.insert(completion.end(), {place.row, place.column});
  file.add("matrix.completion", completion);
  if (made.symbolic) save_structure(file, *made.ordering, *made.symbolic);
  made.inverse->save(file);
}

ArchiveRequest request_for(bool check_panels, bool keep_open = false) {
  ArchiveRequest request;
  request.name = factors_content;
  request.version = factors_version;
  request.remedy = "factorize the matrix again and save that";
  request.library = version();
  request.unchecked_prefix = panel_sections;
  request.check_all = check_panels;
  request.keep_open = keep_open;
  return request;
}

template <class T>
offset_t bytes_of_matrix(const SparseMatrix<T>& matrix) {
  return bytes_of(matrix.pattern.column_ptr) + bytes_of(matrix.pattern.row_index) + bytes_of(matrix.values);
}

OutOfCore out_of_core(const LoadOptions& options) {
  if (options.memory_budget < 0 || !(options.disk_gbs >= 0))
    throw MemoryBudgetError("a memory budget and the rate of a disk must not be negative");
  return {options.memory_budget, 0, options.disk_gbs, options.measure};
}

std::string note_on(const Archive& file, const LoadOptions& options, bool stays_in_file) {
  std::string where = options.map ? "used where they lie in the file" : "copied into memory";
  if (stays_in_file)
    where = "read from the file for each solve within a memory budget of " +
            std::to_string(options.memory_budget) + " bytes";
  return "factors of " + file.path() + ", which Palmette " + file.library() + " saved, " + where +
         (options.check_panels ? "" : "; checksums of their values were not compared");
}

template <class T>
KeptProducts<T> load_sections(const std::shared_ptr<const Archive>& file, const LoadOptions& options) {
  KeptProducts<T> kept;
  Products<T>& made = kept.made;
  const auto matrix = load_matrix<T>(*file);
  made = begun<T>({matrix, matrix->symmetry, 0}, FactorKind::lu);
  made.report.order.emplace();
  made.report.analyze.emplace();
  made.report.factorize.emplace();
  load_figures(*file, [&](const FigureVisit& visit) {
    visit_options(visit, kept.options);
    visit_figures(visit, made);
  });
  made.report.matrix.symmetry = made.known.symmetry;
  kept.options.user_ordering = Permutation(file->values<index_t>("solver.user_ordering"));
  made.completion = load_completion(*file, matrix->rows());
  KeptInverse input{
      file, nullptr, nullptr, options.map, made.report.factorize->seconds, kept.options.mixed_precision,
      out_of_core(options)};
  if (file->has("columns.numbers")) {
    made.columns = ColumnFactor<T>::load(*file, load_pivots(*file));
    if (made.columns->size() != matrix->rows()) file->refuse("is damaged: its factor has another size");
    made.inverse = inverse_by_columns<T>(made.columns, input.seconds);
    const offset_t least = bytes_of_matrix(*matrix) + made.inverse->factor_bytes();
    if (options.memory_budget > 0 && options.memory_budget < least)
      throw MemoryBudgetError("a memory budget of " + std::to_string(options.memory_budget) +
                              " bytes is too small for " + file->path() +
                              ", whose thin factor is kept in memory: give at least " +
                              std::to_string(least) + " bytes");
  } else {
    made.ordering =
        std::make_shared<const Ordering>(load_ordering(*file, *made.report.order, matrix->rows()));
    made.symbolic = std::make_shared<const SymbolicFactor>(load_structure(*file, matrix->rows()));
    made.structure = plan_structure(made.symbolic, scalar_of_factor<T>(kept.options.mixed_precision));
    input.symbolic = made.symbolic;
    input.structure = made.structure;
    input.out_of_core.other_bytes = bytes_of_matrix(*matrix) + made.symbolic->memory_bytes();
    if (kept.options.mixed_precision)  // vectors in working precision beside those of the factor, two scales
      input.out_of_core.other_bytes +=
          offset_t{matrix->rows()} * static_cast<offset_t>(12 * sizeof(T) + 2 * sizeof(double));
    made.inverse = load_inverse<T>(input);
  }
  report_factor(made, made.report.factorize->threads);
  made.report.notes.push_back(note_on(*file, options, made.inverse->file().has_value()));
  return kept;
}

}  // namespace

template <class T>
void save_products(const std::string& path, const Products<T>& made, const SolverOptions& options) {
  ArchiveWriter file(path, {factors_content, factors_version, ScalarTraits<T>::type, version()});
  save_sections(file, made, options);
  file.finish();
}

template <class T>
KeptProducts<T> load_products(const std::string& path, const LoadOptions& options) {
  const std::shared_ptr<const Archive> file =
      Archive::open(path, request_for(options.check_panels, options.memory_budget > 0));
  if (file->scalar() != ScalarTraits<T>::type)
    throw IoError(path, 0,
                  "holds factors of " + std::string(name_of(file->scalar())) + ", not of " +
                      std::string(ScalarTraits<T>::name) + "; load them as " +
                      std::string(name_of(file->scalar())));
  try {
    KeptProducts<T> kept = load_sections<T>(file, options);
    kept.options.threads = options.threads;
    kept.options.method = options.method;
    kept.options.measure = options.measure;
    kept.options.cache_folder = options.cache_folder;
    kept.options.progress = options.progress;
    return kept;
  } catch (const MemoryBudgetError&) {
    throw;
  } catch (const UsageError& error) {
    file->refuse("is damaged: " + std::string(error.what()));
  }
}

void check_savable(const std::string& path) {
  const ArchiveContent any{factors_content, factors_version, ScalarType::float64, version()};
  const ArchiveWriter removed_at_once(path, any);
}

ScalarType saved_scalar(const std::string& path) {
  ArchiveRequest request = request_for(false);
  return Archive::open(path, request)->scalar();
}

#define PALMETTE_INSTANTIATE(T)                                                                 \
  template void save_products<T>(const std::string&, const Products<T>&, const SolverOptions&); \
  template KeptProducts<T> load_products<T>(const std::string&, const LoadOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
