// An id from the first rank to all.
#include "palmette/solver/rank_network.hpp"

#include <algorithm>

#include "palmette/solver/rank_checks.hpp"

namespace palmette {

std::shared_ptr<DeviceNetwork> network_of_ranks(const RankTeam& ranks,
                                                const std::shared_ptr<Device>& device) {
  Transport& transport = ranks.transport;
  NetworkId id{};
  check_on_all(ranks, [&] {
    if (transport.rank() == 0) id = make_network_id(*device);
  });
  exchange(transport, [&] {
    BytePool pool;
    const auto ids =
        gather_from_all(transport, ranks.team, pool.copy(std::span<const std::byte>(id)), ranks.drive);
    std::copy_n(ids[0].data(), id.size(), id.data());
  });
  std::shared_ptr<DeviceNetwork> network;
  check_on_all(ranks, [&] {
    network =
        join_network(device, id, static_cast<int>(transport.rank()), static_cast<int>(transport.num_ranks()));
  });
  return network;
}

}  // namespace palmette
