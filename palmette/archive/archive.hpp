// The door of `archive`: files of named sections of numbers, with checksums, which appear whole or not at all
// and are read where they lie, as a map of the file. Knows neither matrices nor solvers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// What a file holds, as its first bytes say.
struct ArchiveContent {
  std::string_view name;      ///< at most 15 letters, the same for all versions: "factors"
  std::uint32_t version = 1;  ///< of the sections: a reader takes its own and no other
  ScalarType scalar = ScalarType::float64;
  std::string_view library;  ///< the version of Palmette that writes; at most 15 letters
};

/// A set of files that were written together, and the place of one of them.
struct ArchiveSet {
  std::uint64_t id = 0;  ///< the same for all files of the set; 0: the file is alone
  std::uint32_t file = 0;
  std::uint32_t num_files = 0;
};

namespace archive_detail {

enum class Element : std::uint32_t { byte = 1, index, offset, float32, float64, complex64, complex128 };
template <class V>
inline constexpr Element element_of = Element::byte;
template <>
inline constexpr Element element_of<index_t> = Element::index;
template <>
inline constexpr Element element_of<offset_t> = Element::offset;
template <>
inline constexpr Element element_of<float> = Element::float32;
template <>
inline constexpr Element element_of<double> = Element::float64;
template <>
inline constexpr Element element_of<std::complex<float>> = Element::complex64;
template <>
inline constexpr Element element_of<std::complex<double>> = Element::complex128;

/// One section, as the table of the file lists it.
struct Section {
  char name[32];
  Element element;
  std::uint32_t reserved;
  std::uint64_t offset;  ///< of its first byte; a multiple of section_alignment
  std::uint64_t bytes;
  std::uint64_t sum;  ///< checksum of its bytes
};

/// The first bytes of the file. Every version of the format begins with these.
struct Header {
  char magic[16];
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint32_t scalar;
  std::uint32_t index_bytes;
  std::uint32_t offset_bytes;
  std::uint32_t num_sections;
  std::uint64_t file_bytes;
  std::uint64_t table_offset;
  std::uint64_t table_sum;
  char content[16];
  char library[16];
  std::uint64_t set;  ///< as ArchiveSet, likewise the two that follow
  std::uint32_t file_of_set;
  std::uint32_t files_of_set;
  char reserved[8];
  std::uint64_t header_sum;  ///< of all bytes before it
};
static_assert(sizeof(Section) == 64 && sizeof(Header) == 128);

}  // namespace archive_detail

/// Writes a file section by section. The file appears under its name in publish(), after its bytes are on the
/// disk; until then a temporary lies beside it, which is removed if publish() is never reached. A file that
/// has the name already stays as it is until then.
class ArchiveWriter {
 public:
  /// @throws IoError if the file cannot be created there, or if the name is that of something else than a
  /// file
  ArchiveWriter(const std::string& path, const ArchiveContent& content);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  /// Append a section. @param name  at most 31 letters, each name once @throws IoError
  template <class V>
  void add(std::string_view name, std::span<const V> values) {
    static_assert(sizeof(V) == 1 || archive_detail::element_of<V> != archive_detail::Element::byte);
    add_bytes(name, archive_detail::element_of<V>, std::as_bytes(values));
  }
  template <class V, class Allocator>
  void add(std::string_view name, const std::vector<V, Allocator>& values) {
    add(name, std::span<const V>(values));
  }
  void add(std::string_view name, std::string_view text) {
    add(name, std::span<const char>(text.data(), text.size()));
  }
  /// A number that tells the sections so far, with their values, from all others.
  std::uint64_t sum() const;
  void set_place(const ArchiveSet& place);
  /// Write the table and the header, and wait until the disk has everything. The file has no name yet, so
  /// that those who write a set can wait for each other. @throws IoError
  void seal();
  /// Give the sealed file its name. @throws IoError
  void publish();
  /// seal() and publish(), for a file that is alone.
  void finish() {
    seal();
    publish();
  }
  /// Bytes written so far.
  std::uint64_t bytes() const { return at_; }

