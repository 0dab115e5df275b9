// The driver of one rank: members run tasks while there are any and look for messages in between.
#include "palmette/transport/transport.hpp"

namespace palmette {

void drive(RankProgram& program, Transport& transport, ThreadTeam& team) {
  program.start();
  std::atomic<bool> failed{false};
  team.run([&](int member) {
    SpinWait idle;
    Message message;
    try {
      while (!failed.load(std::memory_order_relaxed) && !program.done()) {
        bool worked = false;
        if (member == 0)
          while (transport.poll(message)) {
            program.on_message(message);
            worked = true;
          }
        worked = program.run_one_task(member) || worked;
        if (worked) idle = SpinWait();
        else idle.pause();
      }
    } catch (...) {
      failed.store(true);
      throw;
    }
  });
  transport.flush();
}

}  // namespace palmette
