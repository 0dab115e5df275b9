// One field after the other, with a place for each complaint.
#include "cli/machine_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "cli/names.hpp"

namespace palmette::cli {

using Json = nlohmann::ordered_json;

/// Made by CMake of the files in data/machines: name, text, name, text, …, null.
extern const char* const shipped_machines[];

namespace {

constexpr const char* format_name = "palmette machine 1";

class Reader {
 public:
  Reader(const std::string& text, std::string name) : name_(std::move(name)) {
    try {
      document_ = Json::parse(text);
    } catch (const Json::parse_error& error) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), error.byte));
      throw IoError(name_, 1 + std::count(text.begin(), end, '\n'),
                    "this is not JSON; see the files in data/machines for the form");
    }
    if (!document_.is_object()) fail("", "a machine file is one JSON object; see the files in data/machines");
  }

  MachineFile read() {
    const Json& format = field(document_, "", "format");
    if (format != format_name) fail("format", fmt::format("this must be \"{}\"", format_name));
    MachineFile file;
    Cluster& cluster = file.cluster;
    cluster.name = word("name");
    cluster.description = word("description");
    const double ranks = number(document_, "", "ranks_per_node");
    if (!(ranks >= 1 && ranks <= 1 << 20 && ranks == static_cast<double>(static_cast<index_t>(ranks))))
      fail("ranks_per_node", "give a whole number, 1 or more");
    cluster.ranks_per_node = static_cast<index_t>(ranks);
    cluster.cache_bytes = number(document_, "", "cache_bytes");
    cluster.lone_cache_bytes = number_or_zero(document_, "", "lone_cache_bytes");
    cluster.cache_gbs = number(document_, "", "cache_gbs");
    cluster.memory_gbs = curve("memory_gbs");
    cluster.kernel_gflops = curve("kernel_gflops");
    cluster.overheads = overheads("overheads");
    if (document_.contains("rank_overheads")) cluster.rank_overheads = overheads("rank_overheads");
    cluster.network = link("network");
    cluster.on_node = link("on_node");
    cluster.injection_gbs = number(document_, "", "injection_gbs");
    for (const auto& [key, value] : document_.items()) expect_known(key);
    try {
      check(cluster);
    } catch (const UsageError& error) {
      throw IoError(name_, 0, error.what());
    }
    file.sources = sources_;
    return file;
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& remedy) const {
    throw IoError(name_, 0, place.empty() ? remedy : fmt::format("{}: {}", place, remedy));
  }
  const Json& field(const Json& from, const std::string& prefix, const std::string& key) const {
    const auto found = from.find(key);
    if (found == from.end()) fail(prefix + key, "this is missing; see the files in data/machines");
    return *found;
  }
  const Json& group(const std::string& key) const {
    const Json& found = field(document_, "", key);
    if (!found.is_object()) fail(key, "give an object of numbers; see the files in data/machines");
    return found;
  }
  std::string word(const std::string& key) const {
    const Json& found = field(document_, "", key);
    if (!found.is_string()) fail(key, "give a string in quotes");
    return found.get<std::string>();
  }
  void note_source(const Json& found, const std::string& place) {
    const auto source = found.find("source");
    if (source == found.end()) return;
    if (!source->is_string()) fail(place + ".source", "give a string in quotes");
    sources_[place] = source->get<std::string>();
  }
  double number(const Json& from, const std::string& prefix, const std::string& key) {
    const std::string place = prefix + key;
    const Json& found = field(from, prefix, key);
    if (found.is_number()) return found.get<double>();
    const auto value = found.is_object() ? found.find("value") : found.end();
    if (!found.is_object() || value == found.end() || !value->is_number())
      fail(place, R"(give a number, or {"value": number, "source": "where it is from"})");
    note_source(found, place);
    return value->get<double>();
  }
  double number_or_zero(const Json& from, const std::string& prefix, const std::string& key) {
    return from.contains(key) ? number(from, prefix, key) : 0;
  }
  RateCurve curve(const std::string& key) {
    const char* const remedy = R"(give {"points": [[at, rate], ...], "source": "where they are from"})";
    const Json& found = field(document_, "", key);
    const auto points = found.is_object() ? found.find("points") : found.end();
    if (!found.is_object() || points == found.end() || !points->is_array()) fail(key, remedy);
    RateCurve result;
    for (const Json& point : *points) {
      if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number())
        fail(key, remedy);
      result.push_back({point[0].get<double>(), point[1].get<double>()});
    }
    note_source(found, key);
    return result;
  }
  TaskOverheads overheads(const std::string& key) {
    const Json& from = group(key);
    const std::string prefix = key + ".";
    return {number(from, prefix, "task_us"),
            number(from, prefix, "panel_us"),
            number(from, prefix, "row_ns"),
            number_or_zero(from, prefix, "byte_ns"),
            number_or_zero(from, prefix, "memory_byte_ns"),
            number_or_zero(from, prefix, "column_ns"),
            number_or_zero(from, prefix, "handoff_us")};
  }
  Link link(const std::string& key) {
    const Json& from = group(key);
    const std::string prefix = key + ".";
    return {number(from, prefix, "latency_us"), number(from, prefix, "bandwidth_gbs"),
            number(from, prefix, "send_overhead_us"), number(from, prefix, "receive_overhead_us")};
  }
  void expect_known(const std::string& key) const {
    const std::vector<std::string> known = {
        "format",           "name",      "description", "ranks_per_node", "cache_bytes",
        "lone_cache_bytes", "cache_gbs", "memory_gbs",  "kernel_gflops",  "overheads",
        "rank_overheads",   "network",   "on_node",     "injection_gbs"};
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail(key, "no such field" + suggestion(key, known));
  }

  std::string name_;
  Json document_;
  std::map<std::string, std::string> sources_;
};

