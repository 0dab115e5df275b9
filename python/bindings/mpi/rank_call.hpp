// What the bindings over MPI ranks share: options, a rank's rows, and the exchange of a communicator.
#pragma once

#include "options.hpp"

namespace palmette::python {

RankSolverOptions rank_options(const nb::dict& given);

/// A rank's compressed rows, as passed from Python.
template <class T>
struct RowArrays {
  index_t size;
  index_t first_row;
  ArrayIn<offset_t> row_ptr;
  ArrayIn<index_t> column;
  ArrayIn<T> values;
  RowBlock<T> block() const { return {size, first_row, span_of(row_ptr), span_of(column), span_of(values)}; }
};

struct ExchangeChoice {
  std::string transport, device;
};
ExchangeChoice exchange_choice(const nb::dict& given);
/// A communicator's exchange, of which `options` knows, with the device of this rank. Every rank must call
/// it.
MpiExchange begin_exchange(int communicator, const ExchangeChoice& choice, RankSolverOptions& options);

void bind_row_schur(nb::module_& module);
void bind_rank_triangular(nb::module_& module);

}  // namespace palmette::python
