// Lines of the form key=value, numbers printed so that reading gives the same bits in every locale.
#include "palmette/machine/remember.hpp"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>

namespace palmette {
namespace {

constexpr std::string_view version = "2";
constexpr std::size_t longest_line = 1000;
constexpr std::size_t most_lines = 100;

using Values = std::map<std::string, std::string>;

std::string text_of(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, end.ptr};
}

/// A plausible rate: the whole text is a finite positive number.
std::optional<double> rate_in(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) return std::nullopt;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
    return std::nullopt;
  return value;
}

Values what_must_agree(const Machine& machine, offset_t array_bytes) {
  return {{"version", std::string(version)},
          {"processor", machine.processor},
          {"threads", std::to_string(machine.threads)},
          {"last_level_cache_bytes", std::to_string(machine.last_level_cache_bytes)},
          {"array_bytes", std::to_string(array_bytes)}};
}

Values read_values(const std::filesystem::path& file) {
  Values values;
  std::ifstream stream(file);
  std::string line;
  for (std::size_t number = 0; number < most_lines && std::getline(stream, line); ++number) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && line.size() <= longest_line)
      values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return values;
}

/// A name that no other process and no other call uses.
std::filesystem::path temporary_name(const std::filesystem::path& file) {
  static std::atomic<int> calls{0};
  std::filesystem::path name = file;
  name += std::string(".")
              .append(std::to_string(::getpid()))
              .append(".")
              .append(std::to_string(calls++))
              .append(".part");
  return name;
}

}  // namespace

std::filesystem::path remembered_file(const std::filesystem::path& folder, const Machine& machine,
                                      offset_t array_bytes) {
  constexpr std::size_t longest_name = 80;
  std::string name = "machine-";
  for (const char letter : machine.processor.substr(0, longest_name)) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9');
    name += plain ? letter : '_';
  }
  name.append("-").append(std::to_string(machine.threads)).append("-threads-");
  return folder / name.append(std::to_string(array_bytes)).append("-bytes.txt");
}

std::optional<Machine> recall_machine(const std::filesystem::path& file, const Machine& machine,
                                      offset_t array_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  const Values values = read_values(file);
  for (const auto& [key, expected] : what_must_agree(machine, array_bytes)) {
    const auto found = values.find(key);
    if (found == values.end() || found->second != expected) return std::nullopt;
  }
  const auto read = rate_in(values, "read_bandwidth_gbs"), stream = rate_in(values, "stream_bandwidth_gbs");
  if (!read || !stream) return std::nullopt;
  Machine result = machine;
  result.read_bandwidth_gbs = *read;
  result.stream_bandwidth_gbs = *stream;
  return result;
}

void remember_machine(const std::filesystem::path& file, const Machine& machine, offset_t array_bytes) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path temporary = temporary_name(file);
  {
    std::ofstream stream(temporary);
    for (const auto& [key, value] : what_must_agree(machine, array_bytes))
      stream << key << '=' << value << '\n';
    stream << "read_bandwidth_gbs=" << text_of(machine.read_bandwidth_gbs) << '\n'
           << "stream_bandwidth_gbs=" << text_of(machine.stream_bandwidth_gbs) << '\n';
    stream.flush();
    if (stream) std::filesystem::rename(temporary, file, error);
    else error = std::make_error_code(std::errc::io_error);
  }
  if (error) std::filesystem::remove(temporary, error);
}

}  // namespace palmette
