// Question: how many events a second does the simulator of transfers replay? An event is an access of the
// trace, or a packet's passage over one link. For each application and paradigm; these are times of this CPU.
//
//   bench_transfers [--scale S] [--json FILE]
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/transfer/transfer.hpp"

namespace {

using namespace palmette;
using namespace palmette::transfer;

/// The framing and rate of PCIe 4, in a tree.
const Fabric fabric{"pcie4", "", 32, 1.2, 8, 65536, {24, 4, 4096, 0}, Topology::tree, 2, 32};

nlohmann::ordered_json row(const StoreTrace& trace, Paradigm paradigm) {
  ReplayOptions options;
  options.paradigm = paradigm;
  const auto begin = std::chrono::steady_clock::now();
  const TransferResult result = simulate_transfers(trace, fabric, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {{"application", trace.name},
          {"paradigm", name_of(paradigm)},
          {"accesses", trace.num_accesses()},
          {"events", result.events},
          {"wall_seconds", seconds},
          {"events_per_second", static_cast<double>(result.events) / seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  ApplicationOptions options;
  std::string json;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string name = argv[k];
    if (name == "--scale") options.scale = std::atof(argv[k + 1]);
    if (name == "--json") json = argv[k + 1];
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  double events = 0, seconds = 0;
  for (const Application application : applications) {
    const ApplicationRun run = run_application(application, options);
    for (const Paradigm paradigm : {Paradigm::copies, Paradigm::peer_loads, Paradigm::peer_stores,
                                    Paradigm::gps, Paradigm::finepack, Paradigm::proact}) {
      rows.push_back(row(run.trace, paradigm));
      events += rows.back()["events"].get<double>();
      seconds += rows.back()["wall_seconds"].get<double>();
      std::cout << rows.back().dump() << std::endl;
    }
  }
  const nlohmann::ordered_json all{{"events_per_second", events / seconds}, {"rows", rows}};
  std::cout << "all: " << events / seconds << " events/s\n";
  if (!json.empty()) std::ofstream(json) << all.dump(1) << '\n';
}
