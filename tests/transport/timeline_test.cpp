// Records of ranks: time spent on waiting, work and messages, and the trace.
#include <gtest/gtest.h>

#include "tests/transport/dag_program.hpp"

namespace palmette {
namespace {

// Starts at 10; a message takes 1 s; the task begins at 13 and ends at 18, 2 s of it sending. Then nothing
// until 20.
TEST(rank_record, time_is_work_messages_or_waiting_and_belongs_to_the_phase_it_was_spent_for) {
  RankRecord record(1, true);
  record.start(0, 10);
  record.handled(0, 1);
  TaskNote note;
  note.name = "forward_task";
  note.phase = SweepPhase::forward;
  record.task(0, note, 13, 18, 2);
  note.phase = SweepPhase::backward;
  record.task(0, note, 18, 19, 0);
  record.finish(0, 20);
  const RankTimes times = record.times();
  EXPECT_EQ(times.of(SweepPhase::forward).work, 3);
  EXPECT_EQ(times.of(SweepPhase::forward).messages, 3);
  EXPECT_EQ(times.of(SweepPhase::forward).waiting, 2);
  EXPECT_EQ(times.of(SweepPhase::backward).work, 1);
  EXPECT_EQ(times.of(SweepPhase::backward).waiting, 1);
  EXPECT_EQ(times.total().total(), 10);
  EXPECT_EQ(record.timeline().tasks.size(), 2u);
  EXPECT_EQ((times - times).total().total(), 0);
}

// Forward, one rank works for 1 s, the other for 4 s and sends for 1 s; only the second sweeps backward.
TEST(time_figures, are_least_mean_and_most_over_ranks_by_phase_and_in_all) {
  std::vector<RankTimes> ranks(2);
  ranks[0].of(SweepPhase::forward) = {1, 0, 0};
  ranks[1].of(SweepPhase::forward) = {4, 1, 0};
  ranks[1].of(SweepPhase::backward) = {2, 0, 0};
  const std::vector<NamedPhaseFigures> phases = phase_figures(ranks);
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].phase, SweepPhase::forward);
  EXPECT_EQ(phases[1].phase, SweepPhase::backward);
  const auto expect = [](const PartFigure& part, const char* name, const RankFigure& seconds) {
    EXPECT_EQ(part.name, name);
    EXPECT_EQ(part.seconds.least, seconds.least);
    EXPECT_EQ(part.seconds.mean, seconds.mean);
    EXPECT_EQ(part.seconds.most, seconds.most);
  };
  expect(phases[0].parts[0], "work", {1, 2.5, 4});
  expect(phases[0].parts[1], "messages", {0, 0.5, 1});
  expect(phases[0].parts[2], "waiting", {});
  expect(total_figures(ranks)[0], "work", {1, 3.5, 6});
  EXPECT_TRUE(phase_figures({}).empty());
}

TEST(drive, writes_down_every_task_and_message_when_asked) {
  const testing_transport::Dag dag = testing_transport::random_dag(60, 3, 0.1, 7);
  ThreadWorld world(3);
  std::vector<RankRecord> records;
  for (int rank = 0; rank < 3; ++rank) records.emplace_back(1, true);
  std::vector<Traffic> sent(3);
  world.run([&](Transport& plain) {
    RankRecord& record = records[plain.rank()];
    Recorder counted(plain);
    SendClock transport(counted, record);
    testing_transport::DagProgram program(dag, transport);
    ThreadTeam team(1);
    DriveOptions options;
    options.record = &record;
    drive(program, transport, team, options);
    plain.agree(0);
    sent[plain.rank()] = counted.sent();
  });
  std::size_t tasks = 0, leaving = 0, taken = 0, expected = 0;
  std::vector<RankTimeline> lines;
  for (int rank = 0; rank < 3; ++rank) {
    lines.push_back(records[rank].timeline());
    tasks += lines.back().tasks.size();
    for (const TimedMessage& message : lines.back().messages) (message.is_sent ? leaving : taken) += 1;
    expected += static_cast<std::size_t>(sent[rank].messages());
    const PhaseTimes all = records[rank].times().total();
    EXPECT_GE(all.work, 0);
    EXPECT_GE(all.waiting, 0);
  }
  EXPECT_EQ(tasks, 60u);
  EXPECT_EQ(leaving, expected);
  EXPECT_EQ(taken, expected);
  const std::string trace = chrome_trace(lines);
  std::size_t complete = 0;
  for (std::size_t at = trace.find("\"ph\":\"X\""); at != std::string::npos;
       at = trace.find("\"ph\":\"X\"", at + 1))
    ++complete;
  EXPECT_EQ(complete, 60u);
}

// Two ranks, a cluster of one rank a node: a task of 1000 bytes at 1 GB/s takes 1 µs, a message 2 + 0.5 + 0.5
// µs and its 8 bytes at 1 GB/s.
class OneMessage final : public RankProgram {
 public:
  explicit OneMessage(Transport& transport) : transport_(transport), left_(1) {
    has_come_ = transport.rank() == 0;
  }
  void start() override {}
  void on_message(const Message&) override { has_come_ = true; }
  bool run_one_task(int) override {
    if (!has_come_ || left_ == 0) return false;
    --left_;
    if (transport_.rank() == 0) transport_.send(1, 0, pool_.take(8));
    return true;
  }
  bool done() const override { return left_ == 0; }
  TaskNote last_task(int) const override {
    TaskNote note;
    note.work.bytes = 1000;
    return note;
  }

 private:
  Transport& transport_;
  BytePool pool_;
  bool has_come_;
  int left_;
};

TEST(simulated_world, on_a_cluster_tasks_and_messages_cost_what_it_says) {
  auto cluster = std::make_shared<Cluster>();
  cluster->memory_gbs = {{1, 1}};
  cluster->kernel_gflops = {{1, 1}};
  cluster->links = {{"network", 0, {2, 1, 0.5, 0.5}, 0}};
  SimulationOptions options;
  options.cluster = cluster;
  SimulatedWorld world(2, options);
  OneMessage first(world.rank(0)), second(world.rank(1));
  RankProgram* const programs[] = {&first, &second};
  const SimulationResult result = world.run(programs);
  EXPECT_NEAR(result.seconds, (1 + 0.5 + 2 + 0.008 + 0.5 + 1) * 1e-6, 1e-15);
  EXPECT_NEAR(result.times[0].total().messages, 0.5e-6, 1e-15);
  EXPECT_NEAR(result.times[1].total().waiting, (1 + 0.5 + 2 + 0.008) * 1e-6, 1e-15);
  EXPECT_NEAR(result.times[1].total().work, 1e-6, 1e-15);
}

}  // namespace
}  // namespace palmette
