// Names of choices lead to them, and errors list what there is.
#include <gtest/gtest.h>

#include "palmette/base/base.hpp"

namespace palmette {
namespace {

enum class Fruit { apple, pear };
std::string_view name_of(Fruit fruit) { return fruit == Fruit::apple ? "apple" : "pear"; }

TEST(choice_named, finds_the_choice_and_lists_all_where_there_is_none) {
  const Fruit fruits[] = {Fruit::apple, Fruit::pear};
  EXPECT_EQ(choice_named("fruit", "pear", fruits), Fruit::pear);
  try {
    choice_named("fruit", "plum", fruits);
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "there is no fruit 'plum'; choose one of apple, pear");
  }
}

TEST(name_and_reason, says_why_something_is_absent) {
  EXPECT_EQ(name_and_reason("serial", ""), "serial");
  EXPECT_EQ(name_and_reason("by_pigeon", "no pigeons"), "by_pigeon (absent: no pigeons)");
}

}  // namespace
}  // namespace palmette
