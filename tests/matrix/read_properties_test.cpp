// Properties of every file: the number of threads does not change the matrix, and a damaged file gives one of
// our own errors or a well-formed matrix.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/matrix/expect_matrix.hpp"

namespace palmette {
namespace {

using testing_matrix::expect_same_bits;
using testing_matrix::file_text;
using Complex = std::complex<double>;

/// A body of several blocks, with duplicates, comments and blank lines in between.
std::string large_text(const std::string& kind, int entries, int values, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string text =
      "%%MatrixMarket matrix coordinate " + kind + "\n700 700 " + std::to_string(entries) + "\n";
  for (int entry = 0; entry < entries; ++entry) {
    auto row = random() % 700 + 1;
    auto column = random() % 700 + 1;
    if (row == column) row = row % 700 + 1;
    if (kind.find("general") == std::string::npos && row < column) std::swap(row, column);
    text += std::to_string(row);
    text.push_back(' ');
    text += std::to_string(column);
    for (int value = 0; value < values; ++value) {
      text.push_back(' ');
      text += std::to_string(static_cast<double>(random() % 2000001) / 1000.0 - 1000.0);
    }
    text.push_back('\n');
    if (random() % 500 == 0) text += "\n% between the entries\n";
  }
  return text;
}

template <class T>
void expect_same_for_all_threads(const std::string& text) {
  ReadOptions options;
  const auto one = std::get<SparseMatrix<T>>(read_matrix_text(text, "t", options).matrix);
  EXPECT_NO_THROW(check_matrix(one));
  for (const int threads : {0, 2, 3, 4, 5, 6, 7, 8}) {
    options.threads = threads;
    expect_same_bits(std::get<SparseMatrix<T>>(read_matrix_text(text, "t", options).matrix), one);
  }
}

TEST(read_properties, any_number_of_threads_gives_the_same_matrix) {
  expect_same_for_all_threads<double>(large_text("real general", 300000, 1, 1));
  expect_same_for_all_threads<double>(large_text("real symmetric", 80000, 1, 2));
  expect_same_for_all_threads<double>(large_text("real skew-symmetric", 80000, 1, 3));
  expect_same_for_all_threads<double>(large_text("pattern general", 100000, 0, 4));
  expect_same_for_all_threads<Complex>(large_text("complex hermitian", 60000, 2, 5));
}

struct Line {
  int row, column;
  std::string text;
};

/// Lines in which each place occurs about twice; a stable sort keeps the order of equal places.
std::vector<Line> lines_with_duplicates() {
  std::mt19937_64 random(6);
  std::vector<Line> lines;
  for (int entry = 0; entry < 20000; ++entry) {
    Line line{static_cast<int>(random() % 90 + 1), static_cast<int>(random() % 110 + 1), {}};
    line.text = std::to_string(line.row) + ' ' + std::to_string(line.column) + ' ' +
                std::to_string(static_cast<double>(random() % 2000001) / 1000.0 - 1000.0) + '\n';
    lines.push_back(std::move(line));
  }
  return lines;
}

SparseMatrix<double> matrix_of(const std::vector<Line>& lines) {
  std::string text =
      "%%MatrixMarket matrix coordinate real general\n90 110 " + std::to_string(lines.size()) + "\n";
  for (const Line& line : lines) text += line.text;
  return std::get<SparseMatrix<double>>(read_matrix_text(text, "t").matrix);
}

TEST(read_properties, columns_in_order_rows_in_order_or_neither_give_the_same_matrix) {
  std::vector<Line> lines = lines_with_duplicates();
  const SparseMatrix<double> shuffled = matrix_of(lines);
  EXPECT_NO_THROW(check_matrix(shuffled));
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& one, const Line& other) { return one.row < other.row; });
  expect_same_bits(matrix_of(lines), shuffled);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& one, const Line& other) { return one.column < other.column; });
  expect_same_bits(matrix_of(lines), shuffled);
}

TEST(read_properties, symmetric_files_give_the_symmetry_they_promise) {
  const auto detected = [](const std::string& text) {
    return std::visit([](const auto& matrix) { return detect_symmetry(matrix); },
                      read_matrix_text(text, "t").matrix);
  };
  EXPECT_EQ(detected(large_text("real symmetric", 20000, 1, 6)), Symmetry::symmetric);
  EXPECT_EQ(detected(large_text("real skew-symmetric", 20000, 1, 7)), Symmetry::skew);
  EXPECT_EQ(detected(large_text("complex symmetric", 20000, 2, 8)), Symmetry::symmetric);
  EXPECT_EQ(detected(large_text("complex hermitian", 20000, 2, 9)), Symmetry::hermitian);
  EXPECT_EQ(detected(large_text("complex skew-symmetric", 20000, 2, 10)), Symmetry::skew);
}

