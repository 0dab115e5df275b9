// The engines alone, on random graphs, with a body that detects tasks that run too early, twice or never.
#include "palmette/solve/engines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <span>

namespace palmette::solve_detail {
namespace {

/// Each task checks that all its predecessors are done in this run.
class WatchfulBody final : public SweepBody {
 public:
  explicit WatchfulBody(const TaskGraph& graph)
      : graph_(graph), runs_(graph.tasks.size()), values_(graph.tasks.size()) {}

  void run_task(index_t task, int) override {
    double value = 1.0 + task;
    for (const index_t before : graph_.predecessors(task)) {
      if (runs_[before].load(std::memory_order_relaxed) != round_) ++early_;
      value += 0.5 * values_[before];  // not atomic: a data race here is the engine's fault
    }
    values_[task] = value;
    if (++runs_[task] != round_) ++wrong_count_;
  }
  void next_round() { ++round_; }
  void expect_all_ran_once() {
    for (const auto& count : runs_) EXPECT_EQ(count.load(), round_);
    EXPECT_EQ(early_.load(), 0);
    EXPECT_EQ(wrong_count_.load(), 0);
  }
  const std::vector<double>& values() const { return values_; }

 private:
  const TaskGraph& graph_;
  std::vector<std::atomic<int>> runs_;
  std::vector<double> values_;
  std::atomic<int> early_{0};
  std::atomic<int> wrong_count_{0};
  int round_ = 0;
};

/// Runs the schedule several times by one method; each time every task must run once, at its time.
void expect_runs(const SweepSchedule& schedule, EngineState& state, SolveMethod method, ThreadTeam& team,
                 int repeats) {
  WatchfulBody body(schedule.graph);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    body.next_round();
    run_sweep(method, {schedule, state, body, &team});
    body.expect_all_ran_once();
  }
}

std::vector<Task> random_tasks(index_t tasks, double cost, std::mt19937_64& random) {
  std::vector<Task> list(tasks);
  for (Task& task : list) task.cost = cost * std::uniform_real_distribution<double>(0.0, 1.0)(random);
  return list;
}

TaskGraph random_graph(index_t tasks, double edges_per_task, double cost, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Task> list = random_tasks(tasks, cost, random);
  std::vector<Edge> edges;
  for (index_t k = 0; tasks > 1 && k < tasks * edges_per_task; ++k) {
    const index_t from = std::uniform_int_distribution<index_t>(0, tasks - 2)(random);
    const index_t reach = std::min<index_t>(tasks - 1 - from, 1 + static_cast<index_t>(random() % 40));
    edges.push_back({from, from + std::uniform_int_distribution<index_t>(1, reach)(random)});
  }
  return make_task_graph(std::move(list), std::move(edges));
}

/// Most tasks with one that comes after them, at most `farthest` later; others are roots.
TaskGraph random_trees(index_t tasks, index_t farthest, double cost, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Task> list = random_tasks(tasks, cost, random);
  std::vector<Edge> edges;
  for (index_t from = 0; from + 1 < tasks; ++from) {
    if (from % 97 == 96) continue;
    const index_t reach = std::min<index_t>(tasks - 1 - from, farthest);
    edges.push_back({from, from + std::uniform_int_distribution<index_t>(1, reach)(random)});
  }
  return make_task_graph(std::move(list), std::move(edges));
}

TEST(engines, every_method_runs_each_task_once_after_its_predecessors) {
  for (const index_t tasks : {0, 1, 2, 7, 100, 700})
    for (const double cost : {0.0, 100.0, 1e5}) {
      const SweepSchedule schedule =
          make_schedule(random_graph(tasks, 2.5, cost, 31 + static_cast<std::uint64_t>(tasks)));
      std::vector<double> judge;
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
        for (const int threads : {1, 2, 3, 8}) {
          ThreadTeam team(threads);
          EngineState state(schedule);
          WatchfulBody body(schedule.graph);
          for (int repeat = 0; repeat < 20; ++repeat) {
            body.next_round();
            run_sweep(method.method, {schedule, state, body, threads == 1 && repeat % 2 ? nullptr : &team});
            body.expect_all_ran_once();
          }
          if (judge.empty()) judge = body.values();
          EXPECT_EQ(body.values(), judge) << method.name << " with " << threads << " threads";
        }
    }
}

TEST(engines, chain_and_star_and_independent_tasks_are_run) {
  const auto graph_of = [](index_t tasks, const std::vector<Edge>& edges) {
    std::vector<Task> list(tasks);
    for (Task& task : list) task.cost = 1e6;
    return make_schedule(make_task_graph(std::move(list), edges));
  };
  std::vector<Edge> chain, star;
  for (index_t k = 0; k + 1 < 50; ++k) chain.push_back({k, k + 1}), star.push_back({k, 49});
  ThreadTeam team(4);
  for (const std::vector<Edge>& edges : {chain, star, std::vector<Edge>{}}) {
    const SweepSchedule schedule = graph_of(50, edges);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine)) {
      EngineState state(schedule);
      expect_runs(schedule, state, method.method, team, 100);
    }
  }
}

