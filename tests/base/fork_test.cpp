// The locks of the parent in a forked process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

TEST(process_mutex, one_thread_at_a_time_has_it) {
  ProcessMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5000; ++turn) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 20000);
}

#ifndef PALMETTE_THREAD_SANITIZER  // the thread sanitizer starts no threads in a forked process
/// The exit code of a child that does `work`.
template <class Work>
int code_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(process_mutex, in_a_forked_process_it_is_free_and_says_that_its_holder_stayed_behind) {
  ProcessMutex mutex;
  EXPECT_FALSE(mutex.lock());
  EXPECT_EQ(code_of_child([&] {
    if (!mutex.lock()) return 1;
    mutex.unlock();
    if (mutex.lock()) return 2;  // this time no thread of the parent held it
    return 42;
  }), 42);
  mutex.unlock();
  EXPECT_EQ(code_of_child([&] { return mutex.lock() ? 1 : 42; }), 42);
}

TEST(fork_generation, differs_in_the_child_and_stays_in_the_parent) {
  const std::uint32_t mine = fork_generation();
  EXPECT_EQ(code_of_child([&] { return fork_generation() != mine ? 42 : 1; }), 42);
  EXPECT_EQ(fork_generation(), mine);
}

TEST(brief_lock, a_child_finds_what_it_guards_whole_and_the_lock_free) {
  std::pair<long, long> twins{0, 0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      const BriefLock lock(&twins);
      ++twins.first;
      for (int turn = 0; turn < 100; ++turn) processor_pause();
      ++twins.second;
    }
  });
  for (int repeat = 0; repeat < 50; ++repeat)
    EXPECT_EQ(code_of_child([&] {
      const BriefLock lock(&twins);
      return twins.first == twins.second ? 42 : 1;
    }), 42);
  stop = true;
  writer.join();
}
#endif

}  // namespace
}  // namespace palmette
