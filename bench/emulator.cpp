// Question: how many steps per second does the emulator of GPU kernels run, plainly and with the race
// detector and delayed stores? A step is a load, a store, an atomic access or a collective operation of one
// emulated thread. With a module of PTX, the same for the interpreter, which runs what nvcc made of the
// kernel. These are times of this CPU; they say nothing about a GPU.
//
//   bench_emulator [--supernodes N] [--ptx build/release/tests/kernels/kernels_sm_90.ptx] [--json FILE]
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>
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

  explicit Chain(int num_supernodes) {
    std::vector<int> begin{0}, parent, row, into, child_ptr{0}, child;
    std::vector<long long> below{0}, offset;
    std::vector<unsigned char> log_height;
    long long entries = 0;
    for (int supernode = 0; supernode < num_supernodes; ++supernode) {
      begin.push_back((supernode + 1) * width);
      const bool has_parent = supernode + 1 < num_supernodes;
      parent.push_back(has_parent ? supernode + 1 : -1);
      for (int k = 0; has_parent && k < width; ++k) {
        row.push_back(begin.back() + k);
        into.push_back(k);
      }
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
                  upload(row),       upload(into),   upload(child_ptr), upload(child), nullptr,
                  nullptr,           upload(task_ptr), upload(order)};
    sweep.panels = {upload(std::vector<double>(static_cast<std::size_t>(entries), 1.0 / 64)), upload(offset),
                    upload(std::vector<unsigned char>(offset.size())), upload(log_height), nullptr};
    device::SweepVectors<double>& at = sweep.at;
    at.in = upload(std::vector<double>(static_cast<std::size_t>(begin.back()), 1.0));
    at.x = emulate::allocate_array<double>(static_cast<std::size_t>(begin.back()));
    at.order = sweep.tree.supernode_of;
    at.update = emulate::allocate_array<double>(row.size() + 1);
    at.done = emulate::allocate_array<int>(static_cast<std::size_t>(num_supernodes));
    at.ticket = emulate::allocate_array<int>(1);
    at.sweep = at.stride = at.tile = 1;
    at.widest = width;
  }
};

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

}  // namespace

int main(int argc, char** argv) {
  int num_supernodes = 400;
  std::string json, ptx;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--supernodes") == 0) num_supernodes = std::atoi(argv[k + 1]);
    if (std::strcmp(argv[k], "--ptx") == 0) ptx = argv[k + 1];
    if (std::strcmp(argv[k], "--json") == 0) json = argv[k + 1];
  }
  std::string text = "[" + row_of(num_supernodes, {"", false}) + ",\n " + row_of(num_supernodes, {"", true});
  if (!ptx.empty())
    text += ",\n " + row_of(num_supernodes, {ptx, false}) + ",\n " + row_of(num_supernodes, {ptx, true});
  text += "]\n";
  std::cout << text;
  if (!json.empty()) std::ofstream(json) << text;
  return 0;
}
