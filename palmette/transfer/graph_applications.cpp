// Applications with irregular patterns: PageRank and shortest paths.
#include <array>
#include <numeric>

#include "palmette/transfer/application_answers.hpp"

namespace palmette::transfer {
namespace {

// ---- PageRank on an R-MAT graph ----
struct Edge {
  std::uint32_t from, to;
};

/// @source [Chakrabarti et al. 2004], with the probabilities 0.57, 0.19, 0.19, 0.05
Edge rmat_edge(std::uint64_t seed, std::uint64_t number, int bits) {
  Edge edge{0, 0};
  for (int bit = 0; bit < bits; ++bit) {
    const double draw = random_fraction(seed + 17, number * 64 + static_cast<std::uint64_t>(bit));
    edge.from = 2 * edge.from + (draw >= 0.76);
    edge.to = 2 * edge.to + ((draw >= 0.57 && draw < 0.76) || draw >= 0.95);
  }
  return edge;
}

/// Edges by target, vertices in a random order, so that parts are even. A device holds the edges whose
/// sources are its own, and sums them for each target: at most one value for each target and device.
struct PageGraph {
  std::size_t vertices = 0;
  std::vector<std::size_t> begin;     ///< by target
  std::vector<std::uint32_t> source;  ///< by edge
  std::vector<std::uint32_t> degree;  ///< out of each source

  PageGraph(std::size_t count, std::uint64_t seed) {
    const int bits = static_cast<int>(std::log2(static_cast<double>(count)));
    vertices = std::size_t{1} << bits;
    std::vector<Edge> edges;
    for (std::uint64_t k = 0; k < 8 * vertices; ++k) edges.push_back(shuffled(rmat_edge(seed, k, bits)));
    std::stable_sort(edges.begin(), edges.end(),
                     [](Edge a, Edge b) { return a.to != b.to ? a.to < b.to : a.from < b.from; });
    begin.assign(vertices + 1, 0);
    degree.assign(vertices, 0);
    for (const Edge& edge : edges) {
      ++begin[edge.to + 1];
      ++degree[edge.from];
      source.push_back(edge.from);
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
  }
  /// The sum over the edges from sources in this part, and whether there is one.
  template <class Value>
  std::pair<float, std::size_t> sum(std::size_t target, Part part, const Value& value) const {
    float total = 0;
    std::size_t count = 0;
    for (std::size_t edge = begin[target]; edge < begin[target + 1]; ++edge) {
      if (source[edge] < part.begin || source[edge] >= part.end) continue;
      total += value(source[edge]) / static_cast<float>(degree[source[edge]]);
      ++count;
    }
    return {total, count};
  }

 private:
  /// An odd factor permutes the numbers of a power of two.
  Edge shuffled(Edge edge) const {
    const auto place = [&](std::uint32_t k) {
      return static_cast<std::uint32_t>((std::uint64_t{k} * 0x9E3779B1u + 12345) & (vertices - 1));
    };
    return {place(edge.from), place(edge.to)};
  }
};

// ---- shortest paths on a mesh ----
float edge_weight(std::uint64_t seed, std::size_t from, std::size_t to) {
  return 1.0f +
         static_cast<float>(random_fraction(seed + 5, std::min(from, to) * 1000003 + std::max(from, to)));
}

struct Mesh {
  std::size_t side;
  std::array<std::size_t, 4> neighbours(std::size_t k) const {
    const std::size_t x = k % side, y = k / side;
    return {x > 0 ? k - 1 : k, x + 1 < side ? k + 1 : k, y > 0 ? k - side : k, y + 1 < side ? k + side : k};
  }
};

/// What devices share: by device and target, sums over the edges of that device; and the ranks of own pages.
struct PageWorld {
  const PageGraph& graph;
  SharedArray<float> pushed, received;  ///< swapped after each phase
  SharedArray<float> page;
  float first;