std::string text_of_file(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw IoError(path, 0, "this machine file cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const char* const* at = shipped_machines; *at != nullptr; at += 2) names.emplace_back(*at);
  return names;
}

MachineFile parse_machine(const std::string& text, const std::string& name) {
  return Reader(text, name).read();
}

MachineFile read_machine(const std::string& path) { return parse_machine(text_of_file(path), path); }

MachineFile known_machine(std::string_view option, const std::string& text, std::vector<std::string> also) {
  for (const char* const* at = shipped_machines; *at != nullptr; at += 2)
    if (text == *at) return parse_machine(at[1], text);
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return read_machine(text);
  std::vector<std::string> names = std::move(also);
  for (std::string& name : machine_names()) names.push_back(std::move(name));
  throw UsageError(fmt::format("{}: '{}' is neither a file nor a known machine{}; known machines are {}",
                               option, text, suggestion(text, names), joined(names)));
}

Json machine_json(const MachineFile& file) {
  const Cluster& cluster = file.cluster;
  const auto source = [&](const std::string& place) {
    const auto found = file.sources.find(place);
    return found == file.sources.end() ? std::string("not told") : found->second;
  };
  const auto number = [&](const std::string& place, double value) {
    return Json{{"value", value}, {"source", source(place)}};
  };
  const auto curve = [&](const std::string& place, const RateCurve& points) {
    Json list = Json::array();
    for (const RatePoint& point : points) list.push_back({point.at, point.rate});
    return Json{{"points", list}, {"source", source(place)}};
  };
  const auto link = [&](const std::string& place, const Link& one) {
    return Json{{"latency_us", number(place + ".latency_us", one.latency_us)},
                {"bandwidth_gbs", number(place + ".bandwidth_gbs", one.bandwidth_gbs)},
                {"send_overhead_us", number(place + ".send_overhead_us", one.send_overhead_us)},
                {"receive_overhead_us", number(place + ".receive_overhead_us", one.receive_overhead_us)}};
  };
  const auto overheads = [&](const std::string& place, const TaskOverheads& one) {
    return Json{{"task_us", number(place + ".task_us", one.task_us)},
                {"panel_us", number(place + ".panel_us", one.panel_us)},
                {"row_ns", number(place + ".row_ns", one.row_ns)},
                {"byte_ns", number(place + ".byte_ns", one.byte_ns)},
                {"memory_byte_ns", number(place + ".memory_byte_ns", one.memory_byte_ns)},
                {"column_ns", number(place + ".column_ns", one.column_ns)},
                {"handoff_us", number(place + ".handoff_us", one.handoff_us)}};
  };
  Json document{{"format", format_name},
          {"name", cluster.name},
          {"description", cluster.description},
          {"ranks_per_node", number("ranks_per_node", cluster.ranks_per_node)},
          {"cache_bytes", number("cache_bytes", cluster.cache_bytes)},
          {"lone_cache_bytes", number("lone_cache_bytes", cluster.lone_cache_bytes)},
          {"cache_gbs", number("cache_gbs", cluster.cache_gbs)},
          {"memory_gbs", curve("memory_gbs", cluster.memory_gbs)},
          {"kernel_gflops", curve("kernel_gflops", cluster.kernel_gflops)},
          {"overheads", overheads("overheads", cluster.overheads)},
          {"network", link("network", cluster.network)},
          {"on_node", link("on_node", cluster.on_node)},
          {"injection_gbs", number("injection_gbs", cluster.injection_gbs)}};
  if (cluster.rank_overheads)
    document["rank_overheads"] = overheads("rank_overheads", *cluster.rank_overheads);
  return document;
}

}  // namespace palmette::cli
