// Fortran formats as matrix files use them: fields, widths, offsets, scale factors; unsupported formats are
// reported.
#include <gtest/gtest.h>

#include "palmette/matrix/fortran_format.hpp"

namespace palmette {
namespace {

std::vector<FortranField> fields_of(const std::string& text) {
  std::string error;
  std::vector<FortranField> fields = parse_fortran_format(text, error);
  EXPECT_EQ(fields.empty(), !error.empty()) << text;
  return fields;
}

std::string error_of(const std::string& text) {
  std::string error;
  EXPECT_TRUE(parse_fortran_format(text, error).empty()) << text;
  return error;
}

TEST(fortran_format, repeat_counts_make_adjoining_fields) {
  const auto fields = fields_of("(16I5)");
  ASSERT_EQ(fields.size(), 16u);
  EXPECT_TRUE(fields[15].is_integer);
  EXPECT_EQ(fields[15].width, 5);
  EXPECT_EQ(fields[15].offset, 75);
}

TEST(fortran_format, scale_factor_holds_for_all_that_follows) {
  for (const char* text : {"(1P,5E16.8)", "(1P5E16.8)", "(1p5e16.8)", "( 1P , 5 E 16.8 )", "(5(1PE16.8))",
                           "(1P,2E16.8,3E16.8)"}) {
    const auto fields = fields_of(text);
    ASSERT_EQ(fields.size(), 5u) << text;
    for (const FortranField& field : fields) {
      EXPECT_EQ(field.scale, 1) << text;
      EXPECT_EQ(field.width, 16) << text;
      EXPECT_EQ(field.decimals, 8) << text;
      EXPECT_FALSE(field.is_integer) << text;
    }
  }
  EXPECT_EQ(fields_of("(E10.2,-2P,E10.2)")[0].scale, 0);
  EXPECT_EQ(fields_of("(E10.2,-2P,E10.2)")[1].scale, -2);
}

TEST(fortran_format, groups_are_repeated) {
  const auto fields = fields_of("(3(1P,E25.16))");
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[2].offset, 50);
  EXPECT_EQ(fields_of("(2(I3,2(I4)))").size(), 6u);
  EXPECT_EQ(fields_of("(2(I3,2(I4)))")[5].offset, 3 + 8 + 3 + 4);
}

TEST(fortran_format, blanks_between_fields_are_skipped) {
  const auto fields = fields_of("(2X,I3,1X,I3)");
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].offset, 2);
  EXPECT_EQ(fields[1].offset, 6);
}

TEST(fortran_format, every_real_descriptor_is_known) {
  for (const char* text :
       {"(4D20.12)", "(5F10.4)", "(3G25.17)", "(ES23.15E3)", "(EN23.15)", "(E26.18E4)", "(F8)"})
    EXPECT_FALSE(fields_of(text).empty()) << text;
}

TEST(fortran_format, what_is_not_understood_is_said) {
  EXPECT_EQ(error_of(""), "lacks '('");
  EXPECT_EQ(error_of("(16I5"), "ends before its last parenthesis");
  EXPECT_EQ(error_of("()"), "has no data field");
  EXPECT_EQ(error_of("(5X)"), "has no data field");
  EXPECT_EQ(error_of("(I)"), "lacks a number");
  EXPECT_EQ(error_of("(I0)"), "has a field of width 0");
  EXPECT_EQ(error_of("(10A8)"), "has the edit descriptor 'A', which is not understood");
  EXPECT_EQ(error_of("(I5/I5)"), "has the edit descriptor '/', which is not understood");
  EXPECT_EQ(error_of("(I5)x"), "has text behind its last parenthesis");
  EXPECT_EQ(error_of("(99999I5)"), "has a number above 9999");
  EXPECT_EQ(error_of("(-3I5)"), "has a misplaced sign");
  EXPECT_EQ(error_of("(P,E10.2)"), "lacks a number before P");
  EXPECT_EQ(error_of("(0(I5))"), "has a repeat count of 0");
}

TEST(fortran_format, bombs_are_refused) {
  EXPECT_EQ(error_of("(9999(9999(9999I9)))"), "has more than 4096 fields");
  EXPECT_EQ(error_of("(9999(9999(9999(9999X))),I1)"), "has records wider than a million columns");
  EXPECT_EQ(error_of("((((((((((I5))))))))))"), "has too many parentheses");
}

}  // namespace
}  // namespace palmette
