// Ranks with one device each: hosts carry what the devices find, in any order of delivery. The bits are those
// of the world of devices in one process.
#include <gtest/gtest.h>

#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/solve/device_ranks.hpp"

namespace palmette {
namespace {

using namespace reference;

template <class T>
class device_ranks : public reference::OnEmulator {};
TYPED_TEST_SUITE(device_ranks, TestedScalars);

/// Each kind on two of these, so that all are tried by one scalar type or another.
TYPED_TEST(device_ranks, have_the_bits_of_the_devices_of_one_process) {
  constexpr Shape shapes[] = {{{3, 1}},    {{2, 1}, 2}, {{2, 1}, 3, at_levels},
                              {{1, 2}, 3}, {{2, 2}},    {{1, 2}, 2, at_levels}};
  int seed = static_cast<int>(sizeof(TypeParam));
  for (const Wish& wish : all_wishes<TypeParam>()) {
    const auto factor = reference::naive_factor(reference::make_problem<TypeParam>(wish), wish);
    for (int trial = 0; trial < 2; ++trial) {
      const Shape& shape = shapes[++seed % 6];
      SCOPED_TRACE(words(wish) + ", seed " + std::to_string(seed));
      const auto judge = in_one_process(factor, shape);
      constexpr MemoryKind kinds[] = {MemoryKind::reference, MemoryKind::native, MemoryKind::symmetric};
      const Setting setting{shape, kinds[seed % 3], seed % 2 ? TreeShape::binary : TreeShape::flat};
      DeviceRanks<TypeParam> ranks(factor, setting, seed);
      const auto same = [&](Operation operation, index_t num_rhs) {
        const auto b = reference::random_dense<TypeParam>(factor->size(), num_rhs, 5);
        return reference::same_bits(reference::solved(judge, operation, b), ranks.solve(operation, b, seed));
      };
      EXPECT_TRUE(same(Operation::plain, 3));  // first the larger one, so that room is left over
      EXPECT_TRUE(same(trial == 0 ? Operation::adjoint : Operation::transpose, 1));
      EXPECT_TRUE(same(Operation::plain, 0));
    }
  }
}

TEST_F(DeviceRankRuns, blocks_that_are_not_inverted_have_the_bits_too) {
  const Wish wish{FactorKind::lu, false, 10, 13};
  const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
  for (const double limit : {0.0, 1e8}) {
    const Shape shape{{3, 1}};
    DeviceRanks<double> ranks(factor, {shape, MemoryKind::automatic, TreeShape::binary, limit});
    const auto b = reference::random_dense<double>(factor->size(), 1, 5);
    EXPECT_TRUE(
        reference::same_bits(reference::solved(in_one_process(factor, shape, limit), Operation::plain, b),
                             ranks.solve(Operation::plain, b, 2)));
  }
}

/// Ranks that own nothing, and systems of no rows.
TEST_F(DeviceRankRuns, more_ranks_than_supernodes_and_no_rows_have_the_bits_too) {
  for (const index_t side : {0, 1, 2}) {
    const Wish wish{FactorKind::lu, false, side, 13};
    const auto factor = reference::naive_factor(reference::make_problem<double>(wish), wish);
    int seed = static_cast<int>(side);
    for (const Shape& shape : {Shape{{1, 1}}, Shape{{3, 1}}, Shape{{1, 2}, 3}, Shape{{2, 1}, 4, at_levels}}) {
      SCOPED_TRACE(std::to_string(side * side) + " rows on " + std::to_string(shape.num_ranks()) + " ranks");
      const auto judge = in_one_process(factor, shape);
      const MemoryKind memory = ++seed % 2 ? MemoryKind::native : MemoryKind::reference;
      DeviceRanks<double> ranks(factor, {shape, memory}, seed);
      for (const index_t num_rhs : {0, 1, 3}) {
        const auto b = reference::random_dense<double>(factor->size(), num_rhs, 5);
        EXPECT_TRUE(reference::same_bits(reference::solved(judge, Operation::plain, b),
                                         ranks.solve(Operation::plain, b, seed)));
      }
      if (side == 0) {
        EXPECT_EQ(ranks.carried().messages, 0);
      }
    }
  }
}

TEST_F(DeviceRankRuns, have_their_bits_under_every_order_of_delivery) {
  for (const index_t side : {5, 6}) {
    const auto factor = small_factor(side);
    const auto b = reference::random_dense<double>(factor->size(), 1, 5);
    for (const Shape& shape : {Shape{{4, 1}}, Shape{{2, 2}, 2}, Shape{{2, 1}, 3, at_levels}}) {
      const auto judge = reference::solved(in_one_process(factor, shape), Operation::plain, b);
      DeviceRanks<double> ranks(factor, {shape});
      for (int seed = 1; seed <= testing::num_seeds(side == 5 ? 150 : 20); ++seed)
        ASSERT_TRUE(reference::same_bits(judge, ranks.solve(Operation::plain, b, seed))) << "seed " << seed;
      EXPECT_GT(ranks.carried().messages, 0);
    }
  }
}

/// Natively nothing crosses to a host; by way of the hosts each message does, once for each that gets it.
TEST_F(DeviceRankRuns, messages_bytes_and_copies_are_as_the_programs_say) {
  const auto factor = small_factor();
  const auto b = reference::random_dense<double>(factor->size(), 1, 5);
  for (const Shape& shape : {Shape{{2, 2}}, Shape{{2, 1}, 2, at_levels}}) {
    WorldOptions of_world;
    of_world.grid = shape.grid;
    of_world.layers = shape.layers;
    of_world.layered_method = shape.method;
    of_world.subtrees = small_subtrees;
    const auto programs = solve_detail::programs_of_world(*factor->symbolic, of_world, sizeof(double));
    offset_t held_natively = 0;
    for (const MemoryKind memory : {MemoryKind::native, MemoryKind::reference}) {
      DeviceRanks<double> ranks(factor, {shape, memory});
      offset_t held = 0;
      for (auto& plan : ranks.plans) {
        plan.load();
        plan.reserve(1);
        held += plan.memory_bytes();
      }
      (void)ranks.solve(Operation::plain, b, 3);
      const CarriedCounts counts = ranks.carried();
      const bool native = memory == MemoryKind::native;
      if (native) held_natively = held;
      else EXPECT_GE(held_natively - held, counts.bytes);
      EXPECT_EQ(ranks.plans[0].memory_kind(), memory);
      EXPECT_EQ(counts.messages, programs.traffic.messages);
      EXPECT_EQ(counts.bytes, programs.traffic.rows * static_cast<offset_t>(sizeof(double)));
      EXPECT_EQ(ranks.traffic.messages(), counts.messages);
      EXPECT_EQ(ranks.traffic.bytes(), counts.bytes);
      EXPECT_EQ(counts.copies_in, native ? 0 : counts.messages);
      EXPECT_EQ(counts.bytes_in, native ? 0 : counts.bytes);
      EXPECT_EQ(counts.copies_out > 0, !native);
      EXPECT_EQ(counts.copies_there > counts.messages, native);
      EXPECT_GT(counts.launches, 0);
    }
  }
}

TEST_F(DeviceRankRuns, a_transport_that_reads_payloads_gets_them_by_way_of_the_hosts) {
  const auto factor = small_factor();
  const auto placement = std::make_shared<const Placement>(
      place(*factor->symbolic, {1, 1}, PlacementMap::block_cyclic, small_subtrees));
  const auto part = std::make_shared<const RankFactor<double>>(rank_part(*factor, placement, 0));
  const auto alone = make_loopback();
  Checked checked(*alone);
  RankPlanOptions options;
  options.device = make_emulated_device();
  RankSolvePlan<double> plan(part, options);
  ASSERT_NE(plan.preparation(checked), nullptr);
  EXPECT_EQ(plan.memory_kind(), MemoryKind::reference);
  (void)plan.preparation(*alone);
  EXPECT_EQ(plan.memory_kind(), MemoryKind::native);
  options.memory = MemoryKind::native;
  RankSolvePlan<double> insisting(part, options);
  EXPECT_THROW(insisting.preparation(checked), UsageError);
  DenseMatrix<double> x(factor->size(), 1);
  EXPECT_THROW(insisting.begin(Operation::plain, std::as_const(x).view(), x.view(), *alone), UsageError);
}

/// Keeps what is sent, for the test to deliver.
class Kept final : public Transport {
 public:
  explicit Kept(index_t number) : rank_(number) {}
  index_t rank() const override { return rank_; }
  index_t num_ranks() const override { return 2; }
  void send(index_t, std::int64_t tag, SharedBytes payload) override {
    sent.push_back({rank_, tag, std::move(payload)});
  }
  bool poll(Message&) override { return false; }
  void flush() override {}
  double sum(double value) override { return value; }
  int agree(int status) override { return status; }
  void abandon(const std::string&) override {}
  std::vector<Message> sent;

