// Malformed files: each is an IoError that names the file, the line and the reason.
#include "tests/matrix/expect_matrix.hpp"

namespace palmette {
namespace {

using testing_matrix::line_of_error;

std::int64_t bad_line(const std::string& text, const std::string& part, int threads = 1) {
  ReadOptions options;
  options.threads = threads;
  return line_of_error([&] { read_matrix_text(text, "bad.mtx", options); }, part);
}

const std::string real = "%%MatrixMarket matrix coordinate real general\n";

TEST(read_errors, message_begins_with_file_and_line) {
  try {
    read_matrix_text(real + "2 2 1\n3 1 1\n", "bad.mtx");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "bad.mtx:3: the row index 3 is outside 1 … 2");
    EXPECT_EQ(error.file(), "bad.mtx");
    EXPECT_EQ(error.line(), 3);
  }
}

TEST(read_errors, absent_files_and_folders_are_named) {
  EXPECT_EQ(
      line_of_error([] { read_matrix("/nowhere/at all.mtx"); }, "/nowhere/at all.mtx: cannot be opened"), 0);
  EXPECT_EQ(line_of_error([] { read_matrix(PALMETTE_DATA_FOLDER); }, "cannot be read"), 0);
  EXPECT_EQ(line_of_error([] { read_dense("/nowhere/b.mtx"); }, "cannot be opened"), 0);
  EXPECT_EQ(line_of_error([] { read_permutation("/nowhere/p.txt"); }, "cannot be opened"), 0);
}

TEST(read_errors, banner_is_checked_word_by_word) {
  EXPECT_EQ(bad_line("", "empty"), 0);
  EXPECT_EQ(bad_line("%MatrixMarket matrix coordinate real general\n1 1 0\n", "begins with %%MatrixMarket"),
            1);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate real\n1 1 0\n", "five words"), 1);
  EXPECT_EQ(bad_line("%%MatrixMarket vector coordinate real general\n1 1 0\n", "\"vector\""), 1);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix sparse real general\n1 1 0\n", "\"sparse\""), 1);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n", "\"quaternion\""), 1);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate real upper\n1 1 0\n", "\"upper\""), 1);
  EXPECT_EQ(
      bad_line("%%MatrixMarket matrix array pattern general\n1 1\n", "array cannot be of field pattern"), 1);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "no signs"), 1);
  EXPECT_EQ(bad_line("hello\nworld\n", "neither a Matrix Market file"), 2);
}

TEST(read_errors, size_line_is_checked) {
  EXPECT_EQ(bad_line(real, "ends before the size line"), 1);
  EXPECT_EQ(bad_line(real + "% only\n% comments\n", "ends before the size line"), 3);
  EXPECT_EQ(bad_line(real + "\n2 2\n", "three numbers"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1 1\n", "three numbers"), 2);
  EXPECT_EQ(bad_line(real + "2.0 2 1\n", "rows is \"2.0\""), 2);
  EXPECT_EQ(bad_line(real + "-2 2 1\n", "rows is \"-2\""), 2);
  EXPECT_EQ(bad_line(real + "2 x 1\n", "columns is \"x\""), 2);
  EXPECT_EQ(bad_line(real + "2147483648 2 1\n", "above 2147483647"), 2);
  EXPECT_EQ(bad_line(real + "2 99999999999999999999 1\n", "above 2147483647"), 2);
  EXPECT_EQ(bad_line(real + "2 2 99999999999999999999\n", "entries is"), 2);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array real general\n2 2 4\n", "two numbers"), 2);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", "must be square"), 2);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array complex hermitian\n% c\n3 2\n", "must be square"), 3);
}

