// Inside `solver`: the network of the devices of all ranks.
#pragma once

#include "palmette/solver/rank_inverse.hpp"

namespace palmette {

/// The first rank makes the id, and all join by it. Every rank must call it, each with its device.
/// @throws as make_network_id and join_network, on all ranks if one could not
std::shared_ptr<DeviceNetwork> network_of_ranks(const RankTeam& ranks,
                                                const std::shared_ptr<Device>& device);

}  // namespace palmette
