// Asks the processor for its family and instructions, once.
#include "palmette/blocks/reading_order.hpp"

namespace palmette {
namespace {

// The models of family 25 without AVX-512 (Zen 3) follow several streams, and need the requests.
bool follows_one_stream() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  return __builtin_cpu_is("amdfam19h") != 0 && __builtin_cpu_supports("avx512f") != 0;
#else
  return false;
#endif
}

}  // namespace

ReadingOrder reading_order_of_processor() {
  static const ReadingOrder order =
      follows_one_stream() ? ReadingOrder::one_stream : ReadingOrder::eight_streams;
  return order;
}

}  // namespace palmette
