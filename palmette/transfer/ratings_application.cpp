// ALS by gradient steps: factors of users are improved with those of items fixed, and the other way round.
#include <array>

#include "palmette/transfer/application_answers.hpp"

namespace palmette::transfer {
namespace {

constexpr std::size_t width = 16, ratings_each = 8;
constexpr float largest_rating = 5;

/// Ratings by row. Rows are users in one half step and items in the other.
struct RatingRows {
  std::size_t columns = 0;
  std::vector<std::size_t> begin{0};  ///< by row
  std::vector<std::uint32_t> column;
  std::vector<float> value;
  std::size_t rows() const { return begin.size() - 1; }
};

RatingRows generated_rows(std::size_t count, std::uint64_t seed, int half) {
  RatingRows rows{count, {0}, {}, {}};
  const auto shift = static_cast<std::uint64_t>(half);
  for (std::size_t k = 0; k < count * ratings_each; ++k) {
    const double draw = random_fraction(seed + 100 + shift, k) * static_cast<double>(count);
    rows.column.push_back(static_cast<std::uint32_t>(std::min(count - 1, static_cast<std::size_t>(draw))));
    rows.value.push_back(1.0f + 4.0f * static_cast<float>(random_fraction(seed + 200 + shift, k)));
    if ((k + 1) % ratings_each == 0) rows.begin.push_back(k + 1);
  }
  return rows;
}

/// The first ratings of a list, scaled so that steps of one size suit all lists.
RatingRows given_rows(const Ratings& ratings, std::size_t count, int half) {
  RatingRows rows{half == 0 ? ratings.items : ratings.users, {}, {}, {}};
  rows.begin.assign((half == 0 ? ratings.users : ratings.items) + std::size_t{1}, 0);
  float largest = 0;
  for (const Rating& one : ratings.list) largest = std::max(largest, std::abs(one.value));
  const float factor = largest > 0 ? largest_rating / largest : 1;
  for (std::size_t k = 0; k < count; ++k)
    ++rows.begin[(half == 0 ? ratings.list[k].user : ratings.list[k].item) + std::size_t{1}];
  for (std::size_t row = 0; row < rows.rows(); ++row) rows.begin[row + 1] += rows.begin[row];
  rows.column.resize(count);
  rows.value.resize(count);
  std::vector<std::size_t> next = rows.begin;
  for (std::size_t k = 0; k < count; ++k) {
    const Rating& one = ratings.list[k];
    const std::size_t at = next[half == 0 ? one.user : one.item]++;
    rows.column[at] = half == 0 ? one.item : one.user;
    rows.value[at] = factor * one.value;
  }
  return rows;
}

using Sides = std::array<RatingRows, 2>;

Sides sides_of(const ApplicationOptions& options) {
  if (!options.ratings) {
    const std::size_t count = scaled(1 << 12, options);
    return {generated_rows(count, options.seed, 0), generated_rows(count, options.seed, 1)};
  }
  const auto all = static_cast<double>(options.ratings->list.size());
  const auto count = static_cast<std::size_t>(std::max(1.0, all * std::min(1.0, options.scale)));
  return {given_rows(*options.ratings, count, 0), given_rows(*options.ratings, count, 1)};
}

/// One gradient step of a row for one rating.
void gradient_step(std::array<float, width>& row, const std::array<float, width>& other, float rating) {
  float error = rating;
  for (std::size_t k = 0; k < width; ++k) error -= row[k] * other[k];
  for (std::size_t k = 0; k < width; ++k) row[k] += 0.05f * (error * other[k] - 0.02f * row[k]);
}

float first_factor(int half, std::size_t k) {
  return static_cast<float>(0.1 + 0.3 * random_fraction(static_cast<std::uint64_t>(40 + half), k));
}

using Factors = std::array<std::vector<float>, 2>;

Factors first_factors(const Sides& sides) {
  Factors factor;
  for (int half = 0; half < 2; ++half)
    for (std::size_t k = 0; k < sides[half].rows() * width; ++k)
      factor[half].push_back(first_factor(half, k));
  return factor;
}

Factors serial_als(const Sides& sides, int iterations) {
  Factors factor = first_factors(sides);
  for (int step = 0; step < 2 * iterations; ++step) {
    const RatingRows& rows = sides[step % 2];
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      std::array<float, width> own, other;
      std::copy_n(&factor[step % 2][row * width], width, own.begin());
      for (std::size_t at = rows.begin[row]; at < rows.begin[row + 1]; ++at) {
        std::copy_n(&factor[1 - step % 2][rows.column[at] * width], width, other.begin());
        gradient_step(own, other, rows.value[at]);
      }
      std::copy_n(own.begin(), width, &factor[step % 2][row * width]);
    }
  }
  return factor;
}

/// A half step of one device: each of its rows is stored after each of its ratings.
void improve(KernelRecorder& kernel, const RatingRows& rows, const SharedArray<float>& factor,
             const SharedArray<float>& fixed, bool is_first) {
  const Part own = part_of(rows.rows(), kernel.device(), kernel.devices());
  for (std::size_t row = own.begin; row < own.end; ++row) {
    kernel.thread(row - own.begin);
    std::array<float, width> mine, other;
    for (std::size_t k = 0; k < width; ++k) mine[k] = kernel.read(factor, row * width + k);
    for (std::size_t at = rows.begin[row]; at < rows.begin[row + 1]; ++at) {
      const std::size_t column = rows.column[at];
      const bool is_local = is_first || owner_of(column, rows.columns, kernel.devices()) == kernel.device();
      for (std::size_t k = 0; k < width; ++k)
        other[k] = is_local ? kernel.read(fixed, column * width + k) : kernel.load(fixed, column * width + k);
      gradient_step(mine, other, rows.value[at]);
      for (std::size_t k = 0; k < width; ++k) kernel.store(factor, row * width + k, mine[k], kernel.others());
    }
  }
  // Scattered: a sector for each entry, of both factors.
  kernel.work(static_cast<double>(rows.begin[own.end] - rows.begin[own.begin]) * width * 64);
  kernel.copy(factor, own.begin * width, own.end * width, kernel.others());
}

}  // namespace

ApplicationRun run_als(const ApplicationOptions& options) {
  const Sides sides = sides_of(options);
  const int iterations = iterations_of(options, 1);
  DeviceWorld world("als", options.devices);
  const SharedArray<float> factor[2] = {world.array<float>(sides[0].rows() * width),
                                        world.array<float>(sides[1].rows() * width)};
  const Factors first = first_factors(sides);
  for (int half = 0; half < 2; ++half) world.fill(factor[half], first[half]);
  for (int step = 0; step < 2 * iterations; ++step)
    world.phase([&](KernelRecorder& kernel) {
      improve(kernel, sides[step % 2], factor[step % 2], factor[1 - step % 2], step == 0);
    });
  const Factors serial = serial_als(sides, iterations);
  AnswerCheck check;
  for (int half = 0; half < 2; ++half)
    for (std::size_t k = 0; k < serial[half].size(); ++k)
      check.compare(world.value(0, factor[half], k), serial[half][k]);
  return {world.take_trace(), check.error()};
}

}  // namespace palmette::transfer
