// Inside `matrix`: reads a body of one entry per line, in blocks, with several threads; the result and the
// reported error do not depend on their number.
#pragma once

#include <algorithm>
#include <memory>

#include "palmette/matrix/line_text.hpp"
#include "palmette/matrix/matrix_market.hpp"

namespace palmette {

inline const char* skip_blanks(const char* text) {
  while (is_blank(*text)) ++text;
  return text;
}

/// Entries in the order of the file, in pieces that never move, so that growth needs no copy.
template <class Entry>
struct EntryPieces {
  struct Piece {
    std::unique_ptr<Entry[]> entries;
    std::size_t count = 0;
    std::size_t capacity = 0;
  };
  static constexpr std::size_t piece_bytes = 2 * large_page_bytes;
  std::vector<Piece> pieces;
  std::int64_t total = 0;

  /// @param expected  the most entries still to come, including these; bounds the size of a new piece
  void append(const Entry* entries, std::size_t count, std::int64_t expected) {
    total += static_cast<std::int64_t>(count);
    while (count > 0) {
      if (pieces.empty() || pieces.back().count == pieces.back().capacity) add_piece(expected);
      Piece& piece = pieces.back();
      const std::size_t taken = std::min(count, piece.capacity - piece.count);
      std::copy(entries, entries + taken, piece.entries.get() + piece.count);
      piece.count += taken;
      entries += taken;
      count -= taken;
      expected -= static_cast<std::int64_t>(taken);
    }
  }

  void add_piece(std::int64_t expected) {
    Piece piece;
    piece.capacity = static_cast<std::size_t>(std::min<std::int64_t>(expected, piece_bytes / sizeof(Entry)));
    piece.entries = std::make_unique_for_overwrite<Entry[]>(piece.capacity);
    prefer_large_pages(piece.entries.get(), piece.capacity * sizeof(Entry));
    pieces.push_back(std::move(piece));
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Piece& piece : pieces)
      for (std::size_t place = 0; place < piece.count; ++place) visit(piece.entries[place]);
  }
};

/// The result of one thread for its part of a block.
struct PartResult {
  std::size_t entries = 0;
  std::int64_t lines = 0;            ///< lines before `stopped_at`
  /// start of the first wrong line, or of the first entry above the limit; else nullptr
  const char* stopped_at = nullptr;
};

/// Reads the lines in [text, end) to `to`; stops at the first wrong line or at the entry after `limit`.
template <class Line>
PartResult read_part(const Line& line, const char* text, const char* end, typename Line::Entry* to,
                     std::size_t limit) {
  PartResult result;
  while (text < end) {
    const char* begin = skip_blanks(text);
    if (*begin == '\n' || *begin == '%') {  // blank lines and comments are tolerated in the body
      while (*begin != '\n') ++begin;
    } else {
      const char* rest = result.entries < limit ? line.parse(begin, to[result.entries]) : nullptr;
      if (rest != nullptr) rest = skip_blanks(rest);
      if (rest == nullptr || *rest != '\n') {
        result.stopped_at = text;
        return result;
      }
      begin = rest;
      ++result.entries;
    }
    text = begin + 1;
    ++result.lines;
  }
  return result;
}

/// Bounds of `count` parts of a block; each starts at the start of a line.
inline std::vector<const char*> split_at_lines(const TextBlock& block, int count) {
  std::vector<const char*> bounds{block.begin};
  for (int part = 1; part < count; ++part) {
    const char* cut = std::max(block.begin + (block.end - block.begin) / count * part, bounds.back());
    while (cut < block.end && cut > block.begin && cut[-1] != '\n') ++cut;
    bounds.push_back(cut);
  }
  bounds.push_back(block.end);
  return bounds;
}

/// A body of `expected` lines, each parsed by a Line: `Entry`, `Pieces` (which keep them), `shortest_line`
/// (bytes, line end included), `parse(text, entry)` (nullptr if wrong) and `describe(line)` (what is wrong,
/// or nothing).
template <class Line>
class EntryLines {
 public:
  using Entry = typename Line::Entry;

  EntryLines(TextReader& reader, const Line& line, std::int64_t expected, const ReadOptions& options)
      : reader_(reader),
        line_(line),
        expected_(expected),
        options_(options),
        team_(team_size(reader, options)) {}

  typename Line::Pieces read() {
    TextBlock block;
    while (reader_.next_block(part_bytes * static_cast<std::size_t>(team_.size()), block)) {
      read_block(block);
      if (options_.progress) options_.progress("read", reader_.fraction_read());
    }
    if (pieces_.total < expected_)
      reader_.fail(std::max<std::int64_t>(reader_.line_number(), 1),
                   "the file ends after " + std::to_string(pieces_.total) + " of " +
                       std::to_string(expected_) + " entries");
    return std::move(pieces_);
  }

