// libFuzzer entry: for any bytes, the readers either return a well-formed matrix or throw one of Palmette's
// own errors.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "palmette/matrix/matrix.hpp"

namespace {

/// Anything but an Error escapes and is a finding.
template <class Work>
void only_own_errors(Work&& work) {
  try {
    work();
  } catch (const palmette::Error&) {
  }
}

palmette::ReadResult read(std::string_view text, palmette::PatternValues values, int threads) {
  palmette::ReadOptions options;
  options.pattern_values = values;
  options.threads = threads;
  return palmette::read_matrix_text(text, "input", options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  bool was_read = false;
  palmette::ReadResult result;
  only_own_errors([&] {
    result = read(text, palmette::PatternValues::ones, 1);
    was_read = true;
  });
  if (was_read) std::visit([](const auto& matrix) { palmette::check_matrix(matrix); }, result.matrix);
  if (was_read && result.header.field == "pattern")
    only_own_errors([&] { read(text, palmette::PatternValues::laplacian, 1); });
  only_own_errors([&] { palmette::read_dense_text(text, "input"); });
  return 0;
}
