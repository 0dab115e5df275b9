// palmette bench: every solve method with every number of threads and of right-hand sides, on one factor;
// with --device, every engine of that device.
#include <algorithm>

#include <fmt/format.h>

#include "bench/device/model_problems.hpp"
#include "cli/bench_device.hpp"
#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/names.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"
#include "cli/text.hpp"
#include "palmette/machine/machine.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette::cli {
namespace {

struct BenchCommand {
  MatrixOptions matrix;
  KindAndOrder kind_and_order;
  OutputOptions output;
  std::string device = "none";
  int threads = 0;
  int repeat = 5;
  std::vector<std::int64_t> num_rhs = {1, 50};
};

/// One line of the table.
struct Measurement {
  SolveMethod method = SolveMethod::serial;
  int threads = 1;
  index_t num_rhs = 1;
  double seconds = 0;  // median of the warm solves
  double bandwidth_gbs = 0;
  double gflops = 0;
  double stream_gbs = 0;
  double speedup = 0;  // relative to serial with the same number of right-hand sides
};

/// 1, 2, 4, … and the largest.
std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int threads = 1; threads < most; threads *= 2) counts.push_back(threads);
  counts.push_back(most);
  return counts;
}

/// Median of `repeat` solves after a warm-up.
template <class T>
double median_seconds(const SolvePlan<T>& plan, const SolveRun& run, index_t num_rhs, int repeat) {
  DenseMatrix<T> rhs(plan.size(), num_rhs), solution(plan.size(), num_rhs);
  rhs.values.assign(rhs.values.size(), T(1));
  std::vector<double> seconds;
  for (int turn = 0; turn <= repeat; ++turn) {
    const Stopwatch watch;
    plan.solve(Operation::plain, std::as_const(rhs).view(), solution.view(), run);
    if (turn > 0) seconds.push_back(watch.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

double stream_bandwidth(int threads) {
  MeasureOptions options;
  options.threads = threads;
  options.cache_folder = cache_folder();
  return measure_machine(options).stream_bandwidth_gbs;
}

template <class T>
std::vector<Measurement> measure(const BenchCommand& command, const SolvePlan<T>& plan,
                                 ProgressBar& progress) {
  std::vector<Measurement> measurements;
  // We measure threads, not whether they are worth calling.
  hand_overs_of_process().call_all();
  std::vector<double> serial_seconds(command.num_rhs.size());
  for (const int threads : thread_counts(number_of_threads(command.threads))) {
    const double stream_gbs = stream_bandwidth(threads);
    ThreadTeam team(threads);
    for (const SolveMethodInfo& info : solve_method_list(SolveWhere::one_machine)) {
      if (!info.threaded && threads > 1) continue;
      for (std::size_t place = 0; place < command.num_rhs.size(); ++place) {
        progress.begin(info.name);
        Measurement measurement{info.method, threads, static_cast<index_t>(command.num_rhs[place]), 0, 0, 0,
                                stream_gbs,  0};
        measurement.seconds = median_seconds(plan, {info.method, &team}, measurement.num_rhs, command.repeat);
        const SolveCost cost = plan.cost(measurement.num_rhs);
        measurement.bandwidth_gbs = cost.bytes / measurement.seconds * 1e-9;
        measurement.gflops = cost.flops / measurement.seconds * 1e-9;
        if (info.method == SolveMethod::serial) serial_seconds[place] = measurement.seconds;
        measurement.speedup = serial_seconds[place] / measurement.seconds;
        measurements.push_back(measurement);
      }
    }
  }
  progress.end();
  return measurements;
}

std::string bench_text(const std::vector<Measurement>& measurements) {
  TextTable table({"method", "threads", "rhs", "time", "GB/s", "of stream", "Gflop/s", "speed-up"});
  for (const Measurement& each : measurements)
    table.add({std::string(name_of(each.method)), std::to_string(each.threads), std::to_string(each.num_rhs),
               format_seconds(each.seconds), fmt::format("{:.2f}", each.bandwidth_gbs),
               each.stream_gbs > 0 ? format_percent(each.bandwidth_gbs / each.stream_gbs) : "",
               fmt::format("{:.2f}", each.gflops), fmt::format("{:.2f}", each.speedup)});
  return table.text({0});
}

Json bench_json(const std::vector<Measurement>& measurements) {
  Json list = Json::array();
  for (const Measurement& each : measurements)
    list.push_back(
        {{"method", name_of(each.method)},
         {"threads", each.threads},
         {"num_rhs", each.num_rhs},
         {"seconds", each.seconds},
         {"bandwidth_gbs", number_or_null(each.bandwidth_gbs)},
         {"gflops", number_or_null(each.gflops)},
         {"stream_gbs", each.stream_gbs},
         {"stream_fraction",
          each.stream_gbs > 0 ? number_or_null(each.bandwidth_gbs / each.stream_gbs) : Json(nullptr)},
         {"speedup", number_or_null(each.speedup)}});
  return list;
}

template <class T>
Solver<T> factored(const BenchCommand& command, SparseMatrix<T>&& matrix, ProgressBar& progress) {
  const SolverOptions options =
      unmeasured_options(command.kind_and_order, matrix.rows(), command.threads, progress);
  progress.begin("order");
  return Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), options).value();
}

std::string head_text(const BenchCommand& command, const Report& report) {
  return paragraph("", fmt::format("Palmette {}: bench {}", version(), command.matrix.path)) + "\n" +
         paragraph("  ", fmt::format("{}; {} with {}, {} in the factor; medians of {} warm solves",
                                     matrix_sentence(report.matrix), kind_sentence(report.factorize->kind),
                                     name_of(report.order->method),
                                     plural(report.analyze->nnz_factor, "entry"), command.repeat));
}

template <class T>
Json bench_host(const BenchCommand& command, const Solver<T>& solver, ProgressBar& progress) {
  const SolvePlan<T> plan = plan_solve<T>(solver.factor());
  const std::vector<Measurement> measurements = measure(command, plan, progress);
  const Report& report = solver.report();
  if (command.output.shows_table())
    print(head_text(command, report) + "\n" + bench_text(measurements));
  Json document = to_json(report);
  document["measurements"] = bench_json(measurements);
  return document;
}

template <class T>
Json bench_on(const std::shared_ptr<Device>& device, const BenchCommand& command, const Solver<T>& solver,
              ProgressBar& progress) {
  progress.begin("solves on the device");
  benchmarks::DeviceBenchOptions options;
  options.num_rhs.assign(command.num_rhs.begin(), command.num_rhs.end());
  options.repeat = command.repeat;
  const DeviceBench bench{device->info(), benchmarks::bench_device(solver, device, options)};
  progress.end();
  const Report& report = solver.report();
  if (command.output.shows_table()) print(head_text(command, report) + device_bench_text(bench));
  Json document = to_json(report);
  document["device_bench"] = device_bench_json(bench);
  return document;
}

/// Without a matrix: those of docs/results/speed.md.
int bench_model_problems(const std::shared_ptr<Device>& device, BenchCommand command,
                         ProgressBar& progress) {
  if (!device) throw UsageError("bench: the matrix is missing; give A.mtx, or --device for model problems");
  if (device->info().kind == "emulated")
    throw UsageError("the model problems are too large for the emulated device; give bench a small A.mtx");
  Json matrices = Json::array();
  for (const benchmarks::ModelProblem& problem : benchmarks::model_problems()) {
    command.matrix.path = fmt::format("{}, n = {}", problem.problem, problem.n);
    GenerateOptions options;
    options.problem = problem.problem;
    options.n = problem.n;
    progress.begin("generate");
    Json document = bench_on(device, command, factored(command, generate(options), progress), progress);
    document["title"] = problem.title;
    matrices.push_back(std::move(document));
  }
  return finish(command.output, {{"matrices", std::move(matrices)}});
}

int run_bench(const BenchCommand& command) {
  check_writable("--json", command.output.json);
  const std::shared_ptr<Device> device = open_device(command.device);
  ProgressBar progress(!command.output.quiet);
  if (command.matrix.path.empty()) return bench_model_problems(device, command, progress);
  ReadResult input = read_input(command.matrix, command.threads, progress);
  check_square(input, command.matrix.path, "bench");
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& matrix) {
        const Solver<T> solver = factored(command, std::move(matrix), progress);
        return finish(command.output, device ? bench_on(device, command, solver, progress)
                                             : bench_host(command, solver, progress));
      },
      std::move(input.matrix));
}

}  // namespace

