// Compiled with the hooks of the emulator, as palmette/device/launches.cpp is.
#include "palmette/device/instrumented.hpp"

#include "tests/device/protocol_launches.hpp"

#include "palmette/device/flag_protocols.cuh"

namespace palmette::device {
namespace {

constexpr LaunchShape two_blocks{2, 32};

template <Scope s>
std::function<void()> closure_of(Protocol protocol, const HandOver& at) {
  switch (protocol) {
    case Protocol::flag_after_release:
      return [at] { hand_over_kernel<s, Protocol::flag_after_release>(at); };
    case Protocol::value_as_flag: return [at] { hand_over_kernel<s, Protocol::value_as_flag>(at); };
    case Protocol::tagged_value: return [at] { hand_over_kernel<s, Protocol::tagged_value>(at); };
    case Protocol::counted_bytes: return [at] { hand_over_kernel<s, Protocol::counted_bytes>(at); };
  }
  return {};
}

emulate::Launch launch(const LaunchShape& shape, std::function<void()> kernel) {
  return {0, shape.blocks, shape.threads, 0, std::move(kernel)};
}

template <Protocol protocol, ProtocolFault fault>
emulate::Launch faulty_launch(const HandOver& at) {
  return launch(two_blocks, [at] { hand_over_kernel<Scope::device, protocol, fault>(at); });
}

}  // namespace

emulate::Launch hand_over_launch(Protocol protocol, emulate::Scope scope, const HandOver& at,
                                 const LaunchShape& shape) {
  switch (scope) {
    case Scope::block: return launch(shape, closure_of<Scope::block>(protocol, at));
    case Scope::device: return launch(shape, closure_of<Scope::device>(protocol, at));
    case Scope::system: return launch(shape, closure_of<Scope::system>(protocol, at));
  }
  return {};
}

emulate::Launch hand_over_with(ProtocolFault fault, const HandOver& at) {
  switch (fault) {
    case ProtocolFault::relaxed_flag:
      return faulty_launch<Protocol::flag_after_release, ProtocolFault::relaxed_flag>(at);
    case ProtocolFault::plain_value:
      return faulty_launch<Protocol::value_as_flag, ProtocolFault::plain_value>(at);
    case ProtocolFault::tag_apart:
      return faulty_launch<Protocol::tagged_value, ProtocolFault::tag_apart>(at);
    case ProtocolFault::relaxed_count:
      return faulty_launch<Protocol::counted_bytes, ProtocolFault::relaxed_count>(at);
    case ProtocolFault::none: break;
  }
  return hand_over_launch(Protocol::flag_after_release, Scope::device, at, two_blocks);
}

emulate::Launch hand_over_too_narrow(const HandOver& at) {
  return hand_over_launch(Protocol::flag_after_release, Scope::block, at, two_blocks);
}

emulate::Launch read_launch(const ReadArray& array, const LaunchShape& shape) {
  return launch(shape, [array] { read_kernel<>(array); });
}

}  // namespace palmette::device
