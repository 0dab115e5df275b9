// In which order a sweep reads a panel, so that the processor's own prefetching keeps up.
#pragma once

namespace palmette {

/// one_stream: line after line, without gaps and without requests. Processors of AMD's family 25 that have
/// AVX-512 (measured on model 17) follow this at the full speed of memory, and nothing else: requests by the
/// program take the places of the processor's own, and a gap of a few lines ends its stream. It is taken for
/// packed panels and backward sweeps over wide ones. eight_streams: columns side by side, with requests for
/// what follows.
enum class ReadingOrder { eight_streams, one_stream };

/// That of the processor on which this runs; eight_streams where none was measured to be better.
ReadingOrder reading_order_of_processor();

}  // namespace palmette
