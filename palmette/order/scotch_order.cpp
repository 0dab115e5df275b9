// Nested dissection by Scotch, if this build has it.
#include "palmette/order/fill_methods.hpp"

#ifdef PALMETTE_HAVE_SCOTCH
#include <cstdint>
#include <cstdio>  // scotch.h needs it

extern "C" {
#include <scotch.h>
}

#include <limits>
#include <mutex>

namespace palmette::order_detail {
namespace {

ProcessMutex one_scotch_call;  // Scotch's random generator is shared by all threads

void require_success(int status, const char* step) {
  if (status != 0)
    throw MemoryError(std::string("Scotch could not ") + step + "; most likely it had no memory");
}

/// A Scotch graph over arrays that the caller owns; freed at the end of the scope.
class ScotchGraph {
 public:
  ScotchGraph() { require_success(SCOTCH_graphInit(&graph_), "start a graph"); }
  ~ScotchGraph() { SCOTCH_graphExit(&graph_); }
  ScotchGraph(const ScotchGraph&) = delete;
  ScotchGraph& operator=(const ScotchGraph&) = delete;
  SCOTCH_Graph* get() { return &graph_; }

 private:
  SCOTCH_Graph graph_;
};

class ScotchStrategy {
 public:
  ScotchStrategy() { require_success(SCOTCH_stratInit(&strategy_), "start a strategy"); }
  ~ScotchStrategy() { SCOTCH_stratExit(&strategy_); }
  ScotchStrategy(const ScotchStrategy&) = delete;
  ScotchStrategy& operator=(const ScotchStrategy&) = delete;
  SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

#if SCOTCH_VERSION >= 7
/// One thread and a private random generator: Scotch 7 would otherwise use threads, and orders then depend on
/// timing.
class ScotchContext {
 public:
  ScotchContext() {
    require_success(SCOTCH_contextInit(&context_), "start a context");
    SCOTCH_contextRandomClone(&context_);
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextThreadSpawn(&context_, 1, nullptr);
  }
  ~ScotchContext() { SCOTCH_contextExit(&context_); }
  ScotchContext(const ScotchContext&) = delete;
  ScotchContext& operator=(const ScotchContext&) = delete;
  SCOTCH_Context* get() { return &context_; }

 private:
  SCOTCH_Context context_;
};
#endif

/// @param permutation  out: place of each vertex @param order  out: vertex at each place
void order_graph(ScotchGraph& graph, std::vector<SCOTCH_Num>& place, std::vector<SCOTCH_Num>& order) {
  ScotchStrategy strategy;
#if SCOTCH_VERSION >= 7
  ScotchContext context;
  ScotchGraph bound;
  require_success(SCOTCH_contextBindGraph(context.get(), graph.get(), bound.get()), "bind a graph");
  SCOTCH_Graph* const target = bound.get();
#else
  SCOTCH_randomSeed(1);
  SCOTCH_randomReset();
  SCOTCH_Graph* const target = graph.get();
#endif
  require_success(
      SCOTCH_graphOrder(target, strategy.get(), place.data(), order.data(), nullptr, nullptr, nullptr),
      "order a graph");
}

}  // namespace

bool has_scotch() { return true; }

std::vector<index_t> scotch_order(const Graph& graph) {
  if (graph.start.back() > std::numeric_limits<SCOTCH_Num>::max() / 2)
    throw UsageError("the graph has " + std::to_string(graph.start.back()) +
                     " entries, too many for this Scotch (" + std::to_string(8 * sizeof(SCOTCH_Num)) +
                     "-bit indices); order with amd");
  std::vector<SCOTCH_Num> start = copied_as<SCOTCH_Num>(graph.start),
                          neighbour = copied_as<SCOTCH_Num>(graph.neighbour);
  std::vector<SCOTCH_Num> weight = copied_as<SCOTCH_Num>(graph.weight);
  std::vector<SCOTCH_Num> order(graph.n), place(graph.n);
  const std::lock_guard lock(one_scotch_call);
  ScotchGraph target;
  require_success(SCOTCH_graphBuild(target.get(), 0, graph.n, start.data(), nullptr,
                                    weight.empty() ? nullptr : weight.data(), nullptr,
                                    static_cast<SCOTCH_Num>(graph.start.back()), neighbour.data(), nullptr),
                  "build a graph");
  order_graph(target, place, order);
  return copied_as<index_t>(order);
}

}  // namespace palmette::order_detail

#else

namespace palmette::order_detail {

bool has_scotch() { return false; }

std::vector<index_t> scotch_order(const Graph&) {
  throw UsageError("this build has no Scotch; install libscotch-dev and configure again, or order with amd");
}

}  // namespace palmette::order_detail

#endif
