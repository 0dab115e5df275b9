// A description in data/machines as a Cluster; what is wrong with a file is the command's business to say.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/machine/machine.hpp"

namespace palmette::bench {

/// @param name  of a file in data/machines, seen from the root of the sources
inline std::shared_ptr<const Cluster> shipped_machine(const std::string& name) {
  std::ifstream file("data/machines/" + name + ".json");
  if (!file) throw UsageError("data/machines/" + name + ".json cannot be read; run this in the root of the sources");
  const nlohmann::json document = nlohmann::json::parse(file);
  const auto number = [](const nlohmann::json& from, const char* key) { return from.at(key).at("value").get<double>(); };
  const auto curve = [&](const char* key) {
    RateCurve points;
    for (const auto& point : document.at(key).at("points")) points.push_back({point[0].get<double>(), point[1].get<double>()});
    return points;
  };
  const auto link = [&](const char* key) {
    const nlohmann::json& from = document.at(key);
    return Link{number(from, "latency_us"), number(from, "bandwidth_gbs"), number(from, "send_overhead_us"), number(from, "receive_overhead_us")};
  };
  auto cluster = std::make_shared<Cluster>();
  cluster->name = name;
  cluster->description = document.at("description").get<std::string>();
  cluster->ranks_per_node = static_cast<index_t>(number(document, "ranks_per_node"));
  cluster->cache_bytes = number(document, "cache_bytes");
  cluster->cache_gbs = number(document, "cache_gbs");
  cluster->memory_gbs = curve("memory_gbs");
  cluster->kernel_gflops = curve("kernel_gflops");
  const nlohmann::json& overheads = document.at("overheads");
  cluster->overheads = {number(overheads, "task_us"), number(overheads, "panel_us"), number(overheads, "row_ns")};
  cluster->network = link("network");
  cluster->on_node = link("on_node");
  cluster->injection_gbs = number(document, "injection_gbs");
  check(*cluster);
  return cluster;
}

}  // namespace palmette::bench