 private:
  index_t rank_;
};

/// All that comes to one rank of two in both sweeps, the last first: rows of the backward sweep come before
/// the forward sweep has begun.
TEST_F(DeviceRankRuns, rows_of_the_next_sweep_that_come_early_wait) {
  const auto factor = small_factor();
  DeviceRanks<double> ranks(factor, {{{2, 1}}});
  Kept transports[] = {Kept(0), Kept(1)};
  std::vector<Message> to_second;
  std::vector<DenseMatrix<double>> x;
  std::vector<RankProgram*> programs;
  for (int rank = 0; rank < 2; ++rank) {
    x.push_back(reference::random_dense<double>(static_cast<index_t>(ranks.plans[rank].rows().size()), 1, 5));
    programs.push_back(&ranks.plans[rank].begin(Operation::plain, std::as_const(x[rank]).view(),
                                                x[rank].view(), transports[rank]));
    programs[rank]->start();
  }
  const DenseMatrix<double> b = x[1];
  while (!programs[0]->done() || !programs[1]->done())
    for (int rank = 0; rank < 2; ++rank) {
      while (programs[rank]->run_one_task(0)) {}
      for (const Message& message : std::exchange(transports[rank].sent, {})) {
        if (rank == 0) to_second.push_back(message);
        programs[1 - rank]->on_message(message);
      }
    }
  ASSERT_GT(to_second.size(), 2U);
  DenseMatrix<double> again = b;
  RankProgram& second =
      ranks.plans[1].begin(Operation::plain, std::as_const(again).view(), again.view(), transports[1]);
  second.start();
  for (auto message = to_second.rbegin(); message != to_second.rend(); ++message) second.on_message(*message);
  while (second.run_one_task(0)) {}
  EXPECT_TRUE(second.done()) << second.waiting_for();
  EXPECT_TRUE(reference::same_bits(x[1], again));
}

/// A device that works until its n-th launch.
class DyingDevice final : public Device {
 public:
  DyingDevice(std::shared_ptr<Device> inner, int launches)
      : Device(inner->info()), inner_(std::move(inner)), left_(launches) {}
  void clear(void* memory, std::size_t bytes) override { inner_->clear(memory, bytes); }
  void copy_there(void* to, const void* from, std::size_t bytes) override {
    inner_->copy_there(to, from, bytes);
  }
  void finish() override { inner_->finish(); }
  bool holds(const void* first, std::size_t bytes) const override { return inner_->holds(first, bytes); }
  void wait_for_stream(void* stream) override { inner_->wait_for_stream(stream); }
  void reach(const Device& other) override { inner_->reach(other); }

