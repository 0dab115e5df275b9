// Question: how many steps per second does the emulator of GPU kernels run, plainly and with the race
// detector and delayed stores? A step is a load, a store, an atomic access or a collective operation of one
// emulated thread. With a module of PTX, the same for the interpreter, which runs what nvcc made of the
// kernel. These are times of this CPU; they say nothing about a GPU.
//
// With --kernels: each kernel in turn, and the sectors of global memory that its loads fetch.
//
//   bench_emulator [--supernodes N] [--ptx build/release/tests/kernels/kernels_sm_90.ptx] [--json FILE]
//   bench_emulator --kernels yes [--supernodes N] [--json FILE]
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "palmette/device/device.hpp"

namespace {

using namespace palmette;

using emulate::upload;

/// A chain of dense supernodes of width 16: each has the rows of the next one below it.
struct Chain {
  static constexpr int width = 16;
  device::TriangleSweep<double> sweep{};
  const int* reversed = nullptr;  ///< the tasks, as backward sweeps take them

  explicit Chain(int num_supernodes) {
    std::vector<int> begin{0}, parent, row, source_ptr{0}, source, child_ptr{0}, child, target_ptr{0}, target;
    std::vector<long long> below{0}, offset;
    std::vector<unsigned char> log_height;
    long long entries = 0;
    for (int supernode = 0; supernode < num_supernodes; ++supernode) {
      begin.push_back((supernode + 1) * width);
      const bool has_parent = supernode + 1 < num_supernodes;
      parent.push_back(has_parent ? supernode + 1 : -1);
      if (has_parent) target.push_back(supernode + 1);
      target_ptr.push_back(static_cast<int>(target.size()));
      for (int k = 0; has_parent && k < width; ++k) row.push_back(begin.back() + k);
      // Own row k is row k below the child; rows further down have no child that ends there.
      for (int k = 0; supernode > 0 && k < width; ++k) {
        source.push_back(static_cast<int>(below[supernode - 1]) + k);
        source_ptr.push_back(static_cast<int>(source.size()));
      }
      source_ptr.resize(static_cast<std::size_t>(begin.back()) + row.size() + 1,
                        static_cast<int>(source.size()));
      const auto layout = device::panel_layout<double>(width, has_parent ? 2 * width : width);
      offset.push_back(entries);
      entries += layout.entries();
      log_height.push_back(
          static_cast<unsigned char>(std::countr_zero(static_cast<unsigned>(layout.height))));
      below.push_back(static_cast<long long>(row.size()));
      if (supernode > 0) child.push_back(supernode - 1);
      child_ptr.push_back(static_cast<int>(child.size()));
    }
    std::vector<int> order(static_cast<std::size_t>(num_supernodes));
    std::iota(order.begin(), order.end(), 0);
    std::vector<int> task_ptr = order;
    task_ptr.push_back(num_supernodes);
    sweep.tree = {num_supernodes,    num_supernodes, upload(begin), upload(parent), upload(below),
                  upload(row),       upload(source_ptr), upload(source), upload(child_ptr),
                  upload(child),     upload(target_ptr), upload(target), upload(task_ptr), upload(order)};
    sweep.panels = {upload(std::vector<double>(static_cast<std::size_t>(entries), 1.0 / 64)), upload(offset),
                    upload(std::vector<unsigned char>(offset.size())), upload(log_height), nullptr};
    device::SweepVectors<double>& at = sweep.at;
    at.in = upload(std::vector<double>(static_cast<std::size_t>(begin.back()), 1.0));
    at.x = emulate::allocate_array<double>(static_cast<std::size_t>(begin.back()));
    at.order = sweep.tree.supernode_of;
    at.update = emulate::allocate_array<double>(row.size() + 1);
    at.sum = emulate::allocate_array<double>(static_cast<std::size_t>(begin.back()));
    std::vector<int> missing(order.size(), 1);
    missing.front() = 0;
    at.missing = upload(missing);
    std::reverse(order.begin(), order.end());
    reversed = upload(order);
    at.done = emulate::allocate_array<int>(static_cast<std::size_t>(num_supernodes));
    at.ticket = emulate::allocate_array<int>(2);
    at.sweep = at.stride = at.tile = 1;
    at.widest = width;
  }
};

/// The chain as rows of a plain triangle, 16 entries each, those before the diagonal.
device::RowSweep<double> rows_of_chain(int n) {
  std::vector<long long> ptr{0};
  std::vector<int> column;
  for (int row = 0; row < n; ++row) {
    for (int k = std::max(0, row - Chain::width); k < row; ++k) column.push_back(k);
    ptr.push_back(static_cast<long long>(column.size()));
  }
  const auto size = static_cast<std::size_t>(n);
  const std::vector<double> value(column.size(), 1.0 / 64);
  const auto slices =
      device::cut_into_slices<double>({n, ptr.data(), column.data(), value.data(), false});
  return {slices.num_slices(),
          upload(slices.begin),
          upload(slices.first),
          upload(slices.row),
          upload(slices.column),
          upload(slices.value),
          upload(std::vector<double>(size, 1.0)),
          upload(std::vector<double>(size, 1.0)),
          emulate::allocate_array<int>(size),
          emulate::allocate_array<int>(1),
          1,
          1};
}

/// How a kernel runs: as g++ compiled it, or from a module of PTX.
struct Mode {
  std::string ptx;  ///< file, or empty
  bool is_careful;  ///< with race detector and delayed stores
};

emulate::Launch launch_of(const Chain& chain, const std::string& ptx) {
  const emulate::Launch native = device::tree_forward_with(
      device::Fault::none, chain.sweep, {8, 128, device::shared_bytes_of_sweep<double>(Chain::width, 1)});
  if (ptx.empty()) return native;
  return emulate::launch(emulate::PtxModule::read(ptx), "tree_forward_kernel<double, 1, (Fault)0>",
                         emulate::ptx_arguments(chain.sweep),
                         {0, native.blocks, native.threads, native.shared_bytes});
}

std::string row_of(int num_supernodes, const Mode& mode) {
  emulate::reset_memory(1);
  const Chain chain(num_supernodes);
  emulate::Options options;
  options.resident_blocks = 8;
  options.find_races = options.delay_stores = mode.is_careful;
  const emulate::Launch launch = launch_of(chain, mode.ptx);
  const auto start = std::chrono::steady_clock::now();
  const emulate::Report report = emulate::run({launch}, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double steps = static_cast<double>(report.plain_accesses + report.atomics + report.collectives);
  std::ostringstream row;
  row << "{\"from_ptx\": " << (mode.ptx.empty() ? "false" : "true")
      << ", \"races_and_delayed_stores\": " << (mode.is_careful ? "true" : "false")
      << ", \"steps\": " << steps << ", \"seconds\": " << seconds.count()
      << ", \"steps_per_second\": " << steps / seconds.count() << ", \"reports\": " << report.errors.size()
      << "}";
  return row.str();
}

using device::Kernel;

/// A name, as the documents have it.
struct NamedKernel {
  Kernel kernel;
  const char* name;
};
constexpr NamedKernel kernels[] = {
    {Kernel::tree_forward, "tree_forward"},         {Kernel::tree_backward, "tree_backward"},
    {Kernel::level_forward, "level_forward"},       {Kernel::level_backward, "level_backward"},
    {Kernel::columns_forward, "columns_forward"},   {Kernel::columns_backward, "columns_backward"},
    {Kernel::rows, "rows"}};

/// What several launches, one after the other, did.
struct Work {
  double steps = 0, seconds = 0;
  std::map<const void*, emulate::Site> loads;  ///< by their place in the kernel

  void run(const device::KernelCall& call, device::LaunchShape shape, const emulate::Options& options) {
    shape.shared_bytes = device::shared_bytes_of_sweep<double>(Chain::width, 1);
    const emulate::Launch launch = device::emulated_launch(call, shape);
    const auto start = std::chrono::steady_clock::now();
    const emulate::Report report = emulate::run({launch}, options);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    steps += static_cast<double>(report.plain_accesses + report.atomics + report.collectives);
    for (const auto& [place, site] : report.loads) {
      emulate::Site& sum = loads[place];
      sum.requests += site.requests;
      sum.sectors += site.sectors;
      sum.bytes += site.bytes;
    }
    if (!report.ok()) throw std::runtime_error(report.errors.front());
  }
};

/// "requests", "sectors" and "bytes" of some loads.
std::string json_of(const emulate::Site& loads) {
  return "{\"requests\": " + std::to_string(loads.requests) + ", \"sectors\": " +
         std::to_string(loads.sectors) + ", \"bytes\": " + std::to_string(loads.bytes) + "}";
}

emulate::Site all_of(const std::map<const void*, emulate::Site>& loads) {
  emulate::Site all;
  for (const auto& [place, site] : loads) {
    all.requests += site.requests;
    all.sectors += site.sectors;
    all.bytes += site.bytes;
  }
  return all;
}

/// Those of the load that fetches the most sectors.
emulate::Site most_of(const std::map<const void*, emulate::Site>& loads) {
  emulate::Site most;
  for (const auto& [place, site] : loads)
    if (site.sectors > most.sectors) most = site;
  return most;
}

/// The kernel's work on the whole chain; level after level for kernels that wait for nothing.
Work work_of(Kernel kernel, int num_supernodes, bool counts_sectors) {
  emulate::reset_memory(1);
  Chain chain(num_supernodes);
  const device::RowSweep<double> rows = rows_of_chain(num_supernodes * Chain::width);
  emulate::Options options;
  options.resident_blocks = 8;
  options.find_races = options.delay_stores = false;
  options.count_sectors = counts_sectors;
  const bool is_backward = kernel == Kernel::tree_backward || kernel == Kernel::level_backward ||
                           kernel == Kernel::columns_backward;
  if (is_backward) chain.sweep.at.order = chain.reversed;
  const void* const argument =
      kernel == Kernel::rows ? static_cast<const void*>(&rows) : static_cast<const void*>(&chain.sweep);
  const device::KernelCall call{kernel, ScalarType::float64, 1, argument};
  Work work;
  if (kernel != Kernel::level_forward && kernel != Kernel::level_backward) {
    work.run(call, {8, 128, 0}, options);
    return work;
  }
  for (int level = 0; level < num_supernodes; ++level) {
    chain.sweep.at.first = level;
    chain.sweep.at.end = level + 1;
    work.run(call, {1, 128, 0}, options);
  }
  return work;
}

std::string rows_of_kernels(int num_supernodes) {
  std::ostringstream text;
  for (const NamedKernel& one : kernels) {
    const Work plain = work_of(one.kernel, num_supernodes, false);
    const Work counted = work_of(one.kernel, num_supernodes, true);
    text << (text.str().empty() ? "[" : ",\n ") << "{\"kernel\": \"" << one.name
         << "\", \"steps\": " << static_cast<long long>(plain.steps)
         << ", \"steps_per_second\": " << plain.steps / plain.seconds
         << ", \"loads\": " << json_of(all_of(counted.loads))
         << ", \"largest_load\": " << json_of(most_of(counted.loads)) << "}";
  }
  return text.str() + "]\n";
}

}  // namespace

int main(int argc, char** argv) {
  int num_supernodes = 400;
  std::string json, ptx;
  bool each_kernel = false;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--supernodes") == 0) num_supernodes = std::atoi(argv[k + 1]);
    if (std::strcmp(argv[k], "--ptx") == 0) ptx = argv[k + 1];
    if (std::strcmp(argv[k], "--json") == 0) json = argv[k + 1];
    if (std::strcmp(argv[k], "--kernels") == 0) each_kernel = true;
  }
  if (each_kernel) {
    const std::string rows = rows_of_kernels(num_supernodes);
    std::cout << rows;
    if (!json.empty()) std::ofstream(json) << rows;
    return 0;
  }
  std::string text = "[" + row_of(num_supernodes, {"", false}) + ",\n " + row_of(num_supernodes, {"", true});
  if (!ptx.empty())
    text += ",\n " + row_of(num_supernodes, {ptx, false}) + ",\n " + row_of(num_supernodes, {ptx, true});
  text += "]\n";
  std::cout << text;
  if (!json.empty()) std::ofstream(json) << text;
  return 0;
}
