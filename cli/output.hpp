// Where results go: standard output, files that are known to be writable before hours of computing, and the
// JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/failure.hpp"

namespace palmette::cli {

using Json = nlohmann::ordered_json;

/// What the user wants to see.
struct OutputOptions {
  std::string json;    ///< empty: none; "-": standard output
  bool quiet = false;  ///< nothing but errors
  bool shows_table() const { return !quiet && json != "-"; }
};

/// Print on standard output. A reader that has gone away (a closed pipe) is no error: the rest is dropped.
/// @throws OutputError if the text cannot be written for another reason
void print(std::string_view text);
/// The same; what goes wrong is returned, so that other results can still be written.
std::optional<Failure> print_table(std::string_view text);

/// "palmette: error: …" on standard error.
void print_error(std::string_view message);

/// A file that is going to be written must have an existing, writable folder; "-" and the empty path always
/// pass.
/// @throws OutputError naming the option, the file and the remedy
void check_writable(std::string_view option, const std::string& path);

/// Two results must not go to one file, nor a result over its input. Empty paths and "-" are apart from
/// everything.
/// @throws UsageError naming both
void check_apart(std::string_view first_name, const std::string& first, std::string_view second_name,
                 const std::string& second);

/// Let `write` make the file. If it cannot, the result goes to the folder for temporary files instead, so
/// that nothing is lost.
/// @throws OutputError that says so
void write_or_rescue(const std::string& path, const std::function<void(const std::string& path)>& write);

/// Let `write` make a temporary file, and print that on standard output.
void print_file(const std::function<void(const std::string& path)>& write);

/// Write the document where the options say, with "error" in it if there is a failure; then print the
/// failure.
/// @returns the exit code
int finish(const OutputOptions& options, Json document, const std::optional<Failure>& failure = {});

/// For a failure without a document: the same, to a destination that may itself be what failed.
int finish_failed(const std::string& json_destination, const Failure& failure);

}  // namespace palmette::cli
