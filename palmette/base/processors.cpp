// Reads affinity, limits of control groups and load from the kernel.
#include "palmette/base/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace palmette {
namespace {

int processors_of_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return count;
  }
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware > 0 ? static_cast<int>(hardware) : 1;
}

constexpr offset_t no_limit = std::numeric_limits<offset_t>::max();

/// "150000 100000": microseconds of processor time in each period; "max 100000": as much as it likes.
offset_t processors_of_quota(const std::string& file) {
  std::ifstream in(file);
  double quota = 0, period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return no_limit;
  return std::max(offset_t{1}, static_cast<offset_t>(std::min(1e6, std::ceil(quota / period))));
}

/// The least that read(file) finds in the files of that name, of this process's group and all that hold it.
offset_t least_of_groups(const std::string& name, offset_t (*read)(const std::string&)) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    const std::string root = "/sys/fs/cgroup";
    offset_t least = no_limit;
    for (std::string path = line.substr(3); !path.empty(); path.erase(path.find_last_of('/')))
      least = std::min(least, read(root + path + name));
    // In a container the path may not be visible, and the root is the group.
    return std::min(least, read(root + name));
  }
  return no_limit;
}

}  // namespace

int available_processors() {
  // Read once: solvers of small systems ask each time.
  static const offset_t quota = least_of_groups("/cpu.max", processors_of_quota);
  return static_cast<int>(std::min<offset_t>(quota, processors_of_affinity()));
}

offset_t bytes_of_limit(const std::string& file) {
  std::ifstream in(file);
  offset_t bytes = 0;
  return in >> bytes && bytes > 0 ? bytes : no_limit;
}

offset_t memory_limit_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  const offset_t all = pages > 0 && page_bytes > 0 ? offset_t{pages} * page_bytes : no_limit;
  return std::min(all, least_of_groups("/memory.max", bytes_of_limit));
}

int busy_processors() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (available_processors() < online) return 0;
  std::ifstream load("/proc/loadavg");
  double minutes = 0;
  int running = 0;
  load >> minutes >> minutes >> minutes >> running;
  return load ? std::max(0, running - 1) : 0;  // this thread runs as well
}

}  // namespace palmette
