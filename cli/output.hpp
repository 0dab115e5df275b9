// The destinations of results: standard output, files that are checked before hours of computing, and the
// JSON document.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/failure.hpp"

namespace palmette::cli {

using Json = nlohmann::ordered_json;

/// The output that the user wants.
struct OutputOptions {
  std::string json;    ///< empty: none; "-": standard output
  bool quiet = false;  ///< nothing but errors
  bool shows_table() const { return !quiet && json != "-"; }
};

/// Print on standard output. A closed pipe is not an error: the rest is dropped.
/// @throws OutputError if the text cannot be written for another reason
void print(std::string_view text);
/// The same, but a failure is returned, so that other results can still be written.
std::optional<Failure> print_table(std::string_view text);

/// "palmette: error: …" on standard error.
void print_error(std::string_view message);

/// A file that is going to be written must have an existing, writable folder; "-" and the empty path always
/// pass.
/// @throws OutputError naming the option, the file and the remedy
void check_writable(std::string_view option, const std::string& path);

/// Two results must not go to the same file, and a result must not overwrite its input. Empty paths and "-"
/// never conflict.
/// @throws UsageError naming both
void check_apart(std::string_view first_name, const std::string& first, std::string_view second_name,
                 const std::string& second);

/// What costs nothing is checked before a matrix is read: results and document go to different places, which
/// can be written, and neither overwrites the matrix. Paths as the user gave them; empty ones are not wanted.
/// @throws UsageError, OutputError
void check_destinations(const std::string& out, const std::string& json, const std::string& matrix);

/// Call `write` to write the file. If it fails, the result goes to the folder for temporary files instead, so
/// that nothing is lost.
/// @throws OutputError that says so
void write_or_rescue(const std::string& path, const std::function<void(const std::string& path)>& write);

/// Call `write` to write a temporary file, and print that file on standard output.
void print_file(const std::function<void(const std::string& path)>& write);

/// Call `write` for the place that the user gave: a file, standard output ("-"), or none (empty). A failure
/// is returned, so that other results can still be written.
std::optional<Failure> write_result(const std::string& out,
                                    const std::function<void(const std::string& path)>& write);

/// Write the document to the file of the options, with "error" in it if there is a failure; then print the
/// failure.
/// @returns the exit code
int finish(const OutputOptions& options, Json document, const std::optional<Failure>& failure = {});

/// The same for a failure without a document; the destination itself may have caused the failure.
int finish_failed(const std::string& json_destination, const Failure& failure);

}  // namespace palmette::cli
