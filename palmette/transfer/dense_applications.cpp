// Applications with regular patterns: Jacobi, diffusion, transpose, and rows of a triangle.
#include <array>

#include "palmette/transfer/application_answers.hpp"

namespace palmette::transfer {
namespace {

// ---- Jacobi: (4b + 1) x_i − Σ over b neighbours on each side = b_i ----
constexpr int half_band = 16;

double jacobi_row(std::size_t row, std::size_t n, const std::function<double(std::size_t)>& x) {
  const std::size_t from = row < half_band ? 0 : row - half_band, end = std::min(n, row + half_band + 1);
  double sum = 1.0 + static_cast<double>(row % 7);
  for (std::size_t k = from; k < end; ++k)
    if (k != row) sum += x(k);
  return sum / (4 * half_band + 1);
}

std::vector<double> serial_jacobi(std::size_t n, int iterations) {
  std::vector<double> x(n), next(n);
  for (int step = 0; step < iterations; ++step) {
    for (std::size_t row = 0; row < n; ++row)
      next[row] = jacobi_row(row, n, [&](std::size_t k) { return x[k]; });
    x.swap(next);
  }
  return x;
}

// ---- diffusion on a plane with fixed edges ----
double diffused(const std::array<double, 5>& u) {
  return u[0] + 0.2 * (u[1] + u[2] + u[3] + u[4] - 4 * u[0]);
}

double first_heat(std::size_t k) {
  return random_fraction(3, k);
}

std::vector<double> serial_diffusion(std::size_t side, int iterations) {
  std::vector<double> u(side * side);
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = first_heat(k);
  std::vector<double> next = u;
  for (int step = 0; step < iterations; ++step) {
    for (std::size_t y = 1; y + 1 < side; ++y)
      for (std::size_t x = 1; x + 1 < side; ++x) {
        const std::size_t k = y * side + x;
        next[k] = diffused({u[k], u[k - side], u[k - 1], u[k + 1], u[k + side]});
      }
    u.swap(next);
  }
  return u;
}

// ---- rows of a triangle: x_i = (b_i − x_left − x_below − x_behind) / 4 on a cube ----
struct Cube {
  std::size_t side;
  std::size_t size() const { return side * side * side; }
  std::size_t level(std::size_t k) const { return k % side + k / side % side + k / side / side; }
  /// Rows that row k needs.
  std::vector<std::size_t> needs(std::size_t k) const {
    std::vector<std::size_t> rows;
    if (k % side > 0) rows.push_back(k - 1);
    if (k / side % side > 0) rows.push_back(k - side);
    if (k / side / side > 0) rows.push_back(k - side * side);
    return rows;
  }
};
constexpr std::size_t rows_of_a_turn = 32;  // rows go to devices in turns of so many

}  // namespace

ApplicationRun run_jacobi(const ApplicationOptions& options) {
  const std::size_t n = scaled(1 << 18, options);
  const int iterations = iterations_of(options, 4);
  DeviceWorld world("jacobi", options.devices);
  SharedArray<double> x = world.array<double>(n), next = world.array<double>(n);
  for (int step = 0; step < iterations; ++step) {
    world.phase([&](KernelRecorder& kernel) {
      const Part own = part_of(n, kernel.device(), kernel.devices());
      for (std::size_t row = own.begin; row < own.end; ++row) {
        kernel.thread(row - own.begin);
        const double value = jacobi_row(row, n, [&](std::size_t k) {
          return k < own.begin || k >= own.end ? kernel.load(x, k) : kernel.read(x, k);
        });
        kernel.store(next, row, value, kernel.others());
      }
      kernel.work(static_cast<double>(own.end - own.begin) * ((2 * half_band + 1) * 12 + 24));
      kernel.copy(next, own.begin, own.end, kernel.others());
    });
    std::swap(x, next);
  }
  const std::vector<double> serial = serial_jacobi(n, iterations);
  AnswerCheck check;
  for (int device = 0; device < options.devices; ++device)
    for (std::size_t k = 0; k < n; ++k) check.compare(world.value(device, x, k), serial[k]);
  return {world.take_trace(), check.error()};
}

ApplicationRun run_diffusion(const ApplicationOptions& options) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(scaled(512 * 512, options))));
  const int iterations = iterations_of(options, 4);
  DeviceWorld world("diffusion", options.devices);
  SharedArray<double> u = world.array<double>(side * side), next = world.array<double>(side * side);
  std::vector<double> first(side * side);
  for (std::size_t k = 0; k < first.size(); ++k) first[k] = first_heat(k);
  world.fill(u, first);
  world.fill(next, first);
  for (int step = 0; step < iterations; ++step) {
    world.phase([&](KernelRecorder& kernel) {
      const Part own = part_of(side, kernel.device(), kernel.devices());
      const DeviceSet before = kernel.device() > 0 ? only(kernel.device() - 1) : DeviceSet{0};
      const DeviceSet behind =
          kernel.device() + 1 < kernel.devices() ? only(kernel.device() + 1) : DeviceSet{0};
      for (std::size_t y = std::max<std::size_t>(own.begin, 1); y < std::min(own.end, side - 1); ++y) {
        const DeviceSet to =
            static_cast<DeviceSet>((y == own.begin ? before : 0) | (y + 1 == own.end ? behind : 0));
        for (std::size_t at = 1; at + 1 < side; ++at) {
          const std::size_t k = y * side + at;
          kernel.thread(k - own.begin * side);
          const double up = y == own.begin ? kernel.load(u, k - side) : kernel.read(u, k - side);
          const double down = y + 1 == own.end ? kernel.load(u, k + side) : kernel.read(u, k + side);
          const double value =
              diffused({kernel.read(u, k), up, kernel.read(u, k - 1), kernel.read(u, k + 1), down});
          kernel.store(next, k, value, to);
        }
      }
      kernel.work(static_cast<double>((own.end - own.begin) * side) * 48);
      kernel.copy(next, own.begin * side, (own.begin + 1) * side, before);
      kernel.copy(next, (own.end - 1) * side, own.end * side, behind);
    });
    std::swap(u, next);
  }
  const std::vector<double> serial = serial_diffusion(side, iterations);
  AnswerCheck check;
  for (std::size_t k = 0; k < serial.size(); ++k)
    check.compare(world.value(owner_of(k / side, side, options.devices), u, k), serial[k]);
  return {world.take_trace(), check.error()};
}

