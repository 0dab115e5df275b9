// One-sided queues for a task graph other than that of a solver: the edit distance of two strings, tile by
// tile. A tile needs its left and its upper neighbour; the tiles of a row are on one rank, so lower edges are
// sent. Run by mpiexec with any number of processes.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "palmette/transport/transport.hpp"

namespace {

using namespace palmette;

constexpr int tiles = 24;    // in each direction
constexpr int letters = 32;  // of a tile

std::string some_text(std::uint64_t state) {
  std::string text;
  for (int at = 0; at < tiles * letters; ++at) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    text += static_cast<char>('a' + (state >> 33) % 4);
  }
  return text;
}

index_t owner(int row, index_t num_ranks) { return row % num_ranks; }

/// What each rank receives in a run is known in advance, so queues of these sizes need no handshake.
TransportPlan plan_of(index_t num_ranks) {
  std::vector<TrafficEntry> messages;
  for (int row = 0; row + 1 < tiles; ++row)
    if (num_ranks > 1)
      messages.push_back({owner(row, num_ranks), owner(row + 1, num_ranks), tiles,
                          tiles * letters * std::int64_t{sizeof(int)}});
  return transport_plan(make_traffic(num_ranks, std::move(messages)));
}

/// A rank's rows of tiles. It never waits: it is notified of edges as they arrive, and runs a tile whenever
/// one is ready.
class Distance final : public RankProgram {
 public:
  Distance(const std::string& a, const std::string& b, Transport& transport)
      : a_(a), b_(b), transport_(transport), num_ranks_(transport.num_ranks()), column_(tiles, 0) {
    for (int row = 0; row < tiles; ++row)
      if (owner(row, num_ranks_) == transport.rank()) left_ += tiles;
    upper_.resize(tiles * tiles);
    has_come_.assign(tiles * tiles, 0);
    side_.resize(tiles);
    for (int row = 0; row < tiles; ++row)
      for (int k = 0; k <= letters; ++k) side_[row].push_back(row * letters + k);
  }
  void start() override {
    for (int column = 0; column < tiles; ++column) {
      std::vector<int> edge;
      for (int k = 1; k <= letters; ++k) edge.push_back(column * letters + k);
      edge_is_there(0, column, edge.data());
    }
  }
  void on_message(const Message& message) override {
    edge_is_there(static_cast<int>(message.tag) / tiles, static_cast<int>(message.tag) % tiles,
                  reinterpret_cast<const int*>(message.payload.data()));
  }
  bool run_one_task(int) override {
    for (int row = static_cast<int>(transport_.rank()); row < tiles; row += num_ranks_) {
      const int column = column_[row];
      if (column == tiles || has_come_[row * tiles + column] == 0) continue;
      run_tile(row, column);
      ++column_[row];
      --left_;
      return true;
    }
    return false;
  }
  bool done() const override { return left_ == 0; }
  std::string waiting_for() const override { return "the lower edge of a tile"; }
  /// On the rank that owns the last tile.
  int distance() const { return side_.back().back(); }

 private:
  void edge_is_there(int row, int column, const int* values) {
    upper_[row * tiles + column].assign(values, values + letters);
    has_come_[row * tiles + column] = 1;
  }
  void run_tile(int row, int column) {
    std::vector<int>& side = side_[row];  // last column of the tile before, from its upper corner down
    std::vector<int> above = upper_[row * tiles + column];
    int corner = side[0];
    side[0] = above.back();
    for (int i = 0; i < letters; ++i) {
      int diagonal = corner, before = side[i + 1];
      corner = before;
      for (int k = 0; k < letters; ++k) {
        const int same = diagonal + (a_[row * letters + i] == b_[column * letters + k] ? 0 : 1);
        diagonal = above[k];
        before = above[k] = std::min({same, before + 1, diagonal + 1});
      }
      side[i + 1] = before;
    }
    if (row + 1 == tiles) return;
    const index_t next = owner(row + 1, num_ranks_);
    if (next == transport_.rank()) return edge_is_there(row + 1, column, above.data());
    transport_.send(next, (row + 1) * tiles + column, pool_.copy(std::as_bytes(std::span(above))));
  }

  const std::string& a_;
  const std::string& b_;
  Transport& transport_;
  index_t num_ranks_;
  int left_ = 0;
  std::vector<int> column_;              // by row of tiles: the next to run
  std::vector<std::vector<int>> upper_;  // by tile
  std::vector<char> has_come_;
  std::vector<std::vector<int>> side_;   // by row of tiles
  BytePool pool_;
};

int serial_distance(const std::string& a, const std::string& b) {
  std::vector<int> row;
  for (int k = 0; k <= static_cast<int>(b.size()); ++k) row.push_back(k);
  for (int i = 0; i < static_cast<int>(a.size()); ++i) {
    int diagonal = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k)
      diagonal = std::exchange(row[k + 1],
                               std::min({diagonal + (a[i] == b[k] ? 0 : 1), row[k] + 1, row[k + 1] + 1}));
  }
  return row.back();
}

}  // namespace

int main() {
  const MpiSession session;
  // Queues if they work here, otherwise messages.
  const MpiExchange mpi = make_mpi_exchange(session.world(), "mpi_rma");
  const index_t num_ranks = mpi.transport->num_ranks();
  RunTransport run(mpi.planned, *mpi.transport, [&] { return plan_of(num_ranks); });
  const std::string a = some_text(1), b = some_text(2);
  int wrong = 0;
  for (int time = 0; time < 3; ++time) {
    Transport& transport = run.begin();
    Distance program(a, b, transport);
    ThreadTeam team(1);
    drive(program, transport, team, {60});
    if (transport.rank() == owner(tiles - 1, num_ranks)) {
      std::printf("over %d ranks by %s: distance %d\n", static_cast<int>(num_ranks), mpi.name.c_str(),
                  program.distance());
      wrong = program.distance() == serial_distance(a, b) ? wrong : 1;
    }
    wrong = mpi.transport->agree(wrong);  // no rank begins the next run before all have ended this one
  }
  return wrong;
}
