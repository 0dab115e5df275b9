// The protocols that the microbenchmarks time hand over every value, in every order of threads that the
// emulator draws; with a planted fault each is reported, or hands over wrong values.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/device/protocol_launches.hpp"
#include "tests/seeds.hpp"

namespace palmette::device {
namespace {

using namespace emulate;

constexpr int rounds = 20;

HandOver letter_boxes_of_two() {
  reset_memory(1);
  LetterBox* const boxes = upload(std::vector<LetterBox>(2));
  return hand_over_between(boxes, boxes + 1, rounds, upload(std::vector<int>{-1, -1}));
}

/// Each player on a device, with its letter box there.
std::vector<HandOver> letter_boxes_on_two_devices() {
  reset_memory(2);
  LetterBox* const first = upload(std::vector<LetterBox>(1));
  LetterBox* const second = on_device(upload(std::vector<LetterBox>(1), 1), 1);
  int* const wrong = upload(std::vector<int>{-1, -1});
  std::vector<HandOver> players(2, hand_over_between(first, second, rounds, wrong));
  players[1].first_player = 1;
  players[1].wrong = on_device(wrong, 1);
  return players;
}

Report run_on_two_devices(Protocol protocol, Scope scope, const std::vector<HandOver>& players, int seed) {
  Options options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.devices = 2;
  options.peer_access = true;
  std::vector<Launch> launches;
  for (int device = 0; device < 2; ++device) {
    launches.push_back(hand_over_launch(protocol, scope, players[device], {1, 32}));
    launches.back().device = device;
  }
  return run(launches, options);
}

Options options_of(int seed) {
  Options options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.resident_blocks = 2;
  return options;
}

class Protocols : public ::testing::TestWithParam<std::tuple<Protocol, Scope>> {};

TEST_P(Protocols, hand_over_every_value_in_every_seed) {
  const auto [protocol, scope] = GetParam();
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed) {
    const HandOver at = letter_boxes_of_two();
    const LaunchShape shape = scope == Scope::block ? LaunchShape{1, 64} : LaunchShape{2, 32};
    const Report report = run({hand_over_launch(protocol, scope, at, shape)}, options_of(seed));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.errors.front();
    EXPECT_EQ(at.wrong[0], 0) << "seed " << seed;
    EXPECT_EQ(at.wrong[1], 0) << "seed " << seed;
  }
}

TEST_P(Protocols, hand_over_every_value_between_two_devices_with_the_scope_of_the_system_alone) {
  const auto [protocol, scope] = GetParam();
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed) {
    const std::vector<HandOver> players = letter_boxes_on_two_devices();
    const Report report = run_on_two_devices(protocol, scope, players, seed);
    EXPECT_EQ(report.ok(), scope == Scope::system) << "seed " << seed;
    if (scope != Scope::system) continue;
    EXPECT_EQ(players[0].wrong[0], 0) << "seed " << seed;
    EXPECT_EQ(players[1].wrong[1], 0) << "seed " << seed;
  }
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<Protocol, Scope>>& one) {
  static const char* const protocols[] = {"flag_after_release", "value_as_flag", "tagged_value",
                                          "counted_bytes"};
  static const char* const scopes[] = {"block", "device", "system"};
  return std::string(protocols[static_cast<int>(std::get<0>(one.param))]) + "_with_scope_" +
         scopes[static_cast<int>(std::get<1>(one.param))];
}

INSTANTIATE_TEST_SUITE_P(OfMicrobenchmarks, Protocols,
                         ::testing::Combine(::testing::Values(Protocol::flag_after_release,
                                                              Protocol::value_as_flag, Protocol::tagged_value,
                                                              Protocol::counted_bytes),
                                            ::testing::Values(Scope::block, Scope::device, Scope::system)),
                         name_of_case);

bool says(const Report& report, const std::string& words) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const std::string& error) { return error.find(words) != std::string::npos; });
}

void expect_report_in_every_seed(ProtocolFault fault, const std::string& words) {
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed)
    EXPECT_TRUE(says(run({hand_over_with(fault, letter_boxes_of_two())}, options_of(seed)), words))
        << "seed " << seed;
}

TEST(ProtocolWithFault, a_flag_stored_without_release_is_a_race) {
  expect_report_in_every_seed(ProtocolFault::relaxed_flag, "race");
}

TEST(ProtocolWithFault, a_value_that_is_its_own_flag_may_not_be_stored_plainly) {
  expect_report_in_every_seed(ProtocolFault::plain_value, "race");
}

TEST(ProtocolWithFault, bytes_counted_without_release_are_a_race) {
  expect_report_in_every_seed(ProtocolFault::relaxed_count, "race");
}

TEST(ProtocolWithFault, a_flag_between_blocks_with_block_scope_is_a_race) {
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed)
    EXPECT_TRUE(
        says(run({hand_over_too_narrow(letter_boxes_of_two())}, options_of(seed)), "scope too narrow"))
        << "seed " << seed;
}

/// No race, since both stores are atomic.
TEST(ProtocolWithFault, a_tag_stored_before_its_value_hands_over_wrong_values) {
  int wrong = 0;
  for (int seed = 1; seed <= testing::num_seeds(20); ++seed) {
    const HandOver at = letter_boxes_of_two();
    (void)run({hand_over_with(ProtocolFault::tag_apart, at)}, options_of(seed));
    wrong += at.wrong[0] + at.wrong[1] > 0;
  }
  EXPECT_EQ(wrong, testing::num_seeds(20));
}

TEST(ReadKernel, adds_up_each_element_once) {
  reset_memory(1);
  constexpr int count = 1000;
  std::vector<TwoDoubles> elements;
  for (int k = 0; k < count; ++k) elements.push_back({1.0 * k, 0.5});
  for (const LaunchShape shape : {LaunchShape{1, 32}, LaunchShape{3, 64}}) {
    auto* const sums = allocate_array<double>(static_cast<std::size_t>(shape.blocks * shape.threads));
    const Report report = run({read_launch({upload(elements), count, sums}, shape)}, options_of(1));
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(std::accumulate(sums, sums + shape.blocks * shape.threads, 0.0),
              count * (count - 1) / 2 + 0.5 * count);
  }
}

}  // namespace
}  // namespace palmette::device
