// Question: what do plain triangles cost on several devices that share sums by unified memory, zero-copy
// reads or puts, in virtual time on the nodes of [Xie et al. 2021]? And do the kernels, run by the emulator,
// send what the model says? One row of JSON for each case.
//
//   bench_column_elements simulate MACHINE PROBLEM N [PARAMETER]   the cases of the published figures
//   bench_column_elements emulate RHS PROBLEM N [PARAMETER]        one solve by each kernel, counted
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "palmette/predict/predict.hpp"
#include "palmette/solve/solve.hpp"

namespace {

using namespace palmette;
using Json = nlohmann::json;

constexpr const char* sharing_names[] = {"unified", "zero_copy", "pushed"};

struct Problem {
  GenerateOptions options;
  SparseMatrix<double> matrix;
  SparsityPattern strict;
};

Problem problem_of(int count, char** words) {
  Problem problem;
  problem.options.problem = words[0];
  problem.options.n = static_cast<index_t>(std::stol(words[1]));
  if (count > 2) problem.options.parameter = std::stod(words[2]);
  problem.matrix = generate(problem.options);
  problem.strict = strict_lower(problem.matrix.pattern);
  return problem;
}

Json facts(const Problem& problem) {
  const ColumnLevels levels = column_levels(problem.strict);
  const auto entries = static_cast<offset_t>(problem.strict.row_index.size()) + problem.strict.cols;
  return {{"problem", problem.options.problem}, {"n", problem.options.n},
          {"rows", problem.strict.cols},        {"entries", entries},
          {"levels", levels.levels},            {"parallelism", levels.parallelism}};
}

Json simulated(const Problem& problem, const ColumnMachine& machine, const ColumnCase& given) {
  const ColumnSimulation run = simulate_columns(given, machine);
  const ColumnBytes bytes = column_bytes(given, 8);
  Json row = facts(problem);
  row.update({{"machine", machine.name},
              {"sharing", sharing_names[static_cast<int>(given.sharing)]},
              {"devices", given.devices},
              {"tasks", given.tasks_per_device},
              {"rhs", given.num_rhs},
              {"seconds", run.seconds},
              {"local_additions", run.local_additions},
              {"other_additions", run.other_additions},
              {"sums", run.sums},
              {"polls", run.polls},
              {"messages", run.messages},
              {"bytes", run.bytes},
              {"page_moves", run.all_page_moves()},
              {"problem_bytes", bytes.problem},
              {"sharing_bytes", bytes.sharing}});
  return row;
}

/// A machine of the list; or a DGX-1 that differs in one thing, to see what a figure depends on: its links
/// carry any number of loads, its first two GPUs are a pair with two links, or a device's tasks run one after
/// another.
ColumnMachine machine_of(const std::string& name) {
  if (name == "dgx-1-unlimited") {
    ColumnMachine machine = column_machine("dgx-1");
    machine.name = name;
    machine.loads_per_us = machine.host_loads_per_us = 1e9;
    return machine;
  }
  if (name == "dgx-1-one-stream") {
    ColumnMachine machine = column_machine("dgx-1");
    machine.name = name;
    machine.one_after_another = true;
    machine.gap_us = 1;  // estimate
    return machine;
  }
  if (name == "dgx-1-paired") {
    constexpr int order[] = {0, 3, 1, 2, 4, 7, 5, 6};
    const ColumnMachine given = column_machine("dgx-1");
    ColumnMachine machine = given;
    machine.name = name;
    for (int d = 0; d < 8; ++d)
      for (int e = 0; e < 8; ++e) machine.links[8 * d + e] = given.links[8 * order[d] + order[e]];
    return machine;
  }
  return column_machine(name);
}

void simulate(const Problem& problem, const ColumnMachine& machine) {
  const auto print = [&](SumSharing sharing, int devices, index_t tasks, index_t num_rhs = 1) {
    const ColumnCase given{problem.strict, devices, tasks, sharing, num_rhs};
    std::cout << simulated(problem, machine, given).dump() << std::endl;
  };
  for (const index_t tasks : {1, 2, 4, 8, 16, 32}) print(SumSharing::zero_copy, 4, tasks);
  if (machine.one_after_another) return;
  // Of the whole solve 32 tasks, whatever the number of devices; with four, 8 each as above.
  for (const int devices : {1, 2, 3, 8, 16})
    if (devices <= machine.devices) print(SumSharing::zero_copy, devices, (32 + devices - 1) / devices);
  if (machine.name == "dgx-2") print(SumSharing::unified, 4, 1);
  if (machine.name != "dgx-1") return;
  for (const index_t tasks : {1, 8}) {
    print(SumSharing::unified, 4, tasks);
    print(SumSharing::pushed, 4, tasks);
  }
  print(SumSharing::unified, 4, 1, 50);
  print(SumSharing::zero_copy, 4, 8, 50);
  print(SumSharing::pushed, 4, 8, 50);
  for (const int devices : {2, 3, 5, 6, 7, 8}) print(SumSharing::unified, devices, 1);
}

/// One solve by each method on four emulated devices, with the counts of the model beside.
void emulate_solves(const Problem& problem, index_t num_rhs) {
  const ColumnMachine machine = column_machine("dgx-2");
  for (const SumSharing sharing : {SumSharing::unified, SumSharing::zero_copy, SumSharing::pushed}) {
    TriangleOptions options;
    options.plan.world = make_emulated_world(4);
    options.plan.of_world.by_columns = true;
    options.plan.of_world.by_network = true;  // whose puts are counted
    options.plan.of_world.tasks_per_element = 8;
    const SolvePlan<double> plan = plan_triangle(problem.matrix, options).value();
    DenseMatrix<double> b(plan.size(), num_rhs), x(plan.size(), num_rhs);
    std::fill(b.values.begin(), b.values.end(), 1.0);
    const std::string name = sharing_names[static_cast<int>(sharing)];
    plan.solve(Operation::plain, b.view(), x.view(), {solve_method("devices_" + name), nullptr});
    const WorldCounts counts = options.plan.world->counts();
    Json row = simulated(problem, machine, {problem.strict, 4, 8, sharing, num_rhs});
    row.update({{"emulated_gets", counts.gets},
                {"emulated_get_bytes", counts.get_bytes},
                {"emulated_puts", counts.puts},
                {"emulated_put_bytes", counts.put_bytes},
                {"emulated_page_moves", counts.page_moves}});
    std::cout << row.dump() << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::string what = count > 1 ? words[1] : "";
    if (what == "simulate" && count >= 5)
      simulate(problem_of(count - 3, words + 3), machine_of(words[2]));
    else if (what == "emulate" && count >= 5)
      emulate_solves(problem_of(count - 3, words + 3), static_cast<index_t>(std::stol(words[2])));
    else
      throw UsageError("give simulate MACHINE PROBLEM N [PARAMETER], or emulate RHS PROBLEM N [PARAMETER]");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_column_elements: %s\n", error.what());
    return 2;
  }
  return 0;
}