TEST(read_errors, entry_lines_are_checked) {
  EXPECT_EQ(bad_line(real + "2 2 2\n1 1 1\n0 1 1\n", "row index 0 is outside 1 … 2"), 4);
  EXPECT_EQ(bad_line(real + "2 2 1\n-1 1 1\n", "row index -1"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 3 1\n", "column index 3"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 18446744073709551617 1\n", "column index"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1.5 1 1\n", "row index \"1.5\" is not an integer"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1+1 1\n", "expected 3 fields (row, column, value), found 2"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1\n", "expected 3 fields"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 1 1\n", "found 4"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 one\n", "\"one\" is not a number"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 1.5e\n", "\"1.5e\" is not a number"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 0x10\n", "\"0x10\" is not a number"), 3);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 1,5\n", "\"1,5\" is not a number"), 3);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1\n", "expected 4 fields"),
            3);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "expected 2 fields"),
            3);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", "not an integer"),
            3);
}

TEST(read_errors, values_that_are_not_finite_are_refused) {
  for (const char* value : {"nan", "NaN", "-inf", "Infinity", "1e309", "-1e999999999"})
    EXPECT_EQ(bad_line(real + "2 2 1\n1 1 " + value + "\n", "is not finite"), 3) << value;
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array real general\n2 1\n1\ninf\n", "is not finite"), 4);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 0 nan\n", "is not finite"),
            3);
  EXPECT_EQ(bad_line(real + "1 1 2\n1 1 1.7e308\n1 1 1.7e308\n", "sum of duplicate entries overflows"), 0);
}

TEST(read_errors, number_of_entries_must_be_the_one_announced) {
  EXPECT_EQ(bad_line(real + "2 2 3\n1 1 1\n2 2 1\n", "after 2 of 3 entries"), 4);
  EXPECT_EQ(bad_line(real + "2 2 3\n1 1 1\n2 2", "expected 3 fields"), 4);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 1\n\n2 2 1\n", "more than the 1 entries"), 5);
  EXPECT_EQ(bad_line(real + "2 2 1\n1 1 1\nrubbish\n", "more than the 1 entries"), 4);
  EXPECT_EQ(bad_line(real + "0 0 1\n", "after 0 of 1 entries"), 2);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "after 3 of 4 entries"), 5);
  EXPECT_EQ(
      bad_line("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n", "more than the 3 entries"),
      6);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array real general\n2 2\n1 2\n3 4\n", "expected one value"), 3);
}

TEST(read_errors, diagonals_must_fit_the_symmetry) {
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 1 1\n2 2 1 1e-300\n",
                     "must be real"),
            4);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", "must be zero"),
            3);
  EXPECT_EQ(
      bad_line("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n1 1 0 1\n", "must be zero"),
      3);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array complex hermitian\n1 1\n1 1\n", "must be real"), 2);
  EXPECT_NO_THROW(
      read_matrix_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 0\n", "zero.mtx"));
}

TEST(read_errors, absurd_sizes_are_refused_before_memory_is_asked_for) {
  // 2³¹ − 1 empty columns would need 16 GiB of pointers; no machine can hold a quintillion entries.
  EXPECT_EQ(bad_line(real + "2147483647 2147483647 0\n", "implausible"), 2);
  EXPECT_EQ(bad_line(real + "3 3 100000000000000000\n1 1 1\n", "after 1 of 100000000000000000 entries"), 3);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n", "after 1 of"),
            3);
  EXPECT_EQ(bad_line("%%MatrixMarket matrix array real general\n0 2147483647\n", "implausible"), 2);
  EXPECT_EQ(
      line_of_error([] { read_dense_text(real + "1000000 1000000 1\n1 1 1\n", "b"); }, "implausible"), 2);
}

TEST(read_errors, dense_reader_wants_a_matrix_market_file) {
  EXPECT_EQ(line_of_error([] { read_dense_text("1\n2\n3\n", "b"); }, "Matrix Market"), 1);
  EXPECT_EQ(line_of_error([] { read_dense_text("", "b"); }, "empty"), 0);
}

TEST(read_errors, archives_are_recognized) {
  EXPECT_EQ(bad_line("PK\x03\x04rest", "zip archive"), 0);
  EXPECT_EQ(bad_line("BZh91AY", "bzip2"), 0);
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_EQ(bad_line(tar, "tar archive"), 0);
}

