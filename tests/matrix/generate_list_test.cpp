// Laws that hold for every generator in the list, and the checks at the door.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "tests/matrix/generate_support.hpp"

namespace palmette::test {
namespace {

const std::set<std::string> symmetric_names = {"poisson2d5", "poisson2d9",   "poisson3d7", "poisson3d27",
                                               "elasticity3d", "thermal2d", "indefinite2d", "kkt3d",
                                               "rmat", "road", "random_spd"};
const std::set<std::string> positive_definite_names = {"poisson2d5",  "poisson2d9",   "poisson3d7",
                                                       "poisson3d27", "elasticity3d", "thermal2d",
                                                       "rmat",        "road",         "random_spd"};
const std::set<std::string> triangular_names = {"bidiagonal", "dense_triangle", "random_triangular"};
const std::set<std::string> random_names = {
    "thermal2d",  "circuit",           "rmat", "road", "bidiagonal", "dense_triangle", "random_triangular",
    "random_spd", "random_unsymmetric"};

/// Small, but large enough that nothing degenerates: at most 375 rows.
index_t small_size(const std::string& name) {
  static const std::map<std::string, index_t> sizes = {{"poisson2d5", 9},
                                                       {"poisson2d9", 8},
                                                       {"poisson3d7", 5},
                                                       {"poisson3d27", 5},
                                                       {"elasticity3d", 4},
                                                       {"kkt3d", 4},
                                                       {"convection_diffusion2d", 9},
                                                       {"convection_diffusion3d", 5},
                                                       {"indefinite2d", 9},
                                                       {"road", 12}};
  const auto found = sizes.find(name);
  return found == sizes.end() ? 150 : found->second;
}

std::string refusal(const std::string& problem, index_t n, double parameter = 0) {
  try {
    make(problem, n, 1, parameter);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class EveryGenerator : public testing::TestWithParam<std::string> {};

TEST_P(EveryGenerator, makes_a_well_formed_square_matrix) {
  const SparseMatrix<double> matrix = make(GetParam(), small_size(GetParam()));
  EXPECT_NO_THROW(check_matrix(matrix));
  EXPECT_EQ(matrix.rows(), matrix.cols());
  EXPECT_GT(matrix.rows(), 20);
}

TEST_P(EveryGenerator, has_the_symmetry_it_promises) {
  const SparseMatrix<double> matrix = make(GetParam(), small_size(GetParam()));
  EXPECT_EQ(matrix.symmetry, symmetric_names.count(GetParam()) ? Symmetry::symmetric : Symmetry::general);
  EXPECT_EQ(detect_symmetry(matrix), matrix.symmetry);
}

TEST_P(EveryGenerator, is_positive_definite_exactly_where_it_says_so) {
  if (!symmetric_names.count(GetParam())) return;
  EXPECT_EQ(is_positive_definite(make(GetParam(), small_size(GetParam()))),
            positive_definite_names.count(GetParam()) == 1);
}

TEST_P(EveryGenerator, is_nonsingular) {
  EXPECT_GT(smallest_scaled_pivot(make(GetParam(), small_size(GetParam()))), 1e-9);
}

TEST_P(EveryGenerator, works_for_the_smallest_sizes) {
  for (index_t n = 1; n <= 6; ++n) {
    const SparseMatrix<double> matrix = make(GetParam(), n);
    EXPECT_NO_THROW(check_matrix(matrix));
    EXPECT_GE(matrix.rows(), n);
    EXPECT_GT(smallest_scaled_pivot(matrix), 1e-9) << "n = " << n;
    if (matrix.symmetry == Symmetry::symmetric) {
      EXPECT_TRUE(matrix.rows() == 1 || detect_symmetry(matrix) == Symmetry::symmetric) << "n = " << n;
    }
  }
}

TEST_P(EveryGenerator, gives_the_same_bits_for_the_same_seed) {
  const index_t n = small_size(GetParam());
  EXPECT_EQ(fingerprint(make(GetParam(), n, 7)), fingerprint(make(GetParam(), n, 7)));
}

TEST_P(EveryGenerator, depends_on_the_seed_exactly_where_it_is_random) {
  const index_t n = small_size(GetParam());
  const bool differs = fingerprint(make(GetParam(), n, 1)) != fingerprint(make(GetParam(), n, 2));
  EXPECT_EQ(differs, random_names.count(GetParam()) == 1);
}

TEST_P(EveryGenerator, is_lower_triangular_exactly_where_it_says_so) {
  const SparseMatrix<double> matrix = make(GetParam(), small_size(GetParam()));
  bool lower = true;
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (index_t row : matrix.pattern.column(column)) lower = lower && row >= column;
  EXPECT_EQ(lower, triangular_names.count(GetParam()) == 1);
}

TEST_P(EveryGenerator, refuses_sizes_below_one_and_names_the_range) {
  for (index_t n : {0, -1, std::numeric_limits<index_t>::min()}) {
    const std::string text = refusal(GetParam(), n);
    EXPECT_TRUE(holds(text, "n = " + std::to_string(n))) << text;
    EXPECT_TRUE(holds(text, "from 1 to ")) << text;
  }
}

TEST_P(EveryGenerator, refuses_a_parameter_that_is_not_a_number_or_has_no_meaning) {
  EXPECT_NE(refusal(GetParam(), 3, std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_NE(refusal(GetParam(), 3, std::numeric_limits<double>::infinity()), "");
  EXPECT_NE(refusal(GetParam(), 3, -1.0), "");
}

// The hashes hold on every machine and compiler, with and without fused multiply-add; a change here changes
// the matrices of everybody's experiments.
TEST_P(EveryGenerator, makes_the_bits_that_are_written_down) {
  static const std::map<std::string, std::uint64_t> written = {
      {"poisson2d5", 0xff7a02c1ec809f19ULL},
      {"poisson2d9", 0x05282be2bb252e03ULL},
      {"poisson3d7", 0xb977a6acb6f249f9ULL},
      {"poisson3d27", 0xdfd0328e838edc31ULL},
      {"elasticity3d", 0x23c2633c1079b7a7ULL},
      {"thermal2d", 0xb46fa50aab8f6cfaULL},
      {"convection_diffusion2d", 0x64db598986b52e74ULL},
      {"convection_diffusion3d", 0x813cb14490576ba2ULL},
      {"indefinite2d", 0x79b7e3cf108a7263ULL},
      {"kkt3d", 0x05849f6d898b28bcULL},
      {"circuit", 0x45ec5c6b212495f2ULL},
      {"rmat", 0xb709468be3a77031ULL},
      {"road", 0x8ffccea4db5247edULL},
      {"bidiagonal", 0xe93653296e643214ULL},
      {"dense_triangle", 0xc0e71fc7d277e7e9ULL},
      {"random_triangular", 0xf7e58caac719acc0ULL},
      {"random_spd", 0x45d4eb40ca553dfbULL},
      {"random_unsymmetric", 0x6296d81de6200d4fULL},
  };
  const auto found = written.find(GetParam());
  ASSERT_NE(found, written.end());
  const std::uint64_t found_now = fingerprint(make(GetParam(), small_size(GetParam()), 42));
  EXPECT_EQ(found_now, found->second) << "now 0x" << std::hex << found_now;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const GeneratorInfo& info : generator_list()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(generate, EveryGenerator, testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

TEST(generator_list, names_are_unique_and_every_generator_says_what_it_is) {
  std::set<std::string> names;
  for (const GeneratorInfo& info : generator_list()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.summary.empty() || info.n_meaning.empty()) << info.name;
  }
  EXPECT_EQ(names.size(), 18u);
}

TEST(generator_list, stands_in_the_guide_in_this_order) {
  std::ifstream file(PALMETTE_DATA_FOLDER "/../docs/guide/generators.md");
  ASSERT_TRUE(file) << "docs/guide/generators.md is not beside data/";
  const std::string guide{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::size_t place = 0;
  for (const GeneratorInfo& info : generator_list()) {
    place = guide.find("\n| `" + info.name + "` ", place);
    ASSERT_NE(place, std::string::npos) << info.name;
  }
}

TEST(generate, zero_parameter_means_the_default_of_the_list) {
  for (const GeneratorInfo& info : generator_list()) {
    if (info.default_parameter == 0) continue;
    const index_t n = small_size(info.name);
    const std::uint64_t standard = fingerprint(make(info.name, n));
    EXPECT_EQ(standard, fingerprint(make(info.name, n, 1, info.default_parameter))) << info.name;
    // Half the road's share of shortcuts, twice of all others: the parameter reaches the matrix.
    const double other = info.name == "road" ? info.default_parameter / 2 : info.default_parameter * 2;
    EXPECT_NE(standard, fingerprint(make(info.name, n, 1, other))) << info.name;
  }
}

TEST(generate, unknown_name_gets_the_nearest_one_and_the_whole_list) {
  const std::string text = refusal("poison2d9", 3);
  EXPECT_TRUE(holds(text, "'poison2d9'")) << text;
  EXPECT_TRUE(holds(text, "did you mean 'poisson2d9'?")) << text;
  for (const std::string& name : all_names()) EXPECT_TRUE(holds(text, name)) << name;
  EXPECT_TRUE(holds(refusal("", 3), "unknown model problem ''"));
  EXPECT_TRUE(holds(refusal("elasticity", 3), "did you mean 'elasticity3d'?"));
  EXPECT_TRUE(holds(refusal("bidiagonal_matrix", 3), "did you mean 'bidiagonal'?"));
  EXPECT_LT(refusal(std::string(100000, 'x'), 3).size(), 1000u);
}

TEST(generate, more_rows_than_indices_is_a_dimension_error_with_the_range) {
  // 46340² = 2147395600 ≤ 2³¹ − 1 = 2147483647 < 46341² = 2147488281.
  EXPECT_THROW(make("poisson2d9", 46341), DimensionError);
  const std::string text = refusal("poisson2d9", 46341);
  EXPECT_TRUE(holds(text, "2147488281")) << text;
  EXPECT_TRUE(holds(text, "from 1 to 46340")) << text;
  // 1290³ = 2146689000 and 1291³ = 2151685171; 3·894³ = 2143550952 and 3·895³ = 2150752125.
  EXPECT_TRUE(holds(refusal("poisson3d27", 1291), "from 1 to 1290"));
  EXPECT_TRUE(holds(refusal("kkt3d", std::numeric_limits<index_t>::max()), "from 1 to 894"));
  // 3·894·895² = 2148340050 is too many; 3·893·894² = 2141148924 is not.
  EXPECT_TRUE(holds(refusal("elasticity3d", 894), "from 1 to 893"));
}

TEST(generate, other_limits_of_n_are_usage_errors_with_the_range) {
  EXPECT_TRUE(holds(refusal("dense_triangle", 262145), "from 1 to 262144"));
  EXPECT_TRUE(holds(refusal("thermal2d", 1073741825), "from 1 to 1073741824"));
}

TEST(generate, parameter_out_of_range_names_the_range) {
  EXPECT_TRUE(holds(refusal("random_triangular", 10, 11), "from 1 to 10"));
  EXPECT_TRUE(holds(refusal("random_triangular", 10, 2.5), "whole number"));
  EXPECT_TRUE(holds(refusal("road", 10, 1.5), "to 1,"));
  EXPECT_TRUE(holds(refusal("poisson2d5", 10, 1.5), "takes no parameter, but 1.5"));
}

}  // namespace
}  // namespace palmette::test
