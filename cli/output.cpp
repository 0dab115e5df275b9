// Standard output with error checks; files that are checked early and whose results are rescued if writing
// fails; and the JSON document.
#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

namespace palmette::cli {
namespace {

namespace fs = std::filesystem;

bool reader_has_gone = false;

void write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw OutputError(
        path, fmt::format("cannot write '{}': {}", path, errno ? std::strerror(errno) : "unknown reason"));
}

void write_document(const std::string& destination, const Json& document) {
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (destination == "-")
    print(text);
  else if (!destination.empty())
    write_or_rescue(destination, [&](const std::string& path) { write_text(path, text); });
}

/// A new empty file of our own in the folder for temporary files.
std::string temporary_file(const std::string& ending) {
  std::string path = (fs::temp_directory_path() / ("palmette-XXXXXX" + ending)).string();
  const int descriptor = ::mkstemps(path.data(), static_cast<int>(ending.size()));
  if (descriptor < 0)
    throw OutputError(path, fmt::format("cannot make a temporary file '{}': {}", path, std::strerror(errno)));
  ::close(descriptor);
  return path;
}

struct RemovedAtEnd {
  std::string path;
  ~RemovedAtEnd() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

std::string reason_of_current_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

void print(std::string_view text) {
  if (reader_has_gone) return;
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return;
  if (errno != EPIPE)
    throw OutputError("-", fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  reader_has_gone = true;
}

std::optional<Failure> print_table(std::string_view text) {
  try {
    print(text);
  } catch (const OutputError&) {
    return describe_current_exception();
  }
  return {};
}

void print_error(std::string_view message) {
  const std::string line = fmt::format("palmette: error: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void check_writable(std::string_view option, const std::string& path) {
  if (path.empty() || path == "-") return;
  const auto refuse = [&](const std::string& why) {
    throw OutputError(path, fmt::format("cannot write '{}': {}; choose another {}", path, why, option));
  };
  std::error_code error;
  if (fs::is_directory(path, error)) refuse("it is a folder");
  if (fs::exists(path, error)) {
    if (::access(path.c_str(), W_OK) != 0) refuse(std::strerror(errno));
    return;
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::exists(folder, error)) refuse(fmt::format("the folder '{}' does not exist", folder.string()));
  if (!fs::is_directory(folder, error)) refuse(fmt::format("'{}' is not a folder", folder.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    refuse(fmt::format("folder '{}': {}", folder.string(), std::strerror(errno)));
}

void check_apart(std::string_view first_name, const std::string& first, std::string_view second_name,
                 const std::string& second) {
  const auto is_file = [](const std::string& path) { return !path.empty() && path != "-"; };
  if (!is_file(first) || !is_file(second)) return;
  std::error_code error;
  // Devices such as /dev/null accept everything.
  if (fs::exists(first, error) && !fs::is_regular_file(first, error)) return;
  if (first != second && !fs::equivalent(first, second, error)) return;
  throw SameFileError(first, fmt::format("{} and {} are the same file, '{}'; give them different names",
                                         first_name, second_name, first));
}

void check_destinations(const std::string& out, const std::string& json, const std::string& matrix) {
  if (out == "-" && json == "-")
    throw UsageError("--out and --json cannot both go to standard output; give a file to one of them");
  check_apart("--out", out, "--json", json);
  check_apart("--out", out, "the matrix", matrix);
  check_apart("--json", json, "the matrix", matrix);
  check_writable("--out", out);
  check_writable("--json", json);
}

std::optional<Failure> write_result(const std::string& out,
                                    const std::function<void(const std::string&)>& write) {
  if (out.empty()) return {};
  try {
    if (out == "-") print_file(write);
    else write_or_rescue(out, write);
  } catch (const Error&) {
    return describe_current_exception();
  }
  return {};
}

void write_or_rescue(const std::string& path, const std::function<void(const std::string&)>& write) {
  std::string reason;
  try {
    return write(path);
  } catch (const Error&) {
    reason = reason_of_current_exception();
  }
  std::string rescue;
  try {
    const std::string name = fs::path(path).filename().string();
    const std::size_t dot = name.find('.');
    rescue = temporary_file(dot == std::string::npos ? "" : name.substr(dot));
    write(rescue);
  } catch (const Error&) {
    throw OutputError(path, reason + "; a copy in the folder for temporary files failed as well");
  }
  throw OutputError(path, fmt::format("{}; the result was saved as '{}' instead", reason, rescue));
}

void print_file(const std::function<void(const std::string&)>& write) {
  const RemovedAtEnd temporary{temporary_file(".mtx")};
  write(temporary.path);
  std::ifstream file(temporary.path, std::ios::binary);
  std::string chunk(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    print(std::string_view(chunk).substr(0, file.gcount()));
  }
}

int finish(const OutputOptions& options, Json document, const std::optional<Failure>& failure) {
  if (failure) document["error"] = to_json(*failure);
  std::optional<Failure> unwritten;
  try {
    write_document(options.json, document);
  } catch (const OutputError&) {
    unwritten = describe_current_exception();
  }
  if (failure) print_error(failure->message);
  if (unwritten) print_error(unwritten->message);
  return failure ? failure->exit_code : unwritten ? unwritten->exit_code : exit_success;
}

int finish_failed(const std::string& json_destination, const Failure& failure) {
  print_error(failure.message);
  const bool destination_failed =
      (failure.kind == "output" || failure.kind == "usage") && failure.file == json_destination;
  if (json_destination.empty() || destination_failed) return failure.exit_code;
  try {
    check_writable("--json", json_destination);
    write_document(json_destination, Json{{"error", to_json(failure)}});
  } catch (const Error& error) {
    print_error(error.what());
  }
  return failure.exit_code;
}

}  // namespace palmette::cli
