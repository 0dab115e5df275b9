// Reads of a file beside its map: into the caller's memory, past the map's pages.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "palmette/archive/archive_format.hpp"

namespace palmette {
namespace {

/// Bytes of one call: enough for the speed of a disk.
constexpr std::size_t bytes_at_once = 4 << 20;

/// The first of these bytes that the page cache holds. @returns how many; −1: the system does not say
std::int64_t read_cached(int descriptor, std::uint64_t position, std::span<std::byte> to) {
#if defined(__linux__) && defined(RWF_NOWAIT)
  iovec where{to.data(), to.size()};
  const ssize_t found = ::preadv2(descriptor, &where, 1, static_cast<off_t>(position), RWF_NOWAIT);
  if (found >= 0) return found;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
#else
  (void)descriptor, (void)position, (void)to;
  return -1;
#endif
}

}  // namespace

std::uint64_t Archive::position_of(const void* place) const {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - map_);
}

void Archive::read_uncached(std::uint64_t position, std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t found = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(position));
    if (found < 0 && errno == EINTR) continue;
    if (found < 0) throw IoError(path_, 0, std::string("cannot be read: ") + std::strerror(errno));
    if (found == 0) refuse("was cut short while it was used");
    to = to.subspan(static_cast<std::size_t>(found));
    position += static_cast<std::uint64_t>(found);
  }
}

std::int64_t Archive::read(std::uint64_t position, std::span<std::byte> to) const {
  std::int64_t cached = 0;
  while (!to.empty()) {
    const std::span<std::byte> part = to.first(std::min(to.size(), bytes_at_once));
    std::int64_t found = cached >= 0 ? read_cached(descriptor_, position, part) : -1;
    cached = found >= 0 ? cached + found : -1;
    found = std::max<std::int64_t>(found, 0);
    const auto taken = static_cast<std::size_t>(found);
    read_uncached(position + taken, part.subspan(taken));
    to = to.subspan(part.size());
    position += part.size();
  }
  return cached;
}

void Archive::forget_pages() const {
  ::madvise(const_cast<std::byte*>(map_), map_bytes_, MADV_DONTNEED);
}

double Archive::measured_gbs(std::uint64_t position, std::uint64_t bytes) const {
#ifdef POSIX_FADV_DONTNEED
  ::posix_fadvise(descriptor_, static_cast<off_t>(position), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
#endif
  std::vector<std::byte> room(std::min<std::uint64_t>(bytes, bytes_at_once));
  std::int64_t cached = 0;
  const Stopwatch watch;
  for (std::uint64_t at = 0; at < bytes; at += room.size()) {
    const std::uint64_t part = std::min<std::uint64_t>(room.size(), bytes - at);
    const std::int64_t found = read(position + at, std::span(room).first(part));
    cached = cached < 0 || found < 0 ? -1 : cached + found;
  }
  const double seconds = watch.seconds();
  const bool is_of_the_disk = cached >= 0 && static_cast<double>(cached) < 0.05 * static_cast<double>(bytes);
  return is_of_the_disk && seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

}  // namespace palmette
