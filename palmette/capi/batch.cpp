// Batches of small systems for C.
#include <algorithm>

#include "palmette/capi/handle.hpp"

struct palmette_batch {
  std::variant<palmette::BatchSolver<double>, palmette::BatchSolver<std::complex<double>>> solver;
};

namespace palmette::capi {
namespace {

template <class T>
SparseMatrix<T> first_matrix(const palmette_batch_pattern& given) {
  require(given.n >= 0, "n is negative");
  const std::size_t entries = entries_of(given.n, given.column_ptr);
  require(entries == 0 || (given.row_index != nullptr && given.first_values != nullptr),
          "row_index or first_values is NULL");
  SparseMatrix<T> matrix = from_compressed_columns<T>(
      given.n, given.n, {given.column_ptr, static_cast<std::size_t>(given.n) + 1}, {given.row_index, entries},
      {reinterpret_cast<const T*>(given.first_values), entries});
  require(std::equal(matrix.pattern.row_index.begin(), matrix.pattern.row_index.end(), given.row_index,
                     given.row_index + entries),
          "rows do not ascend within each column, or occur twice: the values of a batch have one order");
  return matrix;
}

template <class T>
palmette_status create_batch(const palmette_batch_pattern* pattern, const palmette_options* options,
                             palmette_batch** out) {
  require(out != nullptr, "batch is NULL; pass a pointer for the handle");
  *out = nullptr;
  require(pattern != nullptr, "pattern is NULL");
  BatchOptions wanted;
  if (options != nullptr) {
    wanted.kind = kind_from(options->kind);
    wanted.ordering = ordering_from(options->ordering);
    wanted.threads = options->threads;
  }
  auto made =
      BatchSolver<T>::create(std::make_shared<const SparseMatrix<T>>(first_matrix<T>(*pattern)), wanted);
  if (!made) return record(made.failure());
  *out = new palmette_batch{std::move(made).value()};
  return PALMETTE_OK;
}

template <class T>
palmette_status solve_batch(const palmette_batch* batch, const palmette_batch_systems* given) {
  require(batch != nullptr, "batch is NULL");
  require(given != nullptr, "systems is NULL");
  const auto* solver = std::get_if<BatchSolver<T>>(&batch->solver);
  require(solver != nullptr, is_complex_v<T> ? "the matrices are real: use the _d function"
                                             : "the matrices are complex: use the _z function");
  const offset_t n = solver->size(), block = n * std::max(given->num_rhs, 0);
  const BatchReport report =
      solver->solve({reinterpret_cast<const T*>(given->values), solver->nnz(), 1, 0},
                    {reinterpret_cast<const T*>(given->b), block, 1, n},
                    {reinterpret_cast<T*>(given->x), block, 1, n}, given->num_systems, given->num_rhs);
  if (given->backward_error != nullptr)
    std::copy(report.backward_error.begin(), report.backward_error.end(), given->backward_error);
  if (given->state != nullptr)
    std::transform(report.state.begin(), report.state.end(), given->state,
                   [](BatchState state) { return static_cast<int32_t>(state); });
  if (report.verified()) return PALMETTE_OK;
  return record_unverified(report.notes.back());
}

}  // namespace
}  // namespace palmette::capi

namespace capi = palmette::capi;

palmette_status palmette_batch_create_d(const palmette_batch_pattern* pattern,
                                        const palmette_options* options, palmette_batch** batch) {
  return capi::guarded([&] { return capi::create_batch<double>(pattern, options, batch); });
}

palmette_status palmette_batch_create_z(const palmette_batch_pattern* pattern,
                                        const palmette_options* options, palmette_batch** batch) {
  return capi::guarded([&] { return capi::create_batch<std::complex<double>>(pattern, options, batch); });
}

void palmette_batch_destroy(palmette_batch* batch) {
  delete batch;
}

palmette_status palmette_batch_solve_d(const palmette_batch* batch, const palmette_batch_systems* systems) {
  return capi::guarded([&] { return capi::solve_batch<double>(batch, systems); });
}

palmette_status palmette_batch_solve_z(const palmette_batch* batch, const palmette_batch_systems* systems) {
  return capi::guarded([&] { return capi::solve_batch<std::complex<double>>(batch, systems); });
}
