// Question: what does a solve cost on many GPUs, by the programs that the kernels execute? COUNTED: tasks,
// messages, bytes. SIMULATED: seconds on a described machine, and polls. One row of JSON for each grid.
//
//   bench_many_gpus MACHINE PROBLEM N NUM_RHS GRID…     GRID is PxQ or PxQxL; behind it, as [Ding et al.
//                                                       2020]: /spread: no subtree stays whole; /wait: a
//                                                       second kernel waits. /flat: flat trees
//   bench_many_gpus memory MACHINE DEVICE BYTES…        PREDICTED: a message over the network of a machine
//                                                       between devices, natively and by way of the hosts
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/machine_file.hpp"
#include "palmette/solver/solver.hpp"

namespace {

using namespace palmette;
using Json = nlohmann::json;

std::shared_ptr<const SymbolicFactor> structure_of(const std::string& problem, index_t n) {
  GenerateOptions wanted;
  wanted.problem = problem;
  wanted.n = n;
  const SparseMatrix<double> matrix = generate(wanted);
  OrderOptions options;
  options.method = OrderingMethod::nd;
  AnalyzeOptions analyze_options;
  analyze_options.symmetric_pattern = true;
  return std::make_shared<const SymbolicFactor>(
      analyze(matrix.pattern, order(matrix, options).value(), analyze_options));
}

/// "2x1x4".
std::vector<index_t> numbers_of(const std::string& text) {
  std::vector<index_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    numbers.push_back(static_cast<index_t>(std::stol(text.substr(at, end - at))));
    at = end + 1;
  }
  if (numbers.size() == 2) numbers.push_back(1);
  if (numbers.size() != 3) throw UsageError("a grid is PxQ or PxQxL, not " + text);
  return numbers;
}

void price(int count, char** words) {
  const Cluster cluster = cli::known_machine("MACHINE", words[0]).cluster;
  const auto symbolic = structure_of(words[1], static_cast<index_t>(std::stol(words[2])));
  const auto num_rhs = static_cast<index_t>(std::stol(words[3]));
  for (int k = 4; k < count; ++k) {
    const std::string text = words[k];
    const std::vector<index_t> numbers = numbers_of(text.substr(0, std::min(text.find('/'), text.size())));
    const auto says = [&](const char* word) { return text.find(word) != std::string::npos; };
    ElementsCase given{*symbolic, {}, num_rhs};
    if (says("/spread")) given.of_world.subtrees = WholeSubtrees{false};
    if (says("/flat")) given.of_world.trees = TreeShape::flat;
    given.waits_apart = says("/wait");
    given.of_world.grid = {numbers[0], numbers[1]};
    given.of_world.layers = numbers[2];
    const ElementsPrice found = price_elements(given, cluster);
    const Json row = {{"machine", cluster.name},
                      {"problem", words[1]},
                      {"n", words[2]},
                      {"num_rhs", num_rhs},
                      {"grid", words[k]},
                      {"seconds", found.seconds},
                      {"forward_seconds", found.forward_seconds},
                      {"backward_seconds", found.backward_seconds},
                      {"tasks", found.tasks},
                      {"messages", found.messages},
                      {"message_bytes", found.message_bytes},
                      {"panel_bytes", found.panel_bytes},
                      {"polls", found.polls}};
    std::cout << row.dump() << std::endl;
  }
}

void price_memory(int count, char** words) {
  const Cluster machine = cli::known_machine("MACHINE", words[0]).cluster;
  const Cluster device = cli::known_machine("DEVICE", words[1]).cluster;
  const Link& link = machine.links.back().link;
  for (int k = 2; k < count; ++k) {
    const std::size_t bytes = std::stoull(words[k]);
    const double native = carried_seconds(MemoryKind::native, bytes, link, device);
    const double reference = carried_seconds(MemoryKind::reference, bytes, link, device);
    const Json row = {{"bytes", bytes}, {"native_seconds", native}, {"reference_seconds", reference}};
    std::cout << row.dump() << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    if (count > 3 && std::string(words[1]) == "memory")
      price_memory(count - 2, words + 2);
    else if (count > 5)
      price(count - 1, words + 1);
    else
      throw UsageError("say MACHINE PROBLEM N NUM_RHS GRID..., or memory MACHINE DEVICE BYTES...");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_many_gpus: %s\n", error.what());
    return 1;
  }
  return 0;
}
