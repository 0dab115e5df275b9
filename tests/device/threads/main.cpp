// Runs one kernel with one thread of the system for each GPU thread and prints the bits of its result. The
// thread sanitizer, with which it is built, reports races and ends the program with its exit code.
//
//   device_threads KERNEL BLOCKS THREADS
#include <cstdlib>
#include <iostream>

#include "tests/device/threads/trials.hpp"

int main(int argc, char** argv) {
  using namespace palmette::sweeps;
  const auto found = argc == 4 ? trials_on_threads().find(argv[1]) : trials_on_threads().end();
  if (found == trials_on_threads().end()) {
    std::cerr << "usage: device_threads KERNEL BLOCKS THREADS\n";
    return 2;
  }
  const LaunchShape shape{std::atoi(argv[2]), std::atoi(argv[3])};
  std::cout << "bits " << found->second(options_of(1, 1), shape).bits << "\n";
  return 0;
}
