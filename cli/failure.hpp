// How a run of the command ends: its exit code, and its report of a failure, in words and in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace palmette::cli {

enum ExitCode : int {
  exit_success = 0,
  exit_internal = 1,  ///< a defect of Palmette
  exit_usage = 2,
  exit_outside_world = 3,
  exit_numerical = 4,
  exit_resources = 5,
  exit_not_verified = 6,
};

/// The exit codes, which end every help text.
extern const char* const exit_codes_text;

/// A result could not be written.
class OutputError : public Error {
 public:
  OutputError(std::string file, const std::string& what) : Error(what), file_(std::move(file)) {}
  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

/// A result was to be written to a file that holds something else that is needed: nothing may be written
/// there, not even an error.
class SameFileError : public UsageError {
 public:
  SameFileError(std::string file, const std::string& what) : UsageError(what), file_(std::move(file)) {}
  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

/// The report of a failure. Rows and columns are 1-based, as in files and messages; 0: none. `line` likewise.
struct Failure {
  /// usage, dimension, file, output, memory, device, ranks, not_verified, internal, or a FailureKind's name
  std::string kind;
  std::string message;  ///< one sentence
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::string file;
  std::int64_t line = 0;
  int exit_code = exit_internal;
};

/// The failure that the current exception means. Call it in a catch block.
Failure describe_current_exception();
Failure describe(const NumericalFailure& failure);
/// The failure of an answer whose backward error is above its bound.
Failure describe_not_verified(const Verification& verification);
/// The same for entries of an inverse that differ from solutions.
Failure describe_not_verified(const InverseReport& report);
Failure describe_not_verified(const SchurReport& report);
Failure describe_not_verified(const EntryReport& report);

/// {"kind","message","row","column","file","line","exit_code"}; unknown members are null.
nlohmann::ordered_json to_json(const Failure& failure);

}  // namespace palmette::cli