/// The last task offers parts, and waits until another thread has done one, or for very long.
class OfferingBody final : public SweepBody {
 public:
  OfferingBody(index_t last, int threads) : last_(last), offers_(threads) {}
  void run_task(index_t task, int thread) override {
    if (task != last_) return;
    HelpedOnce work;
    const WorkOffer offer({&offers_, thread}, work);
    for (const Stopwatch since; !work.helped && since.seconds() < 20;) processor_pause();
    helped_ = work.helped.load();
  }
  WorkOffers* offers() override { return &offers_; }
  bool was_helped() const { return helped_; }

 private:
  struct HelpedOnce final : SharedWork {
    void help() override { helped = true; }
    std::atomic<bool> helped{false};
  };
  const index_t last_;
  WorkOffers offers_;
  bool helped_ = false;
};

TEST(engines, threads_without_a_task_help_with_the_last_one) {
  std::vector<Task> list(9);
  std::vector<Edge> star;
  for (index_t k = 0; k + 1 < 9; ++k) star.push_back({k, 8});
  const SweepSchedule schedule = make_schedule(make_task_graph(std::move(list), star));
  ThreadTeam team(2);
  EngineState state(schedule);
  // A thread that comes after the caller has begun the last task helps if it is there before it is too late.
  bool helped = false;
  for (int repeat = 0; repeat < 5 && !helped; ++repeat) {
    OfferingBody body(8, 2);
    run_sync_free({schedule, state, body, &team});
    helped = body.was_helped();
  }
  EXPECT_TRUE(helped);
}

class FailingBody final : public SweepBody {
 public:
  explicit FailingBody(index_t bad) : bad_(bad) {}
  void run_task(index_t task, int) override {
    if (task == bad_) throw std::runtime_error("task " + std::to_string(task));
  }

 private:
  index_t bad_;
};

TEST(engines, exception_of_a_task_reaches_the_caller_and_the_next_run_works) {
  ThreadTeam team(3);
  for (const TaskGraph& graph : {random_graph(200, 3, 1e5, 5), random_trees(200, 8, 1e5, 5)}) {
    const SweepSchedule schedule = make_schedule(graph);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine)) {
      EngineState state(schedule);
      for (const index_t bad : {0, 100, 199}) {
        FailingBody failing(bad);
        EXPECT_THROW(run_sweep(method.method, {schedule, state, failing, &team}), std::runtime_error)
            << method.name;
        expect_runs(schedule, state, method.method, team, 1);
      }
    }
  }
}

TEST(engines, flags_survive_the_wrap_of_the_run_counter) {
  const SweepSchedule schedule = make_schedule(random_graph(60, 2, 10, 8));
  ThreadTeam team(3);
  EngineState state(schedule);
  state.run_number = 0xfffffffdU;
  expect_runs(schedule, state, SolveMethod::sync_free, team, 6);
}

TEST(engines, ticket_order_is_topological_even_with_costs_of_zero) {
  const SweepSchedule schedule = make_schedule(random_graph(300, 3, 0.0, 9));
  std::vector<index_t> ticket(schedule.by_priority.size());
  for (std::size_t k = 0; k < ticket.size(); ++k) ticket[schedule.by_priority[k]] = static_cast<index_t>(k);
  for (index_t task = 0; task < schedule.graph.num_tasks(); ++task)
    for (const index_t next : schedule.graph.successors(task)) EXPECT_LT(ticket[task], ticket[next]);
}

TEST(engines, the_order_of_trees_is_topological_both_ways) {
  for (const double cost : {0.0, 1.0})
    for (const index_t farthest : {1, 30, 1500})
      for (const bool turned : {false, true}) {
        TaskGraph trees = random_trees(1500, farthest, cost, 11);
        // Some cost nothing, so that priorities are equal along paths.
        for (index_t task = 0; task < 1500; task += 2) trees.tasks[task].cost = 0;
        trees = reversed(reversed(trees));  // with their priorities
        const SweepSchedule schedule = make_schedule(turned ? reversed(trees) : trees);
        EXPECT_EQ(schedule.ticket_ptr.front(), 0);
        EXPECT_EQ(schedule.ticket_ptr.back(), 1500);
        EXPECT_EQ(std::adjacent_find(schedule.ticket_ptr.begin(), schedule.ticket_ptr.end(),
                                     std::greater_equal<>()),
                  schedule.ticket_ptr.end());
        std::vector<char> is_taken(1500, 0);
        for (const index_t task : schedule.by_priority) {
          for (const index_t before : schedule.graph.predecessors(task)) EXPECT_TRUE(is_taken[before]);
          is_taken[task] = 1;
        }
      }
}