 protected:
  void* do_allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  void do_release(void* memory) noexcept override { inner_->release(memory, 0); }
  void do_copy_in(void* to, const void* from, std::size_t bytes) override {
    inner_->copy_in(to, from, bytes);
  }
  void do_copy_out(void* to, const void* from, std::size_t bytes) override {
    inner_->copy_out(to, from, bytes);
  }
  void do_launch(const device::KernelCall& call, const device::LaunchShape& shape) override {
    if (left_-- == 0) throw DeviceError("the device " + info().address() + " has fallen off the bus");
    inner_->launch(call, shape);
  }
  device::LaunchShape resident_shape(const device::KernelCall& call,
                                     const device::LaunchShape& wanted) const override {
    return inner_->fitted_shape(call, wanted);
  }

 private:
  std::shared_ptr<Device> inner_;
  int left_;
};

/// Two ranks as threads; rank 1 has a device that dies, or none of its solves begins.
void solve_with_trouble(const std::shared_ptr<const Factor<double>>& factor, int launches_of_second,
                        bool second_is_silent) {
  const auto placement = std::make_shared<const Placement>(
      place(*factor->symbolic, {2, 1}, PlacementMap::block_cyclic, small_subtrees));
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    RankPlanOptions options;
    options.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
    if (transport.rank() == 1)
      options.device = std::make_shared<DyingDevice>(options.device, launches_of_second);
    RankSolvePlan<double> plan(
        std::make_shared<const RankFactor<double>>(rank_part(*factor, placement, transport.rank())), options);
    ThreadTeam team(1);
    exchange(transport, [&] { drive(*plan.preparation(transport), transport, team); });
    if (second_is_silent && transport.rank() == 1) {
      Message message;
      for (;;) (void)transport.poll(message);  // ends when the run is abandoned
    }
    DenseMatrix<double> x(static_cast<index_t>(plan.rows().size()), 1);
    exchange(transport, [&] {
      drive(plan.begin(Operation::plain, std::as_const(x).view(), x.view(), transport), transport, team,
            {0.3});
    });
  });
}

TEST_F(DeviceRankRuns, a_device_that_dies_ends_the_run_of_all) {
  const auto factor = small_factor();
  for (const int launches : {0, 1})
    EXPECT_EQ(text_of<DeviceError>([&] { solve_with_trouble(factor, launches, false); }),
              "the device emulated:1 has fallen off the bus");
}

