// Files, memory and gzip streams behind one forward-only interface. gzip may have several members, as `cat
// a.gz b.gz` makes.
#include "palmette/matrix/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

namespace palmette {
namespace {

/// Deflate cannot expand a byte to more than 1032 ([Deutsch 1996]: 258 bytes from two bits, and never less).
constexpr std::int64_t largest_expansion = 1032;
constexpr std::size_t inflate_input_bytes = std::size_t{1} << 16;

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw IoError(path, 0, std::string("cannot be opened: ") + std::strerror(errno));
    struct stat status;
    if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size;
  }
  ~FileSource() override { ::close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(char* to, std::size_t count) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, count);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw IoError(path_, 0, std::string("cannot be read: ") + std::strerror(errno));
      consumed_ += got;
      return static_cast<std::size_t>(got);
    }
  }
  std::int64_t remaining_bound() const override {
    return size_ >= 0 ? std::max<std::int64_t>(size_ - consumed_, 0)
                      : std::numeric_limits<std::int64_t>::max();
  }
  double fraction_read() const override {
    return size_ > 0 ? std::min(1.0, static_cast<double>(consumed_) / static_cast<double>(size_)) : 0.0;
  }

 private:
  std::string path_;
  int descriptor_;
  std::int64_t size_ = -1;  // unknown for pipes and devices
  std::int64_t consumed_ = 0;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(char* to, std::size_t count) override {
    count = std::min(count, bytes_.size() - consumed_);
    if (count > 0) std::memcpy(to, bytes_.data() + consumed_, count);
    consumed_ += count;
    return count;
  }
  std::int64_t remaining_bound() const override {
    return static_cast<std::int64_t>(bytes_.size() - consumed_);
  }
  double fraction_read() const override {
    return bytes_.empty() ? 0.0 : static_cast<double>(consumed_) / static_cast<double>(bytes_.size());
  }

 private:
  std::string_view bytes_;
  std::size_t consumed_ = 0;
};

/// Gives back the bytes that were read to find out what the source is, then the rest of it.
class PrependedSource : public ByteSource {
 public:
  PrependedSource(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  std::size_t read(char* to, std::size_t count) override {
    if (consumed_ == first_.size()) return rest_->read(to, count);
    count = std::min(count, first_.size() - consumed_);
    std::memcpy(to, first_.data() + consumed_, count);
    consumed_ += count;
    return count;
  }
  std::int64_t remaining_bound() const override {
    const std::int64_t rest = rest_->remaining_bound();
    const auto own = static_cast<std::int64_t>(first_.size() - consumed_);
    return rest > std::numeric_limits<std::int64_t>::max() - own ? rest : rest + own;
  }
  double fraction_read() const override { return rest_->fraction_read(); }

 private:
  std::string first_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t consumed_ = 0;
};

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> compressed, const std::string& name)
      : compressed_(std::move(compressed)), name_(name), input_(inflate_input_bytes) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw MemoryError("no memory to decompress " + name);
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* to, std::size_t count) override;
  std::int64_t remaining_bound() const override {
    const std::int64_t bound = compressed_->remaining_bound();
    if (bound > std::numeric_limits<std::int64_t>::max() / (2 * largest_expansion)) return bound;
    // inflate buffers at most one window and one match.
    return (bound + stream_.avail_in) * largest_expansion + (1 << 16);
  }
  double fraction_read() const override { return compressed_->fraction_read(); }

 private:
  bool refill();
  bool next_member();

  std::unique_ptr<ByteSource> compressed_;
  std::string name_;
  std::vector<char> input_;  // length inflate_input_bytes
  z_stream stream_ = {};
  bool ended_ = false;
};

/// False at the end of the compressed bytes.
bool GzipSource::refill() {
  if (stream_.avail_in > 0) return true;
  const std::size_t got = compressed_->read(input_.data(), input_.size());
  stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_.avail_in = static_cast<uInt>(got);
  return got > 0;
}

/// After a member: another one follows, or only zero bytes that fill up a block; anything else is an error.
bool GzipSource::next_member() {
  while (refill()) {
    if (*stream_.next_in != 0) {
      if (*stream_.next_in != 0x1f) throw IoError(name_, 0, "the gzip data is followed by something else");
      inflateReset(&stream_);
      return true;
    }
    ++stream_.next_in;
    --stream_.avail_in;
  }
  return false;
}

std::size_t GzipSource::read(char* to, std::size_t count) {
  if (ended_ || count == 0) return 0;
  stream_.next_out = reinterpret_cast<Bytef*>(to);
  stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(count, std::size_t{1} << 30));
  const uInt wanted = stream_.avail_out;
  while (stream_.avail_out == wanted) {
    if (!refill()) throw IoError(name_, 0, "the gzip data ends early: the file is truncated");
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw MemoryError("no memory to decompress " + name_);
    if (status == Z_STREAM_END) {
      ended_ = !next_member();
      if (ended_) break;
    } else if (status != Z_OK) {
      throw IoError(name_, 0, std::string("the gzip data is damaged: ") +
                                  (stream_.msg != nullptr ? stream_.msg : "unexpected end of a block"));
    }
  }
  return wanted - stream_.avail_out;
}

std::unique_ptr<ByteSource> with_decompression(std::unique_ptr<ByteSource> source, const std::string& name) {
  std::string magic(2, '\0');
  std::size_t got = source->read(magic.data(), 2);
  if (got == 1) got += source->read(magic.data() + 1, 1);
  magic.resize(got);
  const bool compressed = magic == "\x1f\x8b";
  source = std::make_unique<PrependedSource>(std::move(magic), std::move(source));
  if (compressed) source = std::make_unique<GzipSource>(std::move(source), name);
  return source;
}

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  return with_decompression(std::make_unique<FileSource>(path), path);
}

std::unique_ptr<ByteSource> open_memory(std::string_view bytes, const std::string& name) {
  return with_decompression(std::make_unique<MemorySource>(bytes), name);
}

}  // namespace palmette