TEST(read_errors, damaged_gzip_data_is_refused) {
  const std::string whole =
      testing_matrix::file_text(std::string(PALMETTE_DATA_FOLDER) + "/real_general.mtx.gz");
  ASSERT_GT(whole.size(), 40u);
  EXPECT_EQ(bad_line(whole.substr(0, whole.size() - 9), "ends early"), 0);
  EXPECT_EQ(bad_line(whole.substr(0, whole.size() - 4), "ends early"), 0);
  std::string checksum = whole;
  checksum[checksum.size() - 6] = static_cast<char>(checksum[checksum.size() - 6] ^ 0x40);
  EXPECT_EQ(bad_line(checksum, "incorrect data check"), 0);
  EXPECT_EQ(bad_line(whole + "tail", "followed by something else"), 0);
  EXPECT_NO_THROW(read_matrix_text(whole + std::string(100, '\0'), "padded.gz"));
}

TEST(read_errors, negative_numbers_of_threads_are_misuse) {
  ReadOptions options;
  options.threads = -1;
  EXPECT_THROW(read_matrix_text(real + "0 0 0\n", "x", options), UsageError);
}

/// A body large enough for several blocks and parts; line `bad` (1-based in the file) is replaced.
std::string long_file(std::int64_t entries, std::int64_t announced, std::int64_t bad,
                      const std::string& replacement) {
  std::string text = real + "1000 1000 " + std::to_string(announced) + "\n";
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    if (entry + 3 == bad) text += replacement;
    else
      text +=
          std::to_string(entry % 1000 + 1) + " " + std::to_string(entry % 997 + 1) + " 0.12345678901234567";
    text.push_back('\n');
    if (entry % 1000 == 999) text.push_back('\n');  // blank lines count as lines
  }
  return text;
}

TEST(read_errors, line_is_the_same_for_any_number_of_threads) {
  const std::int64_t entries = 200000;
  // line of entry 150000, with 150 blank lines before it
  const std::int64_t bad = 150003;
  const std::string wrong = long_file(entries, entries, bad, "7 7 x"),
                    too_many = long_file(entries, 150000, 0, "");
  // Too many entries come before the wrong line, so that error is reported.
  const std::string both = long_file(entries, 149999, bad, "7 7 x"),
                    too_few = long_file(entries, entries + 1, 0, "");
  for (int threads = 1; threads <= 8; ++threads) {
    EXPECT_EQ(bad_line(wrong, "\"x\" is not a number", threads), bad + 150) << threads;
    EXPECT_EQ(bad_line(too_many, "more than the 150000 entries", threads), bad + 150) << threads;
    EXPECT_EQ(bad_line(both, "more than the 149999 entries", threads), bad - 1 + 149) << threads;
    EXPECT_EQ(bad_line(too_few, "after 200000 of 200001 entries", threads), 200000 + 200 + 2) << threads;
  }
}

std::string boeing(const std::string& counts, const std::string& type, const std::string& formats,
                   const std::string& body) {
  return "title\n" + counts + "\n" + type + "\n" + formats + "\n" + body;
}

const std::string formats = "(4I4)           (4I4)           (4E12.4)            ";
const std::string sizes22 = "           2 2 2 0";
const std::string good_body = "   1   2   3\n   1   2\n  1.0000E+00  2.0000E+00\n";

