// Every doubt about a file is settled before a section is handed out.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "palmette/archive/archive_format.hpp"

namespace palmette {
namespace {

using archive_detail::Header;
using archive_detail::Section;

template <std::size_t size>
std::string_view name_in(const char (&letters)[size]) {
  return {letters, static_cast<std::size_t>(std::find(letters, letters + size, '\0') - letters)};
}

}  // namespace

Archive::Archive(const std::string& path, const ArchiveRequest& request)
    : path_(path), remedy_(request.remedy) {
  map_file(request.keep_open);
}

Archive::~Archive() {
  if (map_ != nullptr) ::munmap(const_cast<std::byte*>(map_), map_bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::shared_ptr<const Archive> Archive::open(const std::string& path, const ArchiveRequest& request) {
  const std::shared_ptr<Archive> found(new Archive(path, request));
  found->check_header(request);
  found->check_sections(request);
  return found;
}

void Archive::refuse(const std::string& what) const {
  throw IoError(path_, 0, what + "; " + remedy_);
}

void Archive::map_file(bool keep_open) {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw IoError(path_, 0, std::string("cannot be read: ") + std::strerror(errno));
  struct stat status;
  const bool known = ::fstat(descriptor, &status) == 0;
  const bool is_file = known && S_ISREG(status.st_mode);
  map_bytes_ = is_file ? static_cast<std::size_t>(status.st_size) : 0;
  void* const map = map_bytes_ < sizeof(Header)
                        ? MAP_FAILED
                        : ::mmap(nullptr, map_bytes_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int why = errno;
  if (keep_open && map != MAP_FAILED) descriptor_ = descriptor;
  else ::close(descriptor);
#ifdef POSIX_FADV_RANDOM
  // Who keeps it open reads large pieces ahead itself; what the system reads ahead would count as cached.
  if (descriptor_ >= 0) ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_RANDOM);
#endif
  if (!is_file) refuse("is not a file of a disk, which a map needs");
  if (map_bytes_ < sizeof(Header))
    refuse("has " + std::to_string(map_bytes_) + " bytes, fewer than the header of such a file");
  if (map == MAP_FAILED) throw IoError(path_, 0, std::string("cannot be mapped: ") + std::strerror(why));
  map_ = static_cast<const std::byte*>(map);
}

void Archive::check_header(const ArchiveRequest& request) {
  std::memcpy(&header_, map_, sizeof header_);
  if (!std::equal(std::begin(header_.magic), std::end(header_.magic), std::begin(archive_detail::magic)))
    refuse("was not saved by Palmette: its first bytes are others");
  if (header_.byte_order == archive_detail::turned_byte_order)
    refuse("was saved on a machine with the opposite byte order");
  const bool whole = header_.header_sum == archive_detail::sum_of(header_);
  if (!whole) refuse("is damaged: its header does not agree with its checksum");
  if (name_in(header_.content) != request.name)
    refuse("holds " + std::string(name_in(header_.content)) + ", not " + std::string(request.name));
  if (header_.version != request.version)
    refuse("has version " + std::to_string(header_.version) + " of its format, by Palmette " + library() +
           "; this is Palmette " + std::string(request.library) + ", which reads version " +
           std::to_string(request.version));
  if (header_.index_bytes != sizeof(index_t) || header_.offset_bytes != sizeof(offset_t))
    refuse("has integers of " + std::to_string(header_.index_bytes) + " and " +
           std::to_string(header_.offset_bytes) + " bytes; this build has " +
           std::to_string(sizeof(index_t)) + " and " + std::to_string(sizeof(offset_t)));
  if (header_.scalar > static_cast<std::uint32_t>(ScalarType::complex128))
    refuse("holds numbers of an unknown type");
  if (header_.file_bytes != map_bytes_)
    refuse("has " + std::to_string(map_bytes_) + " bytes, but was saved with " +
           std::to_string(header_.file_bytes) +
           (map_bytes_ < header_.file_bytes ? ": it was cut short" : ": something was appended"));
}

void Archive::check_sections(const ArchiveRequest& request) {
  const std::uint64_t table = header_.table_offset,
                      bytes = std::uint64_t{header_.num_sections} * sizeof(Section);
  if (table > map_bytes_ || bytes > map_bytes_ - table || table % archive_detail::section_alignment != 0)
    refuse("is damaged: its table lies outside the file");
  if (checksum({map_ + table, static_cast<std::size_t>(bytes)}) != header_.table_sum)
    refuse("is damaged: its table does not agree with its checksum");
  sections_ = {reinterpret_cast<const Section*>(map_ + table), header_.num_sections};
  if (request.check_all) ::madvise(const_cast<std::byte*>(map_), map_bytes_, MADV_WILLNEED);
  for (const Section& section : sections_) {
    const std::string_view name = name_in(section.name);
    if (section.offset > map_bytes_ || section.bytes > map_bytes_ - section.offset ||
        section.offset % archive_detail::section_alignment != 0)
      refuse("is damaged: its section \"" + std::string(name) + "\" lies outside the file");
    const bool may_be_left_out =
        !request.unchecked_prefix.empty() && name.starts_with(request.unchecked_prefix);
    if (may_be_left_out && !request.check_all) continue;
    if (checksum({map_ + section.offset, static_cast<std::size_t>(section.bytes)}) != section.sum)
      refuse("is damaged: its section \"" + std::string(name) + "\" does not agree with its checksum");
  }
}

std::string Archive::library() const {
  return std::string(name_in(header_.library));
}

const Section* Archive::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return name_in(section.name) == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::span<const std::byte> Archive::bytes_of(std::string_view name, archive_detail::Element element,
                                             std::size_t size) const {
  const Section* const section = find(name);
  if (section == nullptr) refuse("is damaged: it has no section \"" + std::string(name) + "\"");
  if (section->element != element || section->bytes % size != 0)
    refuse("is damaged: its section \"" + std::string(name) + "\" has elements of another type");
  return {map_ + section->offset, static_cast<std::size_t>(section->bytes)};
}

}  // namespace palmette
