// Reads ratings line by line.
#include "palmette/transfer/ratings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <string_view>
#include <unordered_map>

#include "palmette/base/base.hpp"

namespace palmette::transfer {
namespace {

constexpr std::string_view separators = " \t\r,;:";

/// The next field of a line, which is then cut; empty if there is none.
std::string_view take_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(separators), line.size()));
  const std::string_view field = line.substr(0, line.find_first_of(separators));
  line.remove_prefix(field.size());
  return field;
}

bool read_value(std::string_view field, float& value) {
  const auto [end, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
  return fault == std::errc() && end == field.data() + field.size() && std::isfinite(value);
}

class Numbers {
 public:
  std::uint32_t of(std::string_view word) {
    return numbers_.try_emplace(std::string(word), static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

Ratings read_ratings(std::istream& from, const std::string& name) {
  Ratings ratings;
  Numbers users, items;
  std::string text;
  for (std::int64_t line = 1; std::getline(from, text); ++line) {
    std::string_view left = text;
    const std::string_view user = take_field(left), item = take_field(left), value = take_field(left);
    if (user.empty() || user[0] == '#' || user[0] == '%') continue;
    if (value.empty()) throw IoError(name, line, "a rating needs a user, an item and a value");
    float number = 0;
    if (!read_value(value, number)) {
      if (line == 1) continue;
      throw IoError(name, line,
                    "the value of a rating must be a finite number, not '" + std::string(value) + "'");
    }
    ratings.list.push_back({users.of(user), items.of(item), number});
  }
  if (from.bad()) throw IoError(name, 0, "this file cannot be read to its end");
  if (ratings.list.empty()) throw IoError(name, 0, "there is no rating in this file");
  ratings.users = users.count();
  ratings.items = items.count();
  return ratings;
}

}  // namespace palmette::transfer