TEST_F(DeviceRankRuns, a_rank_that_waits_in_vain_names_the_device_that_does_not_answer) {
  const std::string text = text_of<BrokenRun>([&] { solve_with_trouble(small_factor(), 1000, true); });
  EXPECT_EQ(text.find("rank 0 of 2 has waited 0.3"), 0U) << text;
  EXPECT_NE(text.find("from the device of rank 1"), std::string::npos) << text;
  EXPECT_NE(text.find("in the forward sweep"), std::string::npos) << text;
}

/// Of two devices in one process, the second's kernel ends at once in the first launch.
TEST_F(DeviceRankRuns, a_kernel_that_waits_in_vain_ends_and_the_device_that_does_not_send_is_named) {
  const auto factor = small_factor();
  const auto b = reference::random_dense<double>(factor->size(), 1, 5);
  const auto judge = reference::solved(in_one_process(factor, {{2, 1}}), Operation::plain, b);
  for (const std::int64_t most_polls : {20, 0}) {
    EmulatedDeviceOptions emulated;
    emulated.emulator.last_looks = 100;
    const auto launches = std::make_shared<int>(0);
    PlanOptions options;
    options.world = make_emulated_world(
        2, emulated, [launches](const device::KernelCall& call, const device::LaunchShape& shape) {
          emulate::Launch launch = device::emulated_launch(call, shape);
          if ((*launches)++ == 1) launch.kernel = [] {};
          return launch;
        });
    options.of_world.subtrees = small_subtrees;
    options.of_world.most_polls = most_polls;
    const auto plan = plan_solve(factor, options);
    const std::string text =
        text_of<DeviceError>([&] { (void)reference::solved(plan, Operation::plain, b); });
    if (most_polls == 0) {
      EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
      continue;
    }
    EXPECT_EQ(text.find("device 0 has waited in vain for "), 0U) << text;
    EXPECT_NE(text.find(" from device 1, in the forward sweep of 2 devices"), std::string::npos) << text;
    EXPECT_TRUE(reference::same_bits(judge, reference::solved(plan, Operation::plain, b)));
  }
}

/// One device sends nothing; more send what their programs say, and the price counts it.
TEST_F(DeviceRankRuns, prices_count_what_the_programs_do) {
  Cluster cluster;
  cluster.memory_gbs = {{1, 1000}};
  cluster.kernel_gflops = {{1, 1000}};
  cluster.overheads.task_us = 1;
  cluster.workers = 4;
  cluster.links = {{"node", 0, {2, 100, 0.1, 0.1}, 0}};
  const auto factor = small_factor();
  double slower = 0;
  for (const Shape& shape : {Shape{{1, 1}}, Shape{{3, 1}}, Shape{{2, 2}}, Shape{{2, 1}, 2}}) {
    ElementsCase given{*factor->symbolic, {}, 3};
    given.of_world.grid = shape.grid;
    given.of_world.layers = shape.layers;
    given.of_world.subtrees = small_subtrees;
    const auto programs = solve_detail::programs_of_world(*factor->symbolic, given.of_world, 8);
    const ElementsPrice price = price_elements(given, cluster);
    offset_t tasks = 0;
    for (const auto& element : programs.element)
      tasks += static_cast<offset_t>(element.forward.task.size() + element.backward.task.size());
    EXPECT_EQ(price.tasks, tasks);
    EXPECT_EQ(price.messages, programs.traffic.messages);
    EXPECT_EQ(price.message_bytes, programs.traffic.rows * 3 * 8);
    EXPECT_GT(price.seconds, price.forward_seconds + price.backward_seconds);
    const double entries = sweep_work(*factor->symbolic, 0, factor->symbolic->num_supernodes()).entries;
    const double copies = static_cast<double>(price.panel_bytes) - 2 * 8 * entries;
    EXPECT_EQ(std::abs(copies) > static_cast<double>(tasks), shape.layers > 1) << "bytes of copies of layers";
    Cluster far = cluster;
    far.links[0].link.latency_us = 50;
    slower = price_elements(given, far).seconds - price.seconds;
    EXPECT_EQ(slower > 48e-6, shape.num_ranks() > 1) << slower;
    // The same tasks in two kernels: one more launch for each sweep, and one block less for the rest.
    ElementsCase apart = given;
    apart.waits_apart = true;
    Cluster more = cluster;
    more.launch_us = 7;
    const ElementsPrice two = price_elements(apart, more), one = price_elements(given, more);
    EXPECT_EQ(two.tasks, one.tasks);
    EXPECT_EQ(two.messages, one.messages);
    EXPECT_EQ(two.message_bytes, one.message_bytes);
    EXPECT_GT(two.seconds, one.seconds + (shape.num_ranks() == 1 ? 13.9e-6 : 0));
    more.workers = 1;
    EXPECT_THROW((void)price_elements(apart, more), UsageError);
  }
}

}  // namespace
}  // namespace palmette