// A thread that takes a ticket takes a branch with all its leaves, whose panels lie side by side in memory.
TEST(engines, tickets_are_whole_branches_of_limited_cost) {
  for (const bool turned : {false, true}) {
    const TaskGraph trees = random_trees(3000, 200, 1.0, 12);
    const SweepSchedule schedule = make_schedule(turned ? reversed(trees) : trees);
    const TaskGraph& graph = schedule.graph;
    std::size_t several = 0;
    for (std::size_t ticket = 0; ticket + 1 < schedule.ticket_ptr.size(); ++ticket) {
      const std::span<const index_t> tasks = std::span(schedule.by_priority).subspan(
          schedule.ticket_ptr[ticket], schedule.ticket_ptr[ticket + 1] - schedule.ticket_ptr[ticket]);
      EXPECT_TRUE(std::is_sorted(tasks.begin(), tasks.end()));
      if (tasks.size() == 1) continue;
      ++several;
      double cost = 0;
      for (const index_t task : tasks) {
        cost += graph.tasks[task].cost;
        for (const index_t below : turned ? graph.successors(task) : graph.predecessors(task))
          EXPECT_TRUE(std::binary_search(tasks.begin(), tasks.end(), below));
      }
      EXPECT_LT(cost, graph.total_cost() / 100);
    }
    EXPECT_GT(several, 50U);
    EXPECT_LT(schedule.ticket_ptr.size(), 1000U) << "most tasks are in branches";
  }
}

TEST(engines, every_method_runs_the_tasks_of_trees) {
  const TaskGraph trees = random_trees(700, 60, 1e5, 13);
  for (const bool turned : {false, true}) {
    const SweepSchedule schedule = make_schedule(turned ? reversed(trees) : trees);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
      for (const int threads : {2, 5}) {
        ThreadTeam team(threads);
        EngineState state(schedule);
        expect_runs(schedule, state, method.method, team, 20);
      }
  }
}

TEST(engines, phases_cover_all_tasks_once) {
  for (const double cost : {1.0, 1e4, 1e6}) {
    const SweepSchedule schedule = make_schedule(random_graph(500, 2, cost, 10));
    index_t next = 0;
    for (const Phase& phase : schedule.phases) {
      EXPECT_EQ(phase.begin, next);
      next = phase.end;
    }
    EXPECT_EQ(next, 500);
  }
}

TEST(method_list, names_lead_back_to_their_methods_and_unknown_names_list_all) {
  for (const SolveMethodInfo& info : solve_method_list(SolveWhere::one_machine)) {
    EXPECT_EQ(solve_method(info.name), info.method);
    EXPECT_EQ(name_of(info.method), info.name);
  }
  EXPECT_EQ(solve_method("auto"), SolveMethod::automatic);
  try {
    solve_method("quick");
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("quick"), std::string::npos);
    for (const SolveMethodInfo& info : solve_method_list(SolveWhere::one_machine))
      EXPECT_NE(text.find(info.name), std::string::npos);
  }
}

/// What check_row says of this row over ranks.
std::string refusal(const SolveMethodInfo& info) {
  try {
    check_row(info, {SolveWhere::ranks, SolveWhere::layers});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(method_list, a_row_that_this_build_cannot_run_is_refused_with_its_reason) {
  SolveMethodInfo info = solve_method_list(SolveWhere::ranks).front();
  info.name = "by_pigeon";
  EXPECT_EQ(refusal(info), "");
  info.unavailable = "built without pigeons";
  EXPECT_EQ(refusal(info),
            "the solve method by_pigeon cannot run here (built without pigeons); for ranks in one layer or "
            "several layers of ranks choose one of auto, message_driven, one_sync_3d, baseline_3d");
  info.where = SolveWhere::one_machine;
  EXPECT_EQ(refusal(info),
            "the solve method by_pigeon is for one machine; for ranks in one layer or several layers of "
            "ranks choose one of auto, message_driven, one_sync_3d, baseline_3d");
}

TEST(method_choice, automatic_takes_threads_only_where_they_save_enough) {
  const SweepWork small{1e5, 1e4}, large{1e8, 1e6}, chain{1e8, 1e8};
  EXPECT_EQ(choose_method(SolveMethod::automatic, SolveWhere::one_machine, large, 1), SolveMethod::serial);
  EXPECT_EQ(choose_method(SolveMethod::automatic, SolveWhere::one_machine, small, 8), SolveMethod::serial);
  EXPECT_EQ(choose_method(SolveMethod::automatic, SolveWhere::one_machine, chain, 8), SolveMethod::serial);
  EXPECT_NE(choose_method(SolveMethod::automatic, SolveWhere::one_machine, large, 2), SolveMethod::serial);
  EXPECT_EQ(choose_method(SolveMethod::level_set, SolveWhere::one_machine, small, 1), SolveMethod::level_set);
}

}  // namespace
}  // namespace palmette::solve_detail