Command add_bench(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "bench",
                     "Time every solve method with 1 to T threads, on one factor.\n"
                     "Shows medians of warm solves without refinement, the bytes moved per second, and\n"
                     "their share of the memory bandwidth with as many threads. With --device: compares\n"
                     "every engine of that device with serial, and on a GPU with cuSPARSE and cuDSS;\n"
                     "without A.mtx, on the matrices of docs/results/speed.md.",
                     "  palmette bench A.mtx\n"
                     "  palmette bench A.mtx --threads 8 --num-rhs 1,16,64 --repeat 9 --json bench.json\n"
                     "  palmette bench A.mtx --device cuda\n"
                     "  palmette bench --device cuda --json bench.json\n");
  const auto command = std::make_shared<BenchCommand>();
  add_matrix_options(app, command->matrix, false);
  add_kind_and_order(app, command->kind_and_order);
  add_threads(app, "Method", command->threads);
  OptionGroup method(app, "Method");
  add_device(method, command->device);
  OptionGroup report(app, "Report");
  report.value({"--num-rhs", "K,K,...", "numbers of right-hand sides (default: 1,50)"},
               [command](const std::string& text) {
                 command->num_rhs = parse_integers("--num-rhs", text, 1, 2147483647);
               });
  report.value({"--repeat", "N", "solves timed for each line, after one that warms up (default: 5)"},
               [command](const std::string& text) {
                 command->repeat = static_cast<int>(parse_integer("--repeat", text, 1, 1000000));
               });
  add_output_options(app, command->output);
  return {&app, [command] { return run_bench(*command); }};
}

}  // namespace palmette::cli
