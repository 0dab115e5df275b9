// Collective operations: each rank gets every piece, and if one rank fails, all do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "palmette/transport/transport.hpp"

namespace palmette {
namespace {

/// Rank r contributes r numbers: r, r + 1, …
SharedBytes piece_of(index_t rank, BytePool& pool) {
  std::vector<index_t> numbers;
  for (index_t number = 0; number < rank; ++number) numbers.push_back(rank + number);
  return pool.copy(std::as_bytes(std::span(numbers)));
}

TEST(together, a_world_of_threads_tells_the_reason_and_not_who_gave_up_because_of_it) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    ThreadWorld world(3);
    std::string told;
    try {
      world.run([&](Transport& transport) {
        agree_after(transport, [&] {
          if (transport.rank() == 1) throw UsageError("the reason");
        });
      });
    } catch (const std::exception& error) {
      told = error.what();
    }
    EXPECT_EQ(told, "the reason");
  }
}

TEST(together, every_rank_gets_the_pieces_of_all_by_rank_again_and_again) {
  for (const index_t ranks : {1, 2, 3, 8})
    for (const int members : {1, 2}) {
      ThreadWorld world(ranks);
      world.run([&](Transport& transport) {
        BytePool pool;
        ThreadTeam team(members);
        for (int round = 0; round < 20; ++round)
          exchange(transport, [&] {
            const std::vector<SharedBytes> pieces =
                gather_from_all(transport, team, piece_of(transport.rank(), pool), {60});
            ASSERT_EQ(pieces.size(), static_cast<std::size_t>(ranks));
            for (index_t rank = 0; rank < ranks; ++rank) {
              const SharedBytes expected = piece_of(rank, pool);
              ASSERT_EQ(pieces[rank].size(), expected.size());
              if (expected.size() > 0) {
                EXPECT_EQ(std::memcmp(pieces[rank].data(), expected.data(), expected.size()), 0);
              }
            }
          });
      });
    }
}

TEST(together, every_rank_gets_what_each_brought_for_it) {
  for (const index_t ranks : {1, 2, 5}) {
    ThreadWorld world(ranks);
    world.run([&](Transport& transport) {
      BytePool pool;
      ThreadTeam team(1);
      // Rank r contributes r + s numbers for rank s: none from 0 to 0.
      const auto made = [&](index_t from, index_t to) { return piece_of(from + to, pool); };
      std::vector<SharedBytes> pieces;
      for (index_t rank = 0; rank < ranks; ++rank) pieces.push_back(made(transport.rank(), rank));
      for (int round = 0; round < 3; ++round)
        exchange(transport, [&] {
          const std::vector<SharedBytes> got = deal_to_all(transport, team, pieces, {60});
          for (index_t rank = 0; rank < ranks; ++rank) {
            const SharedBytes expected = made(rank, transport.rank());
            ASSERT_EQ(got[rank].size(), expected.size());
            if (expected.size() > 0) {
              EXPECT_EQ(std::memcmp(got[rank].data(), expected.data(), expected.size()), 0);
            }
          }
        });
      pieces.pop_back();
      EXPECT_THROW((void)deal_to_all(transport, team, pieces), UsageError);
    });
  }
}

TEST(together, one_rank_that_cannot_go_on_ends_the_run_for_all) {
  ThreadWorld world(3);
  std::mutex mutex;
  std::vector<std::string> told;
  EXPECT_ANY_THROW(world.run([&](Transport& transport) {
    try {
      agree_after(transport, [&] {
        if (transport.rank() == 1) throw IoError("A.mtx", 0, "no such file");
      });
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex);
      told.emplace_back(error.what());
      throw;
    }
  }));
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(std::count(told.begin(), told.end(), "A.mtx: no such file"), 1);
  EXPECT_EQ(std::count(told.begin(), told.end(), "rank 1 of 3 could not go on, so no rank does"), 2);
}

TEST(together, an_exception_inside_an_exchange_frees_those_who_wait) {
  ThreadWorld world(3);
  std::atomic<int> freed{0};
  EXPECT_ANY_THROW(world.run([&](Transport& transport) {
    ThreadTeam team(1);
    try {
      exchange(transport, [&] {
        if (transport.rank() == 2) throw MemoryError("no memory left for a block");
        BytePool pool;
        gather_from_all(transport, team, pool.take(8), {60});
      });
    } catch (const BrokenRun& error) {
      EXPECT_STREQ(error.what(), "rank 2 of 3: no memory left for a block");
      ++freed;
      throw;
    }
  }));
  EXPECT_EQ(freed, 2);
}

}  // namespace
}  // namespace palmette
