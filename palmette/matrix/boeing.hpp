// Inside `matrix`: Rutherford–Boeing and Harwell–Boeing files. Formats:
// [Duff et al. 1997] and [Duff et al. 1992].
#pragma once

#include "palmette/matrix/read.hpp"
#include "palmette/matrix/text_reader.hpp"

namespace palmette {

/// Reads an assembled matrix; right-hand sides and anything else after it are skipped. Throws IoError with
/// the line if the text is in neither format.
ReadResult read_boeing(TextReader& reader, const ReadOptions& options);

}  // namespace palmette
