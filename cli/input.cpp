// Reads matrices and right-hand sides, and rejects those that do not fit before anything is computed.
#include "cli/input.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "cli/names.hpp"
#include "palmette/base/base.hpp"

namespace palmette::cli {
namespace {

std::string read_standard_input() {
  std::string text, chunk(std::size_t{1} << 20, '\0');
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), stdin))
    text.append(chunk, 0, count);
  if (std::ferror(stdin)) throw IoError("standard input", 0, std::strerror(errno));
  return text;
}

/// The same numbers on every machine, unlike the distributions of the standard library.
class RandomFigures {
 public:
  explicit RandomFigures(std::uint64_t seed) : stream_(seed) {}
  /// Uniform in [−1, 1).
  double next() {
    return static_cast<double>(stream_.next() >> 11) * 0x1p-52 - 1.0;
  }

 private:
  SplitMix64 stream_;
};

template <class T>
void fill_random(DenseMatrix<T>& matrix, std::uint64_t seed) {
  RandomFigures figures(seed);
  for (T& value : matrix.values) {
    const auto real = static_cast<real_t<T>>(figures.next());
    if constexpr (is_complex_v<T>) value = T(real, static_cast<real_t<T>>(figures.next()));
    else value = real;
  }
}

/// The first columns of a file's right-hand sides in another scalar type.
template <class T, class From>
DenseMatrix<T> converted(const DenseMatrix<From>& from, index_t columns) {
  DenseMatrix<T> to(from.rows, columns);
  for (std::size_t place = 0; place < to.values.size(); ++place) {
    const From& value = from.values[place];
    if constexpr (is_complex_v<From> && is_complex_v<T>)
      to.values[place] = T(static_cast<real_t<T>>(value.real()), static_cast<real_t<T>>(value.imag()));
    else if constexpr (!is_complex_v<From>)
      to.values[place] = T(static_cast<real_t<T>>(value));
  }
  return to;
}

template <class T, class From>
AnyMatrix moved_or_converted(SparseMatrix<From>&& matrix) {
  if constexpr (std::is_same_v<T, From>) return std::move(matrix);
  else if constexpr (is_complex_v<From> && !is_complex_v<T>) return std::move(matrix);  // never requested
  else return convert<T>(matrix);
}

}  // namespace

ReadResult read_input(const MatrixOptions& options, int threads, ProgressBar& progress) {
  progress.begin("read");
  ReadOptions read;
  read.pattern_values = options.pattern_values;
  read.threads = number_of_threads(threads);
  read.progress = progress.callback();
  if (options.path == "-") return read_matrix_text(read_standard_input(), "standard input", read);
  return read_matrix(options.path, read);
}

RightHandSide::RightHandSide(const SolvingOptions& options) : text_(options.rhs) {
  num_rhs_ = options.num_rhs.value_or(1);
  if (text_ == "ones") return;
  if (text_ == "random" || text_.compare(0, 7, "random:") == 0) {
    seed_ = text_ == "random" ? 1
                              : parse_integer("the seed of --rhs random:SEED",
                                              std::string_view(text_).substr(7), 0, INT64_MAX);
    return;
  }
  file_ = text_ == "-" ? read_dense_text(read_standard_input(), "standard input") : read_dense(text_);
  if (!options.num_rhs) num_rhs_ = std::visit([](const auto& dense) { return dense.cols; }, *file_);
}

bool RightHandSide::is_complex() const {
  return file_ && std::visit([]<class T>(const DenseMatrix<T>&) { return is_complex_v<T>; }, *file_);
}

void RightHandSide::check(index_t n) const {
  if (!file_) return;
  const auto [rows, cols] =
      std::visit([](const auto& dense) { return std::pair(dense.rows, dense.cols); }, *file_);
  if (rows != n)
    throw DimensionError(
        fmt::format("the right-hand side '{}' has {}, but the matrix has {}; give one with {}", text_,
                    fmt::format("{} rows", rows), fmt::format("{} rows", n), fmt::format("{} rows", n)));
  if (num_rhs_ > cols)
    throw DimensionError(
        fmt::format("--num-rhs {} is more than the {} columns of '{}'; use at most {}", num_rhs_,
                    cols, text_, cols));
}

template <class T>
DenseMatrix<T> RightHandSide::make(index_t n) const {
  check(n);
  if (file_) return std::visit([this](const auto& dense) { return converted<T>(dense, num_rhs_); }, *file_);
  DenseMatrix<T> rhs(n, num_rhs_);
  if (seed_) fill_random(rhs, *seed_);
  else rhs.values.assign(rhs.values.size(), T(1));
  return rhs;
}

#define PALMETTE_INSTANTIATE(T) template DenseMatrix<T> RightHandSide::make(index_t) const;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

AnyMatrix with_scalar(AnyMatrix matrix, bool is_complex, bool is_single) {
  return std::visit(
      [&]<class T>(SparseMatrix<T>&& held) -> AnyMatrix {
        const bool becomes_complex = is_complex || is_complex_v<T>;
        if (becomes_complex && is_single) return moved_or_converted<std::complex<float>>(std::move(held));
        if (becomes_complex) return moved_or_converted<std::complex<double>>(std::move(held));
        if (is_single) return moved_or_converted<float>(std::move(held));
        return moved_or_converted<double>(std::move(held));
      },
      std::move(matrix));
}

void check_square(const ReadResult& input, const std::string& path, const std::string& command) {
  if (input.header.rows == input.header.cols) return;
  throw DimensionError(
      fmt::format("{} needs a square matrix, but '{}' has {} rows and {} columns; least-squares problems are "
                  "not solved here",
                  command, path, input.header.rows, input.header.cols));
}

OrderChoice order_choice(const std::string& text, index_t n) {
  OrderChoice choice;
  if (const auto method = ordering_by_name(text)) {
    choice.method = *method;
    return choice;
  }
  choice.method = OrderingMethod::user;
  choice.user = read_permutation(text);
  if (choice.user.size() != n)
    throw DimensionError(fmt::format(
        "the ordering '{}' has {} entries, but the matrix has {} rows; give one entry for each row", text,
        choice.user.size(), n));
  return choice;
}

SolverOptions unmeasured_options(const KindAndOrder& how, index_t n, int threads, ProgressBar& progress) {
  OrderChoice choice = order_choice(how.order, n);
  SolverOptions options;
  options.kind = how.kind;
  options.ordering = choice.method;
  options.user_ordering = std::move(choice.user);
  options.threads = threads;
  options.measure = false;
  options.progress = progress.callback();
  return options;
}

}  // namespace palmette::cli