  std::size_t slot(int device, std::size_t target) const {
    return static_cast<std::size_t>(device) * graph.vertices + target;
  }
  /// Own pages add up what the last phase pushed.
  void gather(KernelRecorder& kernel) const {
    const Part own = part_of(graph.vertices, kernel.device(), kernel.devices());
    for (std::size_t target = own.begin; target < own.end; ++target) {
      kernel.thread(target - own.begin);
      float sum = 0;
      for (int from = 0; from < kernel.devices(); ++from) {
        const Part part = part_of(graph.vertices, from, kernel.devices());
        if (graph.sum(target, part, [](std::size_t) { return 0.0f; }).second == 0) continue;
        sum += from == kernel.device() ? kernel.read(received, slot(from, target))
                                       : kernel.load(received, slot(from, target));
      }
      kernel.store(page, target, 0.15f * first + 0.85f * sum, 0);
    }
  }
  /// Own edges are summed for every target and go to its owner.
  void push(KernelRecorder& kernel) const {
    const Part own = part_of(graph.vertices, kernel.device(), kernel.devices());
    double edges = 0;
    for (std::size_t target = 0; target < graph.vertices; ++target) {
      kernel.thread(own.end - own.begin + target);
      const auto [sum, count] =
          graph.sum(target, own, [&](std::size_t source) { return kernel.read(page, source); });
      edges += static_cast<double>(count);
      if (count == 0) continue;
      kernel.store(pushed, slot(kernel.device(), target), sum,
                   only(owner_of(target, graph.vertices, kernel.devices())));
    }
    // Each edge reads its index, and a rank and a degree that lie scattered, in sectors of 32 bytes.
    kernel.work(edges * (4 + 64) + static_cast<double>(graph.vertices) * 12);
    kernel.copy(pushed, slot(kernel.device(), 0), slot(kernel.device(), graph.vertices), kernel.others());
  }
};

}  // namespace

ApplicationRun run_pagerank(const ApplicationOptions& options) {
  const PageGraph graph(scaled(1 << 16, options), options.seed);
  const int iterations = iterations_of(options, 3);
  DeviceWorld world("pagerank", options.devices);
  const std::size_t slots = graph.vertices * static_cast<std::size_t>(options.devices);
  const float first = 1.0f / static_cast<float>(graph.vertices);
  PageWorld pages{graph, world.array<float>(slots), world.array<float>(slots),
                  world.array<float>(graph.vertices), first};
  std::vector<float> serial(graph.vertices, first);
  world.fill(pages.page, serial);
  for (int step = 0; step <= iterations; ++step) {
    world.phase([&](KernelRecorder& kernel) {
      if (step > 0) pages.gather(kernel);
      if (step < iterations) pages.push(kernel);
    });
    std::swap(pages.pushed, pages.received);
    if (step == 0) continue;
    std::vector<float> next(graph.vertices);
    for (std::size_t target = 0; target < graph.vertices; ++target)
      next[target] =
          0.15f * first +
          0.85f * graph.sum(target, {0, graph.vertices}, [&](std::size_t source) { return serial[source]; })
                      .first;
    serial.swap(next);
  }
  AnswerCheck check;
  for (std::size_t k = 0; k < graph.vertices; ++k)
    check.compare(world.value(owner_of(k, graph.vertices, options.devices), pages.page, k), serial[k]);
  return {world.take_trace(), check.error()};
}

ApplicationRun run_sssp(const ApplicationOptions& options) {
  const Mesh mesh{static_cast<std::size_t>(std::sqrt(static_cast<double>(scaled(256 * 256, options))))};
  const std::size_t n = mesh.side * mesh.side;
  const int iterations = iterations_of(options, 16);
  DeviceWorld world("sssp", options.devices);
  SharedArray<float> now = world.array<float>(n), next = world.array<float>(n);
  std::vector<float> serial(n, 1e30f);
  for (std::size_t k = 0; k < n; ++k)  // many sources, so that every device has a front
    if (random_fraction(options.seed, k) < 0.002) serial[k] = 0;
  world.fill(now, serial);
  world.fill(next, serial);
  for (int step = 0; step < iterations; ++step) {
    world.phase([&](KernelRecorder& kernel) {
      const Part own = part_of(n, kernel.device(), kernel.devices());
      for (std::size_t k = own.begin; k < own.end; ++k) {
        kernel.thread(k - own.begin);
        float best = kernel.read(now, k);
        for (const std::size_t from : mesh.neighbours(k)) {
          const bool is_own = from >= own.begin && from < own.end;
          best = std::min(best, (is_own ? kernel.read(now, from) : kernel.load(now, from)) +
                                    edge_weight(options.seed, k, from));
        }
        // The other array is two steps old.
        if (best != kernel.read(next, k)) kernel.store(next, k, best, kernel.others());
      }
      kernel.work(static_cast<double>(own.end - own.begin) * (4 * 36 + 12));
      kernel.copy(next, own.begin, own.end, kernel.others());
    });
    std::swap(now, next);
    std::vector<float> relaxed = serial;
    for (std::size_t k = 0; k < n; ++k)
      for (const std::size_t from : mesh.neighbours(k))
        relaxed[k] = std::min(relaxed[k], serial[from] + edge_weight(options.seed, k, from));
    serial.swap(relaxed);
  }
  AnswerCheck check;
  for (int device = 0; device < options.devices; ++device)
    for (std::size_t k = 0; k < n; ++k) check.compare(world.value(device, now, k), serial[k]);
  return {world.take_trace(), check.error()};
}

}  // namespace palmette::transfer