TEST(read_errors, boeing_header_is_checked) {
  EXPECT_NO_THROW(read_matrix_text(boeing("3 1 1 1", "rua" + sizes22, formats, good_body), "good.rb"));
  EXPECT_EQ(bad_line(boeing("3 1 1", "rua" + sizes22, formats, good_body), "neither"), 2);
  EXPECT_EQ(bad_line(boeing("3 1 1 x", "rua" + sizes22, formats, good_body), "neither"), 2);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rua  2 2", formats, good_body), "neither"), 3);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "xua" + sizes22, formats, good_body), "begins with 'x'"), 3);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rxa" + sizes22, formats, good_body), "'x' for its symmetry"), 3);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rue" + sizes22, formats, good_body), "elemental"), 3);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "ruq" + sizes22, formats, good_body), "ends in 'q'"), 3);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rsa           2 3 2 0", formats, good_body), "must be square"), 3);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rua           2147483648 2 2 0", formats, good_body), "2147483647"),
            3);
  EXPECT_EQ(bad_line(boeing("3 1 1 0", "rua" + sizes22, formats, good_body), "no lines of them"), 3);
  EXPECT_EQ(
      bad_line(boeing("3 1 1 1", "rua" + sizes22, "(4A4)           (4I4)           (4E12.4)", good_body),
               "'A'"),
      4);
  EXPECT_EQ(
      bad_line(boeing("3 1 1 1", "rua" + sizes22, "(4I4)           (4F4.0)         (4E12.4)", good_body),
               "not one of integers"),
      4);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rua           2 2 9223372036854775807 0", formats, good_body),
                     "9223372036854775807 entries are announced, more than"),
            3);
  EXPECT_EQ(bad_line("title\n", "neither"), 1);
}

TEST(read_errors, boeing_body_is_checked) {
  const std::string type = "rua" + sizes22;
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, ""), "column pointers: the file ends early"), 4);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   2   2   3\n"), "column 1 is 2, not 1"), 5);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   3   2\n"), "column 3 is 2, outside 3 … 3"), 5);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   4\n"), "column 3 is 4"), 5);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   2\n"), "2 entries are announced"), 5);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2\n"), "blank"), 5);
  for (const std::string wide : {"9223372036854775808", "9223372036854775807", "-9223372036854775808"})
    EXPECT_EQ(bad_line(boeing("3 1 1 1", type, "(3I20)          (4I4)           (4E12.4)            ",
                              std::string(20 - wide.size(), ' ') + wide + "\n"),
                       "is too large"),
              5)
        << wide;
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1 2 2   3\n"), "is not an integer"), 5);
  EXPECT_EQ(
      bad_line(boeing("3 1 1 1", type, formats, "   1   2   3\n   1   3\n"), "row index 3 is outside 1 … 2"),
      6);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   3\n   0   1\n"), "row index 0"), 6);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   3\n   1   2\n  1.0000E+00         nan\n"),
                     "not finite"),
            7);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   3\n   1   2\n  1.0000E+00    1.0E+999\n"),
                     "not finite"),
            7);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   3\n   1   2\n  1.0000E+00     1.0 2.0\n"),
                     "not a number"),
            7);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", type, formats, "   1   2   3\n   1   2\n  1.0000E+00\n"),
                     "values: field 2 of 4"),
            7);
  EXPECT_EQ(bad_line(boeing("3 1 1 1", "rza" + sizes22, formats, good_body), "must be zero"), 0);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(read_errors, permutation_files_are_checked) {
  const testing_matrix::TemporaryFolder folder;
  const std::string path = folder / "p.txt";
  const auto bad = [&](const std::string& text, const std::string& part) {
    write_text(path, text);
    return line_of_error([&] { read_permutation(path); }, part);
  };
  EXPECT_EQ(bad("1\n2\n2\n", "2 occurs a second time"), 3);
  EXPECT_EQ(bad("1\n4\n2\n", "4 is outside 1 … 3"), 2);
  EXPECT_EQ(bad("0\n\n3\n2\n", "3 is outside 0 … 2"), 3);
  EXPECT_EQ(bad("1\n-2\n", "\"-2\" is not an index"), 2);
  EXPECT_EQ(bad("1 two\n", "\"two\" is not an index"), 1);
  EXPECT_EQ(
      bad("%%MatrixMarket matrix array integer general\n3 1\n1\n2\n", "announces 3 indices, here are 2"), 4);
  EXPECT_EQ(bad("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n", "array of integers"), 2);
  EXPECT_EQ(bad("%%MatrixMarket matrix array integer general\n3 2\n1\n2\n3\n", "n × 1"), 2);
  write_text(path, "");
  EXPECT_EQ(read_permutation(path).size(), 0);
}

}  // namespace
}  // namespace palmette
