// Profiles as JSON. The writer puts one profile on a line, so the reader needs only its own form.
#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>

#include "palmette/transfer/profile.hpp"

namespace palmette::transfer {
namespace {

void check_plain(const std::string& text) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return c == '"' || c == '\\' || (c >= 0 && c < ' '); }))
    throw UsageError("the name \"" + text +
                     "\" has characters that need escapes; give letters, digits and spaces");
}

/// One line: values behind their keys.
struct Line {
  const std::string& text;
  const std::string& file;
  std::int64_t number;

  [[noreturn]] void fail(const std::string& key) const {
    throw IoError(file, number, "\"" + key + "\" is missing or has a wrong value; profile the machine anew");
  }
  std::string string(const std::string& key) const {
    const std::size_t at = value(key);
    const std::size_t end = text.find('"', at + 1);
    if (text[at] != '"' || end == std::string::npos) fail(key);
    return text.substr(at + 1, end - at - 1);
  }
  template <class T>
  T positive(const std::string& key) const {
    T found{};
    const char* const begin = text.data() + value(key);
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), found);
    if (error != std::errc() || end == begin || !(found > 0)) fail(key);
    return found;
  }

 private:
  std::size_t value(const std::string& key) const {
    const std::string mark = "\"" + key + "\": ";
    const std::size_t at = text.find(mark);
    if (at == std::string::npos || at + mark.size() >= text.size()) fail(key);
    return at + mark.size();
  }
};

TransferProfile profile_of(const Line& line) {
  TransferProfile made;
  made.machine = line.string("machine");
  made.kind = line.string("kind");
  made.region_bytes = line.positive<std::int64_t>("region_bytes");
  const std::string name = line.string("mechanism");
  const auto found = std::find_if(std::begin(mechanisms), std::end(mechanisms),
                                  [&](Mechanism one) { return name == name_of(one); });
  if (found == std::end(mechanisms)) line.fail("mechanism");
  made.best.choice = {*found, line.positive<std::int64_t>("chunk_bytes"), line.positive<int>("agents")};
  made.best.seconds = line.positive<double>("seconds");
  made.best.trials = line.positive<int>("trials");
  return made;
}

}  // namespace

void write_profiles(std::ostream& file, std::span<const TransferProfile> profiles) {
  file << "[\n";
  for (std::size_t k = 0; k < profiles.size(); ++k) {
    const TransferProfile& one = profiles[k];
    check_plain(one.machine);
    check_plain(one.kind);
    char seconds[32] = {};
    std::to_chars(seconds, seconds + sizeof seconds - 1, one.best.seconds);
    file << "{\"machine\": \"" << one.machine << "\", \"kind\": \"" << one.kind
         << "\", \"region_bytes\": " << one.region_bytes << ", \"mechanism\": \""
         << name_of(one.best.choice.mechanism) << "\", \"chunk_bytes\": " << one.best.choice.chunk_bytes
         << ", \"agents\": " << one.best.choice.agents << ", \"seconds\": " << seconds
         << ", \"trials\": " << one.best.trials << "}" << (k + 1 < profiles.size() ? "," : "") << "\n";
  }
  file << "]\n";
}

std::vector<TransferProfile> read_profiles(std::istream& file, const std::string& name) {
  std::vector<TransferProfile> profiles;
  std::string text;
  for (std::int64_t number = 1; std::getline(file, text); ++number)
    if (text != "[" && text != "]") profiles.push_back(profile_of({text, name, number}));
  if (profiles.empty()) throw IoError(name, 0, "no profiles; profile the machine first");
  return profiles;
}

}  // namespace palmette::transfer
