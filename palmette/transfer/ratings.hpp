// Part of the door of `transfer`: ratings of items by users, for the application `als`, also from files.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace palmette::transfer {

struct Rating {
  std::uint32_t user = 0, item = 0;
  float value = 0;
};

struct Ratings {
  std::uint32_t users = 0, items = 0;
  std::vector<Rating> list;
};

/// Text with one rating a line: user, item, value, and whatever follows, such as a time, which is ignored.
/// Fields are parted by blanks, tabs, commas, semicolons or colons. Users and items are any words; they are
/// numbered in the order in which they appear. Empty lines and lines that begin with # or % are left out, and
/// so is a first line whose third field is no number: a heading.
/// @param name  of the file, for messages
/// @throws IoError with its line if a line has fewer than three fields or no finite number for its value, or
///   if there is no rating
/// @cost  12 bytes for each rating, and the words
Ratings read_ratings(std::istream& from, const std::string& name);

}  // namespace palmette::transfer
