// Each word of the vocabulary against the instructions that nvcc makes of it.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/word_list.hpp"

namespace palmette::sweeps {
namespace {

struct Word {
  std::string name, instructions;
};
#define ROW(name, statement, instructions) {#name, instructions},
const std::vector<Word> words = {PALMETTE_FOR_EACH_WORD(ROW)};
const std::vector<Word> network_words = {PALMETTE_FOR_EACH_NETWORK_WORD(ROW)};

/// The body of a kernel, from brace to brace.
std::string body_of(const std::string& text, const std::string& kernel) {
  const auto head = text.find(".entry " + kernel + "(");
  if (head == std::string::npos) return "";
  return text.substr(text.find('{', head), text.find("\n}", head) - text.find('{', head));
}

/// Whether the words, separated by blanks, occur one after the other.
bool has_in_order(const std::string& body, const std::string& wanted) {
  std::istringstream in(wanted);
  std::size_t at = 0;
  for (std::string word; in >> word; at += word.size()) {
    at = body.find(word, at);
    if (at == std::string::npos) return false;
  }
  return true;
}

/// @param file  of the kernels, one for each word
void expect_the_instructions_of_the_table(const std::vector<Word>& table, const std::string& file,
                                          int architecture) {
  const std::string text = compiled_text(file, architecture, "ptx");
  for (const Word& word : table) {
    const std::string body = body_of(text, word.name);
    EXPECT_PRED2(has_in_order, body, word.instructions) << word.name;
  }
}

class Words : public ::testing::TestWithParam<int> {};

TEST_P(Words, become_the_instructions_of_the_table) {
  PALMETTE_NEEDS_NVCC();
  expect_the_instructions_of_the_table(words, "words", GetParam());
}

TEST_P(Words, between_processing_elements_become_calls_of_nvshmem) {
  PALMETTE_NEEDS_NVCC();
  expect_the_instructions_of_the_table(network_words, "network_words", GetParam());
}

/// Whoever counts a row's last addition acquires all of them before the put that carries them.
TEST_P(Words, of_put_columns_stand_in_the_order_of_the_protocol) {
  PALMETTE_NEEDS_NVCC();
  const std::string text = compiled_text("network_words", GetParam(), "ptx");
  for (const std::string scalar : {"f", "d", "NS0_7ComplexIfEE", "NS0_7ComplexIdEE"})
    for (const std::string num_rhs : {"1", "4"}) {
      const std::string kernel = "_ZN8palmette6device18put_columns_kernelI" + scalar + "Li" + num_rhs +
                                 "EEEvNS0_11ColumnSweepIT_EE";
      const bool is_wide = scalar.find('d') != std::string::npos;
      EXPECT_PRED2(has_in_order, body_of(text, kernel),
                   std::string("nvshmem_signal_wait_until, red.relaxed.gpu.add.f") + (is_wide ? "64" : "32") +
                       " atom.add.release.gpu.s32 ld.acquire.gpu nvshmem_putmem_signal_nbi, nvshmem_quiet,")
          << kernel;
    }
}

TEST_P(Words, are_all_known_to_the_interpreter) {
  PALMETTE_NEEDS_NVCC();
  EXPECT_EQ(compiled_module("words", GetParam()).kernel_names().size(), words.size());
  // and columns that are put, of four scalar types, for one and four right-hand sides
  EXPECT_EQ(compiled_module("network_words", GetParam()).kernel_names().size(), network_words.size() + 8);
}

INSTANTIATE_TEST_SUITE_P(OfTheVocabulary, Words, ::testing::Values(80, 90),
                         [](const auto& one) { return "sm_" + std::to_string(one.param); });

}  // namespace
}  // namespace palmette::sweeps
