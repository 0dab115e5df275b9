// What is said when something is refused.
#pragma once

#include <string>

#include "palmette/base/base.hpp"

namespace palmette::testing_transfer {

/// The text of the Refusal that `work` throws; empty if it throws none.
template <class Refusal, class Work>
std::string refusal(Work&& work) {
  try {
    work();
  } catch (const Refusal& error) {
    return error.what();
  }
  return "";
}

/// What a reader says about a text that it refuses.
template <class Read>
std::string error_of(Read&& read, const std::string& text) {
  return refusal<IoError>([&] { read(text); });
}

}  // namespace palmette::testing_transfer
