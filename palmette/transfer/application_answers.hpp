// Inside `transfer`: what applications share. Their parts, random numbers, and the check of answers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "palmette/transfer/applications.hpp"
#include "palmette/transfer/device_world.hpp"

namespace palmette::transfer {

/// Items [begin, end) of `count` belong to a device.
struct Part {
  std::size_t begin = 0, end = 0;
};
inline Part part_of(std::size_t count, int device, int devices) {
  return {count * device / devices, count * (device + 1) / devices};
}
inline int owner_of(std::size_t item, std::size_t count, int devices) {
  int device = static_cast<int>(item * devices / count);
  while (item >= part_of(count, device, devices).end) ++device;
  return device;
}

/// A hash of two numbers, from 0 to 1.
inline double random_fraction(std::uint64_t seed, std::uint64_t number) {
  return static_cast<double>(mix_bits(seed * 0x9e3779b97f4a7c15ull + number) >> 11) * 0x1p-53;
}

/// Compares values in the images of the devices that own them with the serial answer.
class AnswerCheck {
 public:
  void compare(double found, double serial) {
    difference_ = std::isfinite(found) ? std::max(difference_, std::abs(found - serial)) : INFINITY;
    largest_ = std::max(largest_, std::abs(serial));
  }
  double error() const { return largest_ > 0 ? difference_ / largest_ : difference_; }

 private:
  double difference_ = 0, largest_ = 0;
};

inline std::size_t scaled(double size, const ApplicationOptions& options) {
  return static_cast<std::size_t>(std::max(64.0, size * options.scale));
}
inline int iterations_of(const ApplicationOptions& options, int usual) {
  return options.iterations > 0 ? options.iterations : usual;
}

ApplicationRun run_jacobi(const ApplicationOptions& options);
ApplicationRun run_pagerank(const ApplicationOptions& options);
ApplicationRun run_sssp(const ApplicationOptions& options);
ApplicationRun run_als(const ApplicationOptions& options);
ApplicationRun run_ct(const ApplicationOptions& options);
ApplicationRun run_diffusion(const ApplicationOptions& options);
ApplicationRun run_transpose(const ApplicationOptions& options);
ApplicationRun run_trisolve(const ApplicationOptions& options);

}  // namespace palmette::transfer
