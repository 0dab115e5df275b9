// Question: how many steps per second does the emulator of GPU kernels run, plainly and with the race
// detector and delayed stores? A step is a load, a store, an atomic access or a collective operation of one
// emulated thread. These are times of this CPU; they say nothing about a GPU.
//
//   bench_emulator [--supernodes N] [--json FILE]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "palmette/device/device.hpp"

namespace {

using namespace palmette;

using emulate::upload;

/// A chain of dense supernodes of width 16: each has the rows of the next one below it.
struct Chain {
  static constexpr int width = 16, chunk_rows = 32;
  device::Tree tree;
  device::TreeRun run;

  explicit Chain(int num_supernodes) {
    std::vector<int> begin{0}, order, chunk, row, into, child_start{0}, child;
    std::vector<long long> panel{0}, below{0};
    for (int supernode = 0; supernode < num_supernodes; ++supernode) {
      begin.push_back((supernode + 1) * width);
      order.push_back(supernode);
      chunk.push_back(chunk_rows);
      panel.push_back((supernode + 1LL) * width * chunk_rows);
      const bool has_parent = supernode + 1 < num_supernodes;
      for (int k = 0; has_parent && k < width; ++k) {
        row.push_back(begin.back() + k);
        into.push_back(k);
      }
      below.push_back(static_cast<long long>(row.size()));
      if (supernode > 0) child.push_back(supernode - 1);
      child_start.push_back(static_cast<int>(child.size()));
    }
    const std::vector<double> values(static_cast<std::size_t>(panel.back()), 1.0 / 64);
    tree = {num_supernodes, upload(begin), upload(order), upload(chunk),       upload(panel), upload(values),
            upload(below),  upload(row),   upload(into),  upload(child_start), upload(child)};
    const std::size_t n = static_cast<std::size_t>(begin.back());
    run = {upload(std::vector<double>(n, 1.0)),
           emulate::allocate_array<double>(n),
           emulate::allocate_array<double>(row.size() + 1),
           emulate::allocate_array<int>(static_cast<std::size_t>(num_supernodes)),
           emulate::allocate_array<int>(1),
           1};
  }
};

std::string row_of(int num_supernodes, bool is_careful) {
  emulate::reset_memory(1);
  const Chain chain(num_supernodes);
  emulate::Options options;
  options.resident_blocks = 8;
  options.find_races = options.delay_stores = is_careful;
  const auto start = std::chrono::steady_clock::now();
  const emulate::Report report = emulate::run(
      {device::forward_tree(device::Fault::none, chain.tree, chain.run, {8, 128, Chain::width})}, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double steps = static_cast<double>(report.plain_accesses + report.atomics + report.collectives);
  std::ostringstream row;
  row << "{\"races_and_delayed_stores\": " << (is_careful ? "true" : "false") << ", \"steps\": " << steps
      << ", \"seconds\": " << seconds.count() << ", \"steps_per_second\": " << steps / seconds.count()
      << ", \"reports\": " << report.errors.size() << "}";
  return row.str();
}

}  // namespace

int main(int argc, char** argv) {
  int num_supernodes = 400;
  std::string json;
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--supernodes") == 0) num_supernodes = std::atoi(argv[k + 1]);
    if (std::strcmp(argv[k], "--json") == 0) json = argv[k + 1];
  }
  const std::string text =
      "[" + row_of(num_supernodes, false) + ",\n " + row_of(num_supernodes, true) + "]\n";
  std::cout << text;
  if (!json.empty()) std::ofstream(json) << text;
  return 0;
}
