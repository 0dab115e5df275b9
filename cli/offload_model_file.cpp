// One file for each device in the cache folder.
#include "cli/offload_model_file.hpp"

#include <filesystem>
#include <fstream>

#include "cli/options.hpp"

namespace palmette::cli {
namespace {

constexpr const char* offload_format = "palmette offload 1";

/// Empty if no cache folder is known.
std::string kept_path(const DeviceInfo& device) {
  const std::string folder = cache_folder();
  if (folder.empty()) return folder;
  return folder + "/offload-1-" + device.kind + "-" + std::to_string(device.index) + ".json";
}

nlohmann::ordered_json points_json(const RateCurve& curve) {
  auto list = nlohmann::ordered_json::array();
  for (const RatePoint& point : curve) list.push_back({point.at, point.rate});
  return list;
}

RateCurve points_of(const nlohmann::ordered_json& list) {
  RateCurve curve;
  for (const auto& point : list) curve.push_back({point.at(0).get<double>(), point.at(1).get<double>()});
  return curve;
}

OffloadModel model_of(const nlohmann::ordered_json& from) {
  OffloadModel model;
  model.source = from.at("source").get<std::string>();
  model.host_gflops = points_of(from.at("host_gflops"));
  model.device_gflops = points_of(from.at("device_gflops"));
  model.host_relative = from.at("host_relative").get<RelativeRates>();
  model.device_relative = from.at("device_relative").get<RelativeRates>();
  model.launch_us = from.at("launch_us").get<double>();
  model.bus_latency_us = from.at("bus_latency_us").get<double>();
  model.bus_gbs = from.at("bus_gbs").get<double>();
  check(model);
  return model;
}

}  // namespace

nlohmann::ordered_json offload_model_json(const OffloadModel& model, const DeviceInfo& device) {
  return {{"format", offload_format},
          {"device", device.name},
          {"emulated", device.kind == "emulated"},
          {"source", model.source},
          {"host_gflops", points_json(model.host_gflops)},
          {"host_relative", model.host_relative},
          {"device_gflops", points_json(model.device_gflops)},
          {"device_relative", model.device_relative},
          {"launch_us", model.launch_us},
          {"bus_latency_us", model.bus_latency_us},
          {"bus_gbs", model.bus_gbs}};
}

std::optional<OffloadModel> kept_offload_model(const DeviceInfo& device) {
  const std::string path = kept_path(device);
  if (path.empty()) return std::nullopt;
  std::ifstream stream(path);
  if (!stream) return std::nullopt;
  try {
    const auto document = nlohmann::ordered_json::parse(stream);
    // Figures of another device that had this number are of no use.
    if (document.at("format") != offload_format || document.at("device") != device.name) return std::nullopt;
    return model_of(document);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void keep_offload_model(const OffloadModel& model, const DeviceInfo& device) {
  const std::string path = kept_path(device);
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream(path + ".new") << offload_model_json(model, device).dump(2) << "\n";
  std::filesystem::rename(path + ".new", path, ignored);
}

}  // namespace palmette::cli
