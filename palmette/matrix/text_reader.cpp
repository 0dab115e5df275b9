// One buffer, filled from the source; a missing last line end is added, so that every line has one.
#include "palmette/matrix/text_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "palmette/matrix/numbers.hpp"

namespace palmette {
namespace {

constexpr std::size_t line_buffer_bytes = std::size_t{1} << 16;

}  // namespace

TextReader::TextReader(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {}

/// Fills the buffer with at least `wanted` bytes, or all that are left; false if nothing could be added.
bool TextReader::fill(std::size_t wanted) {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t before = end_;
  // One byte for a missing line end, and the padding that the number scanners may touch.
  const std::size_t needed = wanted + 1 + number_padding;
  if (buffer_.size() < needed) buffer_.resize(needed);
  while (end_ < wanted && !at_end_) {
    const std::size_t got = source_->read(buffer_.data() + end_, wanted - end_);
    at_end_ = got == 0;
    end_ += got;
  }
  if (at_end_ && end_ > 0 && buffer_[end_ - 1] != '\n') buffer_[end_++] = '\n';
  std::memset(buffer_.data() + end_, 0, number_padding);
  return end_ > before;
}

const char* TextReader::find_line_end(const char* from) {
  return static_cast<const char*>(
      std::memchr(from, '\n', static_cast<std::size_t>(buffer_.data() + end_ - from)));
}

bool TextReader::next_line(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const char* newline = searched < end_ ? find_line_end(buffer_.data() + searched) : nullptr;
    if (newline != nullptr) {
      const char* first = buffer_.data() + begin_;
      std::size_t length = static_cast<std::size_t>(newline - first);
      begin_ += length + 1;
      while (length > 0 && first[length - 1] == '\r') --length;
      line = {first, length};
      ++next_line_number_;
      return true;
    }
    const std::size_t held = end_ - begin_;
    if (!fill(std::max(line_buffer_bytes, 2 * held))) return false;
    searched = begin_ + held;
  }
}

bool TextReader::next_block(std::size_t wanted, TextBlock& block) {
  for (;;) {
    if (end_ - begin_ < wanted) fill(wanted);
    if (begin_ == end_) return false;
    std::size_t length = end_ - begin_;
    const char* first = buffer_.data() + begin_;
    while (length > 0 && first[length - 1] != '\n') --length;
    if (length == 0) {  // one line fills the whole buffer
      wanted = 2 * (end_ - begin_);
      continue;
    }
    block = {first, first + length, next_line_number_};
    begin_ += length;
    return true;
  }
}

std::string_view TextReader::peek(std::size_t count) {
  if (end_ - begin_ < count) fill(std::max(count, line_buffer_bytes));
  return {buffer_.data() + begin_, std::min(count, end_ - begin_)};
}

void TextReader::drain() {
  begin_ = end_ = 0;
  while (fill(line_buffer_bytes)) begin_ = end_ = 0;
}

std::int64_t TextReader::remaining_bound() const {
  const std::int64_t bound = at_end_ ? 0 : source_->remaining_bound();
  const auto held = static_cast<std::int64_t>(end_ - begin_);
  return bound > std::numeric_limits<std::int64_t>::max() - held ? bound : bound + held;
}

}  // namespace palmette