 private:
  // milliseconds of work, compared with which waking a thread is cheap
  static constexpr std::size_t part_bytes = std::size_t{1} << 19;

  static int team_size(const TextReader& reader, const ReadOptions& options) {
    const int wanted = options.threads > 0 ? options.threads : available_processors();
    const std::int64_t useful = reader.remaining_bound() / static_cast<std::int64_t>(part_bytes) + 1;
    return static_cast<int>(std::min<std::int64_t>({wanted, useful, 256}));
  }

  void read_block(const TextBlock& block) {
    const auto bounds = split_at_lines(block, team_.size());
    std::vector<PartResult> results(team_.size());
    scratch_.resize(results.size());
    team_.share_parts(team_.size(), [&](int part) {
      results[part] = read_scratch(bounds[part], bounds[part + 1], scratch_[part]);
    });
    std::int64_t lines = 0;
    for (std::size_t part = 0; part < results.size(); ++part) {
      const PartResult& result = results[part];
      const std::int64_t room = expected_ - pieces_.total;
      if (static_cast<std::int64_t>(result.entries) > room) {
        const PartResult upto = read_part(line_, bounds[part], bounds[part + 1], scratch_[part].entries.get(),
                                          static_cast<std::size_t>(room));
        fail_too_many(block.first_line + lines + upto.lines);
      }
      if (result.stopped_at != nullptr) fail_at(result, block, block.first_line + lines + result.lines, room);
      pieces_.append(scratch_[part].entries.get(), result.entries, room);
      lines += result.lines;
    }
    reader_.count_lines(lines);
  }

  struct Scratch {
    std::unique_ptr<Entry[]> entries;
    std::size_t capacity = 0;
  };

  PartResult read_scratch(const char* begin, const char* end, Scratch& scratch) const {
    const std::size_t most = static_cast<std::size_t>(end - begin) / Line::shortest_line + 1;
    if (scratch.capacity < most) {
      scratch.entries.reset();
      scratch.entries = std::make_unique_for_overwrite<Entry[]>(most);
      scratch.capacity = most;
    }
    return read_part(line_, begin, end, scratch.entries.get(), most);
  }

  [[noreturn]] void fail_at(const PartResult& result, const TextBlock& block, std::int64_t line,
                            std::int64_t room) const {
    if (static_cast<std::int64_t>(result.entries) == room) fail_too_many(line);
    const char* end = std::find(result.stopped_at, block.end, '\n');
    const std::string_view text(result.stopped_at, static_cast<std::size_t>(end - result.stopped_at));
    const std::string what = line_.describe(text);
    reader_.fail(line, what.empty() ? "cannot understand " + quoted(text) : what);
  }

  [[noreturn]] void fail_too_many(std::int64_t line) const {
    reader_.fail(line, "more than the " + std::to_string(expected_) + " entries that the header announces");
  }

  TextReader& reader_;
  const Line& line_;
  std::int64_t expected_;
  const ReadOptions& options_;
  ThreadTeam team_;
  std::vector<Scratch> scratch_;  // one for each thread, reused for each block
  typename Line::Pieces pieces_;
};

/// Reads and checks one real number; nullptr if it is not a number, not finite, or not an integer although
/// the field is integer.
template <Field field>
inline const char* parse_value(const char* text, double& value) {
  Decimal number;
  const char* end = scan_decimal(text, number);
  if (end == nullptr) return nullptr;
  if constexpr (field == Field::integer)
    if (number.has_point || number.has_exponent) return nullptr;
  value = to_double(number);
  return is_finite(value) ? end : nullptr;
}

template <Field field>
inline const char* parse_value(const char* text, std::complex<double>& value) {
  double real = 0;
  double imaginary = 0;
  text = parse_value<field>(text, real);
  if (text == nullptr || !is_blank(*text)) return nullptr;
  text = parse_value<field>(skip_blanks(text), imaginary);
  value = {real, imaginary};
  return text;
}

/// What is wrong with the words of the value (one word, or two for complex); empty if nothing is wrong.
template <Field field>
std::string describe_value(const std::vector<std::string_view>& words, std::size_t first) {
  for (std::size_t place = first; place < words.size(); ++place) {
    double value = 0;
    std::int64_t whole = 0;
    const RealStatus status = parse_real(words[place], value);
    if (status == RealStatus::malformed) return quoted(words[place]) + " is not a number";
    if (status == RealStatus::not_finite) return "the value " + quoted(words[place]) + " is not finite";
    if (field == Field::integer && parse_integer(words[place], whole) == IntegerStatus::malformed)
      return quoted(words[place]) + " is not an integer, as the banner announces";
  }
  return {};
}

}  // namespace palmette