ApplicationRun run_transpose(const ApplicationOptions& options) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(scaled(512 * 512, options))));
  const int iterations = iterations_of(options, 2);
  DeviceWorld world("transpose", options.devices);
  SharedArray<double> a = world.array<double>(side * side), b = world.array<double>(side * side);
  std::vector<double> serial(side * side);
  for (std::size_t k = 0; k < serial.size(); ++k) serial[k] = random_fraction(options.seed, k);
  world.fill(a, serial);
  for (int step = 0; step < iterations; ++step) {
    world.phase([&](KernelRecorder& kernel) {
      const Part own = part_of(side, kernel.device(), kernel.devices());
      // Lanes lie along rows, so that what they store is contiguous in the transposed matrix.
      for (std::size_t column = 0; column < side; ++column)
        for (std::size_t row = own.begin; row < own.end; ++row) {
          const int owner = owner_of(column, side, kernel.devices());
          kernel.thread(column * (own.end - own.begin) + row - own.begin);
          const bool is_local = step == 0 || owner == kernel.device();
          const double value =
              is_local ? kernel.read(a, row * side + column) : kernel.load(a, row * side + column);
          // Steps between transposes are of the kind of a transform along rows.
          kernel.store(b, column * side + row, 0.5 * value + 1, only(owner));
        }
      kernel.work(static_cast<double>((own.end - own.begin) * side) * 8 * 2 *
                  9);  // a radix-2 transform of a row
      for (std::size_t row = 0; row < side; ++row)
        kernel.copy(b, row * side + own.begin, row * side + own.end,
                    static_cast<DeviceSet>(only(owner_of(row, side, kernel.devices())) & kernel.others()));
    });
    std::swap(a, b);
    std::vector<double> next(serial.size());
    for (std::size_t k = 0; k < serial.size(); ++k) next[k % side * side + k / side] = 0.5 * serial[k] + 1;
    serial.swap(next);
  }
  AnswerCheck check;
  for (std::size_t k = 0; k < serial.size(); ++k)
    check.compare(world.value(owner_of(k / side, side, options.devices), a, k), serial[k]);
  return {world.take_trace(), check.error()};
}

ApplicationRun run_trisolve(const ApplicationOptions& options) {
  const Cube cube{
      static_cast<std::size_t>(std::cbrt(static_cast<double>(scaled(32 * 32 * 32, options))) + 0.5)};
  const auto rhs = [](std::size_t k) { return 1.0 + random_fraction(5, k); };
  const auto solved = [&](std::size_t k, double sum) { return (rhs(k) + sum) / 4; };
  DeviceWorld world("trisolve", options.devices);
  const SharedArray<double> x = world.array<double>(cube.size());
  const auto owner = [&](std::size_t k) { return static_cast<int>(k / rows_of_a_turn % options.devices); };
  std::vector<std::vector<std::size_t>> levels(3 * cube.side - 2);
  for (std::size_t k = 0; k < cube.size(); ++k) levels[cube.level(k)].push_back(k);
  for (const std::vector<std::size_t>& rows : levels)
    world.phase([&](KernelRecorder& kernel) {
      std::size_t thread = 0, copied = cube.size();
      for (const std::size_t k : rows) {
        if (owner(k) != kernel.device()) continue;
        kernel.thread(thread++);
        double sum = 0;
        for (const std::size_t need : cube.needs(k))
          sum += owner(need) == kernel.device() ? kernel.read(x, need) : kernel.load(x, need);
        kernel.store(x, k, solved(k, sum), kernel.others());
        kernel.work(4 * 12 + 24);
        // Copies take whole turns of rows, since the rows of a level lie scattered.
        const std::size_t turn = k / rows_of_a_turn;
        if (turn == copied) continue;
        kernel.copy(x, turn * rows_of_a_turn, std::min(cube.size(), (turn + 1) * rows_of_a_turn),
                    kernel.others());
        copied = turn;
      }
    });
  std::vector<double> serial(cube.size());
  AnswerCheck check;
  for (std::size_t k = 0; k < cube.size(); ++k) {
    double sum = 0;
    for (const std::size_t need : cube.needs(k)) sum += serial[need];
    serial[k] = solved(k, sum);
    for (int device = 0; device < options.devices; ++device)
      check.compare(world.value(device, x, k), serial[k]);
  }
  return {world.take_trace(), check.error()};
}

}  // namespace palmette::transfer