TEST(read_properties, entries_of_the_upper_triangle_are_mirrored_too) {
  const auto matrix = std::get<SparseMatrix<double>>(
      read_matrix_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 3\n2 2 1\n", "t").matrix);
  EXPECT_EQ(testing_matrix::dense_rows(matrix), (std::vector<std::vector<double>>{{0, 3}, {3, 1}}));
}

TEST(read_properties, pattern_entries_that_stand_twice_are_one) {
  const auto matrix = std::get<SparseMatrix<double>>(
      read_matrix_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 3\n1 2\n2 1\n2 2\n", "t")
          .matrix);
  EXPECT_EQ(testing_matrix::dense_rows(matrix), (std::vector<std::vector<double>>{{0, 1}, {1, 1}}));
}

TEST(read_properties, progress_rises_to_the_end_and_comes_from_the_calling_thread) {
  ReadOptions options;
  options.threads = 4;
  std::vector<double> fractions;
  options.progress = [&](std::string_view phase, double fraction) {
    EXPECT_EQ(phase, "read");
    fractions.push_back(fraction);
  };
  read_matrix_text(large_text("real general", 300000, 1, 1), "t", options);
  ASSERT_GE(fractions.size(), 2u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GT(fractions.back(), 0.9);
  EXPECT_LE(fractions.back(), 1.0);
}

TEST(read_properties, a_progress_callback_that_throws_stops_the_reading) {
  ReadOptions options;
  options.progress = [](std::string_view, double) { throw UsageError("stopped by the caller"); };
  EXPECT_THROW(read_matrix_text(large_text("real general", 1000, 1, 1), "t", options), UsageError);
}

TEST(read_properties, lines_longer_than_any_buffer_are_read) {
  const std::string blanks(300000, ' ');
  const std::string text = "%%MatrixMarket matrix coordinate real general" + blanks + "\n%" + blanks +
                           "\n1 1 1" + blanks + "\n1" + blanks + blanks + blanks + "1 2.5";
  EXPECT_EQ(std::get<SparseMatrix<double>>(read_matrix_text(text, "t").matrix).values,
            std::vector<double>{2.5});
}

std::vector<std::string> seed_texts() {
  std::vector<std::string> texts;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PALMETTE_DATA_FOLDER))
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());  // the order of a folder is not the same everywhere
  for (const std::string& path : paths)
    if (path.find("SOURCES") == std::string::npos) texts.push_back(file_text(path));
  return texts;
}

/// One to four random changes: bytes replaced, deleted, doubled, cut off, or a number made absurd.
std::string mutated(std::string text, std::mt19937_64& random) {
  static const char* const words[] = {
      "2147483647", "-1", "0", "99999999999999999999", "nan", "1e999", "\n", " ", "%", "(", "9I9", "E"};
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int change = 0; change < changes && !text.empty(); ++change) {
    const std::size_t place = random() % text.size();
    switch (random() % 6) {
      case 0: text[place] = static_cast<char>(random() % 256); break;
      case 1: text[place] = static_cast<char>('0' + random() % 10); break;
      case 2: text.erase(place, 1 + random() % 8); break;
      case 3: text.insert(place, text.substr(random() % text.size(), 1 + random() % 12)); break;
      case 4: text.resize(place); break;
      default: text.insert(place, words[random() % (sizeof words / sizeof words[0])]);
    }
  }
  return text;
}

TEST(read_properties, twenty_thousand_damaged_files_are_refused_or_give_well_formed_matrices) {
  const std::vector<std::string> seeds = seed_texts();
  ASSERT_GE(seeds.size(), 30u);
  std::mt19937_64 random(20240601);
  int refused = 0;
  int accepted = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    const std::string text = mutated(seeds[random() % seeds.size()], random);
    try {
      const ReadResult result = read_matrix_text(text, "mutant");
      std::visit([](const auto& matrix) { ASSERT_NO_THROW(check_matrix(matrix)); }, result.matrix);
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
    try {
      read_dense_text(text, "mutant");
    } catch (const Error&) {
    }
  }
  // Both must happen often, or the test is void.
  EXPECT_GT(refused, 5000);
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace palmette
