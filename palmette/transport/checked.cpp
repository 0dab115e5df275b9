// Payloads followed by their checksum.
#include <cstring>

#include "palmette/transport/wrappers.hpp"

namespace palmette {
namespace {

std::uint64_t sum_of(std::span<const std::byte> bytes, index_t source, std::int64_t tag) {
  return checksum(bytes, static_cast<std::uint64_t>(tag) * 2654435761u + static_cast<std::uint64_t>(source));
}

}  // namespace

SharedBytes Checked::with_checksum(std::int64_t tag, const SharedBytes& payload) {
  const std::uint64_t sum = sum_of(payload.view(), rank(), tag);
  SharedBytes longer = pool_.take(payload.size() + sizeof sum);
  std::byte* const bytes = longer.writable().data();
  if (payload.size() > 0) std::memcpy(bytes, payload.data(), payload.size());
  std::memcpy(bytes + payload.size(), &sum, sizeof sum);
  return longer;
}

void Checked::send(index_t destination, std::int64_t tag, SharedBytes payload) {
  inner_.send(destination, tag, with_checksum(tag, payload));
}
Offer Checked::offer(std::int64_t tag, SharedBytes bytes) {
  return inner_.offer(tag, with_checksum(tag, bytes));
}

bool Checked::poll(Message& message) {
  if (!inner_.poll(message)) return false;
  std::uint64_t sum = 0;
  const std::size_t size = message.payload.size();
  const bool long_enough = size >= sizeof sum;
  if (long_enough) std::memcpy(&sum, message.payload.data() + size - sizeof sum, sizeof sum);
  if (!long_enough ||
      sum != sum_of(message.payload.view().first(size - sizeof sum), message.source, message.tag)) {
    const std::string why = "a message of " + std::to_string(size) + " bytes from rank " +
                            std::to_string(message.source) + " to rank " + std::to_string(rank()) +
                            " with tag " + std::to_string(message.tag) +
                            " arrived damaged: its checksum does not fit";
    abandon(why);
    throw BrokenRun(why);
  }
  message.payload = message.payload.first(size - sizeof sum);
  return true;
}

}  // namespace palmette
