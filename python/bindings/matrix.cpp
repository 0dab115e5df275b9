// Matrices: from arrays, from files, from generators; and to files.
#include <algorithm>
#include <type_traits>

#include "bindings.hpp"

namespace palmette::python {
namespace {

/// Arrays of compressed columns, in any order, duplicates allowed → a matrix whose symmetry is known.
template <class T>
MatrixHandle<T> make_matrix(std::pair<index_t, index_t> shape, ArrayIn<offset_t> column_ptr,
                            ArrayIn<index_t> row_index, ArrayIn<T> values) {
  const LockReleased released;
  SparseMatrix<T> matrix = from_compressed_columns<T>(shape.first, shape.second, span_of(column_ptr),
                                                      span_of(row_index), span_of(values));
  matrix.symmetry = detect_symmetry(matrix);
  const auto given = span_of(row_index);
  const bool in_order = std::equal(given.begin(), given.end(), matrix.pattern.row_index.begin(),
                                   matrix.pattern.row_index.end());
  return {std::make_shared<const SparseMatrix<T>>(std::move(matrix)), in_order};
}

nb::tuple read_arrays(const std::string& path, int threads) {
  ReadResult result;
  {
    const LockReleased released;
    ReadOptions options;
    options.threads = threads;
    result = read_matrix(path, options);
  }
  return std::visit([](auto& matrix) { return to_arrays(std::move(matrix)); }, result.matrix);
}

nb::tuple generate_arrays(const std::string& problem, index_t n, std::uint64_t seed, double parameter) {
  SparseMatrix<double> matrix;
  {
    const LockReleased released;
    matrix = generate({problem, n, seed, parameter});
  }
  return to_arrays(std::move(matrix));
}

template <class T>
void bind_matrix_of(nb::module_& module) {
  using Handle = MatrixHandle<T>;
  nb::class_<Handle>(module, class_name<T>("Matrix").c_str())
      .def_static("from_csc",
                  [](index_t rows, index_t cols, ArrayIn<offset_t> column_ptr, ArrayIn<index_t> row_index,
                     ArrayIn<T> values) {
                    return make_matrix<T>({rows, cols}, column_ptr, row_index, values);
                  })
      .def_prop_ro("nnz", [](const Handle& self) { return self.held().nnz(); })
      .def_prop_ro("in_order", [](const Handle& self) { return self.in_order; })
      .def_prop_ro("symmetry", [](const Handle& self) { return std::string(name_of(self.held().symmetry)); })
      .def("write", [](const Handle& self, const std::string& path, const std::string& comment) {
        const LockReleased released;
        write_matrix(path, self.held(), comment);
      });
}

}  // namespace

void bind_matrix(nb::module_& module) {
#define PALMETTE_BIND(T) bind_matrix_of<T>(module);
  PALMETTE_FOR_EACH_SCALAR(PALMETTE_BIND)
#undef PALMETTE_BIND
  module.def("read", read_arrays);
  module.def("generate", generate_arrays);
}

}  // namespace palmette::python