 private:
  void add_bytes(std::string_view name, archive_detail::Element element, std::span<const std::byte> bytes);
  void align();
  void write(std::span<const std::byte> bytes);
  void discard();
  [[noreturn]] void fail(const std::string& what);

  std::string path_, target_, temporary_;
  archive_detail::Header header_{};
  std::vector<archive_detail::Section> sections_;
  int descriptor_ = -1;
  std::uint64_t at_ = 0;
};

struct ArchiveRequest {
  std::string_view name;  ///< as ArchiveContent
  std::uint32_t version = 1;
  std::string_view remedy;   ///< what to do if a file cannot be used: "factorize the matrix again"
  std::string_view library;  ///< the version of Palmette that reads
  /// Sections with this prefix are compared with their checksums only if `check_all`: all others always are.
  std::string_view unchecked_prefix;
  bool check_all = true;
  bool keep_open = false;  ///< for Archive::read
};

/// A file of sections, mapped into memory. Constant; the map lives as long as this object. The file must not
/// be cut or overwritten in place meanwhile; to write another one under its name is safe.
class Archive {
 public:
  /// @throws IoError naming the file, the reason and the remedy: it cannot be read; it is no such file; of
  ///   another version, byte order or width of integers; cut short or longer than it was; a part has changed
  /// @cost  reads what is checked, once
  static std::shared_ptr<const Archive> open(const std::string& path, const ArchiveRequest& request);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  const std::string& path() const { return path_; }
  ScalarType scalar() const { return static_cast<ScalarType>(header_.scalar); }
  std::string library() const;  ///< that wrote the file
  std::uint64_t bytes() const { return header_.file_bytes; }
  ArchiveSet set() const { return {header_.set, header_.file_of_set, header_.files_of_set}; }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// The section where it lies, 64-byte aligned. @throws IoError if there is none, or if it has other
  /// elements
  template <class V>
  std::span<const V> section(std::string_view name) const {
    static_assert(sizeof(V) == 1 || archive_detail::element_of<V> != archive_detail::Element::byte);
    const std::span<const std::byte> bytes = bytes_of(name, archive_detail::element_of<V>, sizeof(V));
    return {reinterpret_cast<const V*>(bytes.data()), bytes.size() / sizeof(V)};
  }
  /// A copy of it.
  template <class V>
  std::vector<V> values(std::string_view name) const {
    const std::span<const V> found = section<V>(name);
    return {found.begin(), found.end()};
  }
  std::string text(std::string_view name) const {
    const std::span<const char> found = section<char>(name);
    return {found.begin(), found.end()};
  }
  /// Where in the file this place of the map is.
  std::uint64_t position_of(const void* place) const;
  /// Read past the map, of a file that was opened to be kept open. Thread-safe.
  /// @returns how many of the bytes were in the system's page cache; −1 if it does not say
  /// @throws IoError if they cannot be read, or the file was cut short
  std::int64_t read(std::uint64_t position, std::span<std::byte> to) const;
  /// The process gives its pages of the map back to the system, and reads them again when it needs them.
  void forget_pages() const;
  /// Rate in 10⁹ bytes a second at which this part is read when the page cache has given it up; 0 if it has
  /// not, or if the system does not say. @throws IoError as read
  double measured_gbs(std::uint64_t position, std::uint64_t bytes) const;

  /// @throws IoError: the file, what is wrong with it, and the remedy
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  Archive(const std::string& path, const ArchiveRequest& request);
  void map_file(bool keep_open);
  void read_uncached(std::uint64_t position, std::span<std::byte> to) const;
  void check_header(const ArchiveRequest& request);
  void check_sections(const ArchiveRequest& request);
  const archive_detail::Section* find(std::string_view name) const;
  std::span<const std::byte> bytes_of(std::string_view name, archive_detail::Element element,
                                      std::size_t size) const;

  std::string path_, remedy_;
  const std::byte* map_ = nullptr;
  std::size_t map_bytes_ = 0;
  int descriptor_ = -1;  // −1: closed
  archive_detail::Header header_{};
  std::span<const archive_detail::Section> sections_;
};

}  // namespace palmette
