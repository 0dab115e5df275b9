// Reads /proc and sysfs; whatever is missing or malformed there counts as unknown.
#include "palmette/machine/describe.hpp"

#include <fstream>

namespace palmette {
namespace {

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// "32768K", "1M" or "512" in bytes; 0 if the text has none of these forms.
offset_t bytes_of(const std::string& text) {
  offset_t bytes = 0;
  std::size_t place = 0;
  for (; place < text.size() && text[place] >= '0' && text[place] <= '9' && bytes < (offset_t{1} << 40);
       ++place)
    bytes = 10 * bytes + (text[place] - '0');
  const std::string unit = text.substr(place);
  if (unit.empty()) return bytes;
  if (unit == "K") return bytes << 10;
  if (unit == "M") return bytes << 20;
  return unit == "G" ? bytes << 30 : 0;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::string processor_name(const std::filesystem::path& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || trimmed(line.substr(0, colon)) != "model name") continue;
    const std::string name = trimmed(line.substr(colon + 1));
    if (!name.empty()) return name;
  }
  return "unknown";
}

offset_t last_level_cache_bytes(const std::filesystem::path& folder) {
  constexpr int most_caches = 16;
  int highest = 0;
  offset_t bytes = 0;
  for (int number = 0; number < most_caches; ++number) {
    const std::filesystem::path cache = folder / std::string("index").append(std::to_string(number));
    const std::string level = first_line(cache / "level");
    const offset_t size = bytes_of(first_line(cache / "size"));
    if (size == 0 || level.size() != 1 || level[0] < '1' || level[0] > '9') continue;
    if (first_line(cache / "type") == "Instruction" || level[0] - '0' < highest) continue;
    highest = level[0] - '0';
    bytes = size;
  }
  return bytes;
}

}  // namespace palmette
