// Sum and triad, each repeated at least three times and for about a tenth of a second.
#include "palmette/machine/bandwidth.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

namespace palmette {
namespace {

constexpr double seconds_each = 0.08;
constexpr int least_passes = 3;
constexpr int most_passes = 1000;
constexpr std::size_t lanes = 32;

/// Many independent sums, since each addition of a single sum would wait for the one before it.
double sum(const double* values, std::size_t count) {
  std::array<double, lanes> partial{};
  std::size_t place = 0;
  for (; place + lanes <= count; place += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += values[place + lane];
  double total = 0;
  for (; place < count; ++place) total += values[place];
  for (const double part : partial) total += part;
  return total;
}

void triad(double* __restrict to, const double* __restrict left, const double* __restrict right,
           std::size_t count) {
  const double factor = 3.0;
  for (std::size_t place = 0; place < count; ++place) to[place] = left[place] + factor * right[place];
}

class Arrays {
 public:
  Arrays(ThreadTeam& team, offset_t array_bytes)
      : team_(team), count_(std::max<offset_t>(array_bytes / 8, 1)),
        sums_(static_cast<std::size_t>(team.size()) * lanes) {
    try {
      // Left uninitialized: the thread that first touches a page decides in which memory it lies. On large
      // pages, as panels are: small ones are read up to a tenth more slowly.
      for (auto& array : arrays_) {
        array.reset(new double[count_]);
        prefer_large_pages(array.get(), count_ * sizeof(double));
      }
    } catch (const std::bad_alloc&) {
      throw MemoryError(
          "no memory for three arrays of " + std::to_string(8 * count_) + " bytes to measure bandwidth with",
          static_cast<offset_t>(24 * count_));
    }
    each_part([this](int, std::size_t first, std::size_t count) {
      for (std::size_t array = 0; array < 3; ++array)
        std::fill_n(arrays_[array].get() + first, count, static_cast<double>(array) + 1.0);
    });
  }

  void sum_pass() {
    each_part([this](int thread, std::size_t first, std::size_t count) {
      for (const auto& array : arrays_)
        sums_[static_cast<std::size_t>(thread) * lanes] += sum(array.get() + first, count);
    });
  }
  void triad_pass() {
    each_part([this](int, std::size_t first, std::size_t count) {
      triad(arrays_[0].get() + first, arrays_[1].get() + first, arrays_[2].get() + first, count);
    });
  }

  /// The results of the passes, so that a compiler cannot omit them.
  double evidence() const {
    double total = arrays_[0][count_ / 2];
    for (const double part : sums_) total += part;
    return total;
  }
  double entries() const { return static_cast<double>(count_); }

 private:
  template <class Work>
  void each_part(Work work) {
    team_.run([&](int thread) {
      const std::size_t threads = static_cast<std::size_t>(team_.size()),
                        which = static_cast<std::size_t>(thread);
      // Multiples of eight, except for the rest, which the last thread takes.
      const std::size_t share = count_ / threads / 8 * 8;
      work(thread, which * share, which + 1 == threads ? count_ - which * share : share);
    });
  }

  ThreadTeam& team_;
  std::size_t count_;
  std::array<std::unique_ptr<double[]>, 3> arrays_;  // length count_ each
  std::vector<double> sums_;                         // one per thread, each on a cache line of its own
};

template <class Pass>
double best_seconds(Pass pass) {
  double best = 1e300;
  const Stopwatch all;
  for (int number = 0; number < most_passes && (number < least_passes || all.seconds() < seconds_each);
       ++number) {
    const Stopwatch one;
    pass();
    best = std::min(best, one.seconds());
  }
  return std::max(best, 1e-9);
}

}  // namespace

offset_t fitting_array_bytes(offset_t cache_bytes, offset_t memory_bytes) {
  constexpr offset_t mebibyte = offset_t{1} << 20;
  const offset_t wanted = std::clamp(4 * cache_bytes, 192 * mebibyte, 768 * mebibyte);
  // Whole mebibytes: the size is part of the name under which figures are stored.
  return std::max(64 * mebibyte, std::min(wanted, memory_bytes / 8)) / 3 / mebibyte * mebibyte;
}

Bandwidth measure_bandwidth(ThreadTeam& team, offset_t array_bytes) {
  Arrays arrays(team, array_bytes);
  Bandwidth result;
  result.read_gbs = 24e-9 * arrays.entries() / best_seconds([&] { arrays.sum_pass(); });
  result.stream_gbs = 24e-9 * arrays.entries() / best_seconds([&] { arrays.triad_pass(); });
  volatile double evidence = arrays.evidence();
  (void)evidence;
  return result;
}

}  // namespace palmette
