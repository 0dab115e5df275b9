// The temporary lies in the same folder, so that the rename is atomic; the folder is synchronized too, since
// a name is part of it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "palmette/archive/archive_format.hpp"

namespace palmette {
namespace {

std::atomic<unsigned> temporaries{0};

/// The file that a symbolic link points to, so that this file is replaced and not the link.
std::string behind_links(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  const std::string found(real);
  std::free(real);
  return found;
}

template <std::size_t size>
void copy_name(std::string_view name, char (&to)[size], const char* what) {
  if (name.empty() || name.size() >= size)
    throw UsageError(std::string(what) + " \"" + std::string(name) + "\" needs 1 to " +
                     std::to_string(size - 1) + " letters");
  std::copy(name.begin(), name.end(), to);
}

void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);  // where a folder cannot be synchronized, the file itself is on the disk all the same
  ::close(descriptor);
}

}  // namespace

ArchiveWriter::ArchiveWriter(const std::string& path, const ArchiveContent& content)
    : path_(path), target_(path) {
  std::copy(std::begin(archive_detail::magic), std::end(archive_detail::magic), header_.magic);
  header_.byte_order = archive_detail::byte_order;
  header_.version = content.version;
  header_.scalar = static_cast<std::uint32_t>(content.scalar);
  header_.index_bytes = sizeof(index_t);
  header_.offset_bytes = sizeof(offset_t);
  copy_name(content.name, header_.content, "the content");
  copy_name(content.library, header_.library, "the version");

  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw IoError(path, 0, "is a folder; give the name of a file in it");
  if (exists && !S_ISREG(status.st_mode))
    throw IoError(path, 0, "is not a file of a disk; give the name of one");
  if (exists && ::access(path.c_str(), W_OK) != 0)
    throw IoError(path, 0, std::string("cannot be written: ") + std::strerror(errno));
  if (exists) target_ = behind_links(path);
  const mode_t mode = exists ? status.st_mode & 0777 : 0666;
  do {  // A process that was killed may have left a file under such a name.
    temporary_ = target_ + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(temporaries++);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    temporary_.clear();
    throw IoError(path, 0, std::string("cannot be written: ") + std::strerror(errno));
  }
  write(std::as_bytes(std::span(&header_, 1)));  // its place; what it says comes last
}

ArchiveWriter::~ArchiveWriter() {
  discard();
}

void ArchiveWriter::discard() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void ArchiveWriter::fail(const std::string& what) {
  discard();
  throw IoError(path_, 0, what);
}

void ArchiveWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(std::string("cannot be written completely: ") + std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at_ += static_cast<std::uint64_t>(written);
  }
}

void ArchiveWriter::align() {
  constexpr std::byte zeros[archive_detail::section_alignment] = {};
  const std::uint64_t over = at_ % archive_detail::section_alignment;
  if (over > 0) write(std::span(zeros).first(archive_detail::section_alignment - over));
}

void ArchiveWriter::add_bytes(std::string_view name, archive_detail::Element element,
                              std::span<const std::byte> bytes) {
  align();
  archive_detail::Section section{};
  copy_name(name, section.name, "the section");
  section.element = element;
  section.offset = at_;
  section.bytes = bytes.size();
  section.sum = checksum(bytes);
  sections_.push_back(section);
  write(bytes);
}

std::uint64_t ArchiveWriter::sum() const {
  return checksum(std::as_bytes(std::span<const archive_detail::Section>(sections_)));
}

void ArchiveWriter::set_place(const ArchiveSet& place) {
  header_.set = place.id;
  header_.file_of_set = place.file;
  header_.files_of_set = place.num_files;
}

void ArchiveWriter::seal() {
  align();
  header_.table_offset = at_;
  write(std::as_bytes(std::span<const archive_detail::Section>(sections_)));
  header_.num_sections = static_cast<std::uint32_t>(sections_.size());
  header_.file_bytes = at_;
  header_.table_sum = sum();
  header_.header_sum = archive_detail::sum_of(header_);
  if (::pwrite(descriptor_, &header_, sizeof header_, 0) != static_cast<ssize_t>(sizeof header_) ||
      ::fsync(descriptor_) != 0)
    fail(std::string("cannot be written completely: ") + std::strerror(errno));
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail(std::string("cannot be written completely: ") + std::strerror(errno));
}

void ArchiveWriter::publish() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail(std::string("cannot be put in place: ") + std::strerror(errno));
  temporary_.clear();
  sync_folder_of(target_);
}

}  // namespace palmette
