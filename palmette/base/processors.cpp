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

constexpr int no_quota = std::numeric_limits<int>::max();

/// "150000 100000": microseconds of processor time in each period; "max 100000": as much as it likes.
int processors_of_quota(const std::string& file) {
  std::ifstream in(file);
  double quota = 0, period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return no_quota;
  return std::max(1, static_cast<int>(std::min(1e6, std::ceil(quota / period))));
}

/// The least of read(file of that name) for this process's control group and all that hold it.
template <class Value, class Read>
Value least_of_groups(const std::string& name, Value none, Read&& read) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    const std::string root = "/sys/fs/cgroup";
    Value least = none;
    for (std::string path = line.substr(3); !path.empty(); path.erase(path.find_last_of('/')))
      least = std::min<Value>(least, read(root + path + name));
    return std::min<Value>(least, read(root + name));
  }
  return none;
}

constexpr offset_t no_limit = std::numeric_limits<offset_t>::max();

/// "1073741824", or "max".
offset_t bytes_of_limit(const std::string& file) {
  std::ifstream in(file);
  offset_t bytes = 0;
  return in >> bytes && bytes > 0 ? bytes : no_limit;
}

}  // namespace

int available_processors() {
  // Read once: solvers of small systems ask each time.
  static const int quota = least_of_groups("/cpu.max", no_quota, processors_of_quota);
  return std::min(quota, processors_of_affinity());
}

offset_t memory_limit_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  const offset_t all = pages > 0 && page_bytes > 0 ? offset_t{pages} * page_bytes : no_limit;
  return std::min(all, least_of_groups("/memory.max", no_limit, bytes_of_limit));
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
