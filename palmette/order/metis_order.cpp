// Nested dissection by METIS, if this build has it.
#include "palmette/order/fill_methods.hpp"

#ifdef PALMETTE_HAVE_METIS
#include <metis.h>

#include <limits>
#include <mutex>

namespace palmette::order_detail {
namespace {

ProcessMutex one_metis_call;  // METIS seeds and uses the C library's single generator

/// METIS's default options, but with a fixed seed, and without compression: the graph is already compressed,
/// with weights.
void set_options(idx_t* options) {
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_COMPRESS] = 0;
}

}  // namespace

bool has_metis() { return true; }

std::vector<index_t> metis_order(const Graph& graph) {
  if (graph.start.back() > std::numeric_limits<idx_t>::max() / 2)
    throw UsageError("the graph has " + std::to_string(graph.start.back()) +
                     " entries, too many for this METIS (" + std::to_string(8 * sizeof(idx_t)) +
                     "-bit indices); order with amd");
  std::vector<idx_t> start = copied_as<idx_t>(graph.start), neighbour = copied_as<idx_t>(graph.neighbour);
  std::vector<idx_t> weight = copied_as<idx_t>(graph.weight);
  std::vector<idx_t> order(graph.n), place(graph.n);
  idx_t options[METIS_NOPTIONS], n = graph.n;
  set_options(options);
  int status = METIS_OK;
  {
    const std::lock_guard lock(one_metis_call);
    status = METIS_NodeND(&n, start.data(), neighbour.data(), weight.empty() ? nullptr : weight.data(),
                          options, order.data(), place.data());
  }
  if (status == METIS_ERROR_MEMORY) throw MemoryError("no memory for the METIS ordering");
  if (status != METIS_OK) throw UsageError("METIS refused the graph (status " + std::to_string(status) + ")");
  return copied_as<index_t>(order);
}

}  // namespace palmette::order_detail

#else

namespace palmette::order_detail {

bool has_metis() { return false; }

std::vector<index_t> metis_order(const Graph&) {
  throw UsageError("this build has no METIS; install libmetis-dev and configure again, or order with amd");
}

}  // namespace palmette::order_detail

#endif
