// Exceptions and numerical failures → exit code, one sentence, and the "error" object of the JSON.
#include "cli/failure.hpp"

#include <cmath>

#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace palmette::cli {
namespace {

std::string one_line(std::string text) {
  for (char& character : text)
    if (character == '\n' || character == '\r' || character == '\t') character = ' ';
  return text;
}

Failure failure_of(std::string kind, int exit_code, const std::string& message) {
  Failure failure;
  failure.kind = std::move(kind);
  failure.exit_code = exit_code;
  failure.message = one_line(message);
  return failure;
}

std::string name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::structurally_singular: return "structurally_singular";
    case FailureKind::numerically_singular: return "numerically_singular";
    case FailureKind::not_positive_definite: return "not_positive_definite";
    case FailureKind::not_finite: return "not_finite";
    case FailureKind::no_convergence: return "no_convergence";
  }
  return "numerical";
}

Failure describe(const IoError& error) {
  Failure failure = failure_of("file", exit_outside_world, error.what());
  failure.file = error.file();
  failure.line = error.line();
  return failure;
}

Failure describe(const OutputError& error) {
  Failure failure = failure_of("output", exit_outside_world, error.what());
  failure.file = error.file();
  return failure;
}

Failure out_of_memory() {
  return failure_of("memory", exit_resources,
                    "the memory of this machine is not sufficient; 'palmette analyze' predicts the need "
                    "before anything is computed, and "
                    "--precision mixed or another --order may lower it");
}

}  // namespace

const char* const exit_codes_text =
    "Exit codes:\n"
    "  0  done; an answer was verified      4  numerical failure (row and column named)\n"
    "  2  wrong usage                       5  out of memory or of another resource\n"
    "  3  a file cannot be read or written  6  solved, but not verified\n";

Failure describe(const NumericalFailure& numerical) {
  Failure failure = failure_of(name_of(numerical.kind), exit_numerical, numerical.message);
  failure.row = (numerical.row < 0 && !numerical.rows.empty() ? numerical.rows.front() : numerical.row) + 1;
  failure.column =
      (numerical.column < 0 && !numerical.columns.empty() ? numerical.columns.front() : numerical.column) + 1;
  return failure;
}

Failure describe_not_verified(const InverseReport& report) {
  return failure_of("not_verified", exit_not_verified,
                    "the entries of the inverse are not verified: " +
                        (report.notes.empty() ? std::string("no column was checked") : report.notes.back()));
}

Failure describe_not_verified(const SchurReport& report) {
  return failure_of("not_verified", exit_not_verified, report.notes.front());
}

Failure describe_not_verified(const EntryReport& report) {
  return failure_of(
      "not_verified", exit_not_verified,
      fmt::format("the rows of x are not verified: the backward error {:.1e} of their equations is above the "
                  "bound {:.1e}; solve without --rows for a refined solution",
                  report.backward_error, report.bound));
}

Failure describe_not_verified(const Verification& verification) {
  if (!std::isfinite(verification.backward_error))
    return failure_of("not_verified", exit_not_verified,
                      "the answer is not finite: x leaves the range of the precision used; scale the system, "
                      "or use a higher precision");
  if (verification.singular_distance)
    return failure_of("not_verified", exit_not_verified,
                      fmt::format("the answer is not verified: the matrix is singular to working precision "
                                  "(relative distance {:.1e})",
                                  *verification.singular_distance));
  return failure_of(
      "not_verified", exit_not_verified,
      fmt::format(
          "the answer is not verified: its backward error {:.1e} is above the bound {:.1e}; try --refine 30 "
          "or double precision throughout, and see --condition",
          verification.backward_error, verification.bound));
}

Failure describe_current_exception() {
  try {
    throw;
  } catch (const NumericalError& error) {
    return describe(error.failure());
  } catch (const OutputError& error) {
    return describe(error);
  } catch (const IoError& error) {
    return describe(error);
  } catch (const SameFileError& error) {
    Failure failure = failure_of("usage", exit_usage, error.what());
    failure.file = error.file();
    return failure;
  } catch (const DimensionError& error) {
    return failure_of("dimension", exit_usage, error.what());
  } catch (const UsageError& error) {
    return failure_of("usage", exit_usage, error.what());
  } catch (const MemoryError& error) {
    return failure_of("memory", exit_resources, error.what());
  } catch (const BrokenRun& error) {
    return failure_of("ranks", exit_resources, error.what());
  } catch (const DeviceError& error) {
    return failure_of("device", exit_resources, error.what());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  } catch (const std::system_error& error) {
    return failure_of("resources", exit_resources,
                      fmt::format("the system denied a resource: {}; try fewer --threads", error.what()));
  } catch (const std::exception& error) {
    return failure_of(
        "internal", exit_internal,
        fmt::format("a defect of Palmette: {}; please report it with the command line", error.what()));
  }
}

nlohmann::ordered_json to_json(const Failure& failure) {
  const auto number = [](std::int64_t value) {
    return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json object;
  object["kind"] = failure.kind;
  object["message"] = failure.message;
  object["row"] = number(failure.row);
  object["column"] = number(failure.column);
  object["file"] =
      failure.file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(failure.file);
  object["line"] = number(failure.line);
  object["exit_code"] = failure.exit_code;
  return object;
}

}  // namespace palmette::cli
