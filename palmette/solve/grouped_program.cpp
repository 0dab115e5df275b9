// Groups of right-hand sides. Their messages are told apart by their tags.
#include "palmette/solve/grouped_program.hpp"

#include <algorithm>

#include "palmette/solve/layer_transport.hpp"

namespace palmette::solve_detail {
namespace {

class GroupTransport final : public SendingPart {
 public:
  GroupTransport(std::int64_t group, std::int64_t groups) : group_(group), groups_(groups) {}

  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    outside().send(destination, tag * groups_ + group_, std::move(payload));
  }

 private:
  std::int64_t group_, groups_;
};

template <class T>
class GroupedProgram final : public SolveProgram<T> {
 public:
  GroupedProgram(std::vector<std::unique_ptr<SolveProgram<T>>> programs, int threads)
      : programs_(std::move(programs)), last_(threads) {
    for (index_t group = 0; group < groups(); ++group) transports_.emplace_back(group, groups());
  }

  void reset(const ProgramRun<T>& run, Transport& transport) override {
    reached_.assign(run.reached != nullptr ? programs_.size() : 0, {});
    for (index_t group = 0; group < groups(); ++group) {
      const index_t first = first_rhs_of_group(run.b.cols, groups(), group, sizeof(T));
      const index_t count = first_rhs_of_group(run.b.cols, groups(), group + 1, sizeof(T)) - first;
      ProgramRun<T> part{run.operation, run.b.columns(first, count), run.x.columns(first, count)};
      if (run.reached != nullptr) {
        reached_[group] = *run.reached;
        reached_[group].first_column += first;
        part.reached = &reached_[group];
      }
      transports_[group].use(transport);
      programs_[group]->reset(part, transports_[group]);
    }
    taken_.clear();
    free_tickets_.clear();
  }
  void start() override {
    for (const auto& program : programs_) program->start();
  }
  void on_message(const Message& message) override {
    programs_[message.tag % groups()]->on_message({message.source, message.tag / groups(), message.payload});
  }
  bool run_one_task(int thread) override {
    for (index_t group = 0; group < groups(); ++group) {
      if (!programs_[group]->run_one_task(thread)) continue;
      last_[thread] = group;
      return true;
    }
    return false;
  }
  int take_task() override {
    for (index_t group = 0; group < groups(); ++group) {
      const int inner = programs_[group]->take_task();
      if (inner == -1) continue;
      last_[0] = group;
      if (free_tickets_.empty()) {
        taken_.push_back({group, inner});
        return static_cast<int>(taken_.size()) - 1;
      }
      const int ticket = free_tickets_.back();
      free_tickets_.pop_back();
      taken_[ticket] = {group, inner};
      return ticket;
    }
    return -1;
  }
  void finish_task(int ticket) override {
    programs_[taken_[ticket].group]->finish_task(taken_[ticket].inner);
    free_tickets_.push_back(ticket);
  }
  bool has_tickets() const override { return true; }
  bool done() const override {
    return std::all_of(programs_.begin(), programs_.end(), [](const auto& one) { return one->done(); });
  }
  double last_cost() const override { return programs_[last_[0]]->last_cost(); }
  TaskNote last_task(int thread) const override { return programs_[last_[thread]]->last_task(thread); }
  std::string waiting_for() const override {
    for (const auto& program : programs_)
      if (!program->done()) return program->waiting_for();
    return "nothing";
  }

 private:
  struct Taken {
    index_t group = 0;
    int inner = 0;  ///< the group's own ticket
  };
  index_t groups() const { return static_cast<index_t>(programs_.size()); }

  std::vector<std::unique_ptr<SolveProgram<T>>> programs_;
  std::vector<GroupTransport> transports_;
  std::vector<ReachedSolve<T>> reached_;  // by group
  std::vector<index_t> last_;  // by thread: the group of its last task
  std::vector<Taken> taken_;   // by ticket
  std::vector<int> free_tickets_;
};

}  // namespace

index_t first_rhs_of_group(index_t num_rhs, index_t groups, index_t group, int scalar_bytes) {
  constexpr index_t register_bytes = 64;
  const index_t in_register = register_bytes / scalar_bytes;
  return group == groups ? num_rhs : num_rhs / in_register * group / groups * in_register;
}

index_t widest_group(index_t max_rhs, index_t groups, int scalar_bytes) {
  index_t widest = 0;
  for (index_t num_rhs = 1; num_rhs <= max_rhs; ++num_rhs)
    for (index_t group = 0; group < groups; ++group)
      widest = std::max(widest, first_rhs_of_group(num_rhs, groups, group + 1, scalar_bytes) -
                                    first_rhs_of_group(num_rhs, groups, group, scalar_bytes));
  return widest;
}

template <class T>
std::unique_ptr<SolveProgram<T>> grouped_program(std::vector<std::unique_ptr<SolveProgram<T>>> programs,
                                                 int threads) {
  if (programs.size() == 1) return std::move(programs.front());
  return std::make_unique<GroupedProgram<T>>(std::move(programs), threads);
}

#define PALMETTE_INSTANTIATE(T)                                                                            \
  template std::unique_ptr<SolveProgram<T>> grouped_program(std::vector<std::unique_ptr<SolveProgram<T>>>, \
                                                            int);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
