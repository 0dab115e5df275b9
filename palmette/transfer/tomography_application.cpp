// Computed tomography with a fan beam: penalized weighted least squares with ordered subsets of views. In one
// phase devices share the rays of a subset, in the next one the pixels; each needs all of the other.
#include <functional>
#include <memory>

#include "palmette/transfer/application_answers.hpp"

namespace palmette::transfer {
namespace {

constexpr int subsets = 4;

/// A source on a circle, and a flat detector on the other side; the image is the square [−1, 1]².
struct FanBeam {
  std::size_t side, views, rays;

  struct Point {
    double x, y;
  };
  Point source(std::size_t view) const {
    const double angle = 2 * M_PI * static_cast<double>(view) / static_cast<double>(views);
    return {3 * std::cos(angle), 3 * std::sin(angle)};
  }
  /// Where a ray's line meets the plane through the centre, as a distance from it.
  double offset(std::size_t ray) const {
    return 3 * ((static_cast<double>(ray) + 0.5) / static_cast<double>(rays) - 0.5);
  }
  /// Call visit(pixel) at steps along a ray. @returns the length of a step
  template <class Visit>
  double walk(std::size_t view, std::size_t ray, const Visit& visit) const {
    const Point from = source(view);
    const double u = offset(ray), across_x = -from.y / 3, across_y = from.x / 3;
    const double dx = u * across_x - from.x, dy = u * across_y - from.y,
                 length = std::sqrt(dx * dx + dy * dy);
    const double step = 2.0 / static_cast<double>(side);
    for (double t = 1; t < 5; t += step) {
      const double x = from.x + dx / length * t, y = from.y + dy / length * t;
      if (x <= -1 || x >= 1 || y <= -1 || y >= 1) continue;
      const auto column = static_cast<std::size_t>((x + 1) / 2 * static_cast<double>(side));
      const auto row = static_cast<std::size_t>((y + 1) / 2 * static_cast<double>(side));
      visit(std::min(row, side - 1) * side + std::min(column, side - 1));
    }
    return step;
  }
  /// The ray through a pixel, or `rays` if it misses the detector.
  std::size_t ray_through(std::size_t view, std::size_t pixel) const {
    const double x = 2 * (static_cast<double>(pixel % side) + 0.5) / static_cast<double>(side) - 1;
    const double y = 2 * (static_cast<double>(pixel / side) + 0.5) / static_cast<double>(side) - 1;
    const Point from = source(view);
    const double along = (from.x * x + from.y * y) / 3, across = (from.x * y - from.y * x) / 3;
    const double u = 3 * across / (3 - along);
    const double ray = (u / 3 + 0.5) * static_cast<double>(rays);
    return ray >= 0 && ray < static_cast<double>(rays) ? static_cast<std::size_t>(ray) : rays;
  }
  std::size_t views_of_subset() const { return views / subsets; }
  std::size_t view(int subset, std::size_t number) const {
    return number * subsets + static_cast<std::size_t>(subset);
  }
};

double phantom(const FanBeam& beam, std::size_t pixel) {
  const double x = 2.0 * static_cast<double>(pixel % beam.side) / static_cast<double>(beam.side) - 1;
  const double y = 2.0 * static_cast<double>(pixel / beam.side) / static_cast<double>(beam.side) - 1;
  const double r = x * x + y * y, inner = (x - 0.3) * (x - 0.3) + y * y;
  return (r < 0.64 ? 1.0 : 0.0) + (inner < 0.04 ? 0.5 : 0.0);
}

using Value = std::function<float(std::size_t)>;

/// Weighted difference of one ray's measurement and its projection.
float residual(const FanBeam& beam, std::size_t view, std::size_t ray, const Value& image) {
  double measured = 0, projected = 0;
  const double step = beam.walk(view, ray, [&](std::size_t pixel) {
    measured += phantom(beam, pixel);
    projected += image(pixel);
  });
  const double weight = std::exp(-0.2 * measured * step);
  return static_cast<float>(weight * (measured - projected) * step);
}

/// A pixel after a step along the residuals of a subset, and towards its neighbours.
float updated(const FanBeam& beam, int subset, std::size_t pixel, const Value& image,
              const Value& residuals) {
  double sum = 0;
  for (std::size_t k = 0; k < beam.views_of_subset(); ++k) {
    const std::size_t ray = beam.ray_through(beam.view(subset, k), pixel);
    if (ray < beam.rays) sum += residuals(k * beam.rays + ray);
  }
  const std::size_t row = pixel / beam.side, column = pixel % beam.side;
  double penalty = 0;
  const double here = image(pixel);
  if (row > 0) penalty += image(pixel - beam.side) - here;
  if (row + 1 < beam.side) penalty += image(pixel + beam.side) - here;
  if (column > 0) penalty += image(pixel - 1) - here;
  if (column + 1 < beam.side) penalty += image(pixel + 1) - here;
  return static_cast<float>(here + 0.5 * sum / static_cast<double>(beam.views_of_subset()) + 0.01 * penalty);
}

/// A cache on the chip: each value is loaded once in a phase.
Value loaded_once(KernelRecorder& kernel, const SharedArray<float>& array, Part own) {
  auto seen = std::make_shared<std::vector<bool>>(array.count);
  return [&kernel, array, own, seen](std::size_t k) {
    if ((*seen)[k] || (k >= own.begin && k < own.end)) return kernel.read(array, k);
    (*seen)[k] = true;
    return kernel.load(array, k);
  };
}

std::vector<float> serial_ct(const FanBeam& beam, int iterations) {
  std::vector<float> image(beam.side * beam.side), next = image;
  std::vector<float> residuals(beam.views_of_subset() * beam.rays);
  const Value at_image = [&](std::size_t k) { return image[k]; };
  const Value at_residuals = [&](std::size_t k) { return residuals[k]; };
  for (int step = 0; step < iterations * subsets; ++step) {
    const int subset = step % subsets;
    for (std::size_t k = 0; k < residuals.size(); ++k)
      residuals[k] = residual(beam, beam.view(subset, k / beam.rays), k % beam.rays, at_image);
    for (std::size_t pixel = 0; pixel < image.size(); ++pixel)
      next[pixel] = updated(beam, subset, pixel, at_image, at_residuals);
    image.swap(next);
  }
  return image;
}

}  // namespace

ApplicationRun run_ct(const ApplicationOptions& options) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(scaled(128 * 128, options))));
  const FanBeam beam{side, 96, side + side / 2};
  const int iterations = iterations_of(options, 1);
  constexpr std::size_t tile = 16;  // pixels of a thread, next to each other
  DeviceWorld world("ct", options.devices);
  SharedArray<float> image = world.array<float>(side * side), next = world.array<float>(side * side);
  const SharedArray<float> residuals = world.array<float>(beam.views_of_subset() * beam.rays);
  for (int step = 0; step < iterations * subsets; ++step) {
    const int subset = step % subsets;
    world.phase([&](KernelRecorder& kernel) {
      const Part own = part_of(residuals.count, kernel.device(), kernel.devices());
      const Part pixels = part_of(image.count, kernel.device(), kernel.devices());
      const Value at_image = loaded_once(kernel, image, pixels);
      for (std::size_t k = own.begin; k < own.end; ++k) {
        kernel.thread(k - own.begin);
        const std::size_t view = beam.view(subset, k / beam.rays);
        kernel.store(residuals, k, residual(beam, view, k % beam.rays, at_image), kernel.others());
      }
      kernel.work(static_cast<double>((own.end - own.begin) * side) * 32);  // a sector for each step of a ray
      kernel.copy(residuals, own.begin, own.end, kernel.others());
    });
    world.phase([&](KernelRecorder& kernel) {
      const Part own = part_of(image.count, kernel.device(), kernel.devices());
      const Part rays = part_of(residuals.count, kernel.device(), kernel.devices());
      const Value at_image = loaded_once(kernel, image, own), at_rays = loaded_once(kernel, residuals, rays);
      for (std::size_t pixel = own.begin; pixel < own.end; ++pixel) {
        if ((pixel - own.begin) % tile == 0) kernel.thread((pixel - own.begin) / tile);
        kernel.store(next, pixel, updated(beam, subset, pixel, at_image, at_rays), kernel.others());
      }
      kernel.work(static_cast<double>((own.end - own.begin) * (beam.views_of_subset() + 5)) * 32);
      kernel.copy(next, own.begin, own.end, kernel.others());
    });
    std::swap(image, next);
  }
  const std::vector<float> serial = serial_ct(beam, iterations);
  AnswerCheck check;
  for (int device = 0; device < options.devices; ++device)
    for (std::size_t k = 0; k < serial.size(); ++k) check.compare(world.value(device, image, k), serial[k]);
  return {world.take_trace(), check.error()};
}

}  // namespace palmette::transfer
