// What hipcc makes of the kernels for gfx90a (MI200), read from its assembly. Nothing of it runs.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/device/kernel_list.hpp"
#include "tests/device/vector_kernel_list.hpp"
#include "tests/device/word_list.hpp"

namespace {

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream in(std::string(PALMETTE_HIP_FOLDER) + "/" + name + "_gfx90a.s");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}

/// The instructions of a kernel, in one line.
std::string body_of(const std::vector<std::string>& lines, const std::string& kernel) {
  std::string body;
  bool is_inside = false;
  for (const std::string& line : lines) {
    is_inside |= line.rfind(kernel + ":", 0) == 0;
    if (is_inside) body += line.substr(0, line.find(';')) + " ";
    if (is_inside && line.find("s_endpgm") != std::string::npos) break;
  }
  return body;
}

/// Whether the texts, separated by bars, occur one after the other.
bool has_in_order(const std::string& body, const std::string& wanted) {
  std::istringstream in(wanted);
  std::size_t at = 0;
  for (std::string text; std::getline(in, text, '|'); at += text.size()) {
    at = body.find(text, at);
    if (at == std::string::npos) return false;
  }
  return true;
}

/// The figures that the compiler notes for each kernel, as ".vgpr_count:".
std::vector<std::map<std::string, std::string>> notes_of_kernels(const std::vector<std::string>& lines) {
  std::vector<std::map<std::string, std::string>> kernels;
  std::map<std::string, std::string> notes;
  for (const std::string& line : lines) {
    std::istringstream in(line);
    std::string word, value;
    in >> word >> value;
    if (word == "-") in.clear(), word = value, in >> value;
    if (word == ".kernarg_segment_size:") notes.clear();
    notes[word] = value;
    if (word == ".wavefront_size:") kernels.push_back(notes);
  }
  return kernels;
}

#define ONE(...) +1
constexpr int num_kernels = 4 * (PALMETTE_FOR_EACH_KERNEL(ONE)) + (PALMETTE_FOR_EACH_PLANTED_FAULT(ONE));

TEST(CompiledForHip, every_kernel_is_there_and_spills_no_vector_register) {
  const auto kernels = notes_of_kernels(lines_of("kernels"));
  EXPECT_EQ(kernels.size(), static_cast<std::size_t>(num_kernels));
  for (auto notes : kernels) {
    EXPECT_EQ(notes[".wavefront_size:"], "64");
    EXPECT_EQ(notes[".vgpr_spill_count:"], "0") << notes[".name:"];
    // Two blocks of 256 threads on a compute unit, which predictions take for granted.
    EXPECT_LE(std::stoi(notes[".vgpr_count:"]), 256) << notes[".name:"];
  }
}

TEST(CompiledForHip, kernels_of_vectors_and_of_several_devices_are_there_and_spill_no_vector_register) {
  // largest_of_parts has one scalar; that of regions is compiled as it is and with a planted fault.
  constexpr int others = 1 + 2;
  const std::map<std::string, int> wanted = {
      {"vectors", 4 * (PALMETTE_FOR_EACH_VECTOR_KERNEL(ONE) PALMETTE_FOR_EACH_RESIDUAL_KERNEL(ONE)) + others},
      {"elements", 4 * 4},
      {"columns", 4 * 6}};
  for (const auto& [file, count] : wanted) {
    const auto kernels = notes_of_kernels(lines_of(file));
    EXPECT_EQ(kernels.size(), static_cast<std::size_t>(count)) << file;
    for (auto notes : kernels) {
      EXPECT_EQ(notes[".vgpr_spill_count:"], "0") << notes[".name:"];
      EXPECT_LE(std::stoi(notes[".vgpr_count:"]), 256) << notes[".name:"];
    }
  }
}

TEST(CompiledForHip, panels_are_loaded_16_bytes_at_a_time) {
  const auto lines = lines_of("kernels");
  int wide = 0;
  for (const std::string& line : lines) wide += line.find("load_dwordx4") != std::string::npos;
  EXPECT_GE(wide, 5 * num_kernels / 2);
}

TEST(CompiledForHip, words_become_instructions_that_order_memory_as_they_say) {
  const std::map<std::string, std::string> wanted = {
      // The stores of a block are complete before its barrier, so that one thread can publish them.
      {"block_barrier_word", "vmcnt(0)|s_barrier"},
      {"load_acquire_device", "global_load_dword| glc|vmcnt(0)|buffer_wbinvl1_vol"},
      {"load_acquire_system", "global_load_dword| glc|vmcnt(0)|buffer_invl2|buffer_wbinvl1_vol"},
      {"load_relaxed_device", "global_load_dwordx2| glc"},
      {"store_release_device", "vmcnt(0)|global_store_dword"},
      {"store_release_system", "buffer_wbl2|vmcnt(0)|global_store_dword"},
      {"add_release_device", "vmcnt(0)|global_atomic_add"},
      {"add_release_system", "buffer_wbl2|vmcnt(0)|global_atomic_add"},
      {"add_relaxed_block", "global_atomic_add"},
      {"reduce_release_device", "vmcnt(0)|global_atomic_add"},
      {"reduce_relaxed_system", "global_atomic_cmpswap_x2"},
      {"fence_device", "vmcnt(0)|buffer_wbinvl1_vol"},
      {"fence_system", "buffer_wbl2|vmcnt(0)|buffer_invl2"},
      {"pause_word", "s_sleep 1"},
      {"wait_equal_word", "global_load_dword| glc|s_sleep|global_load_dword| glc|buffer_wbinvl1_vol"},
      // Halves of a wavefront of 64: 32 lanes each, and the second is not the first.
      {"lane_word", "v_and_b32_e32 v0, 31"},
      {"leads_wave_word", "v_bfe_u32 v0, v0, 5, 1"},
      {"ballot_word", "32|v_lshrrev_b64"},
      {"shuffle_word", "0x180|ds_bpermute_b32"},
      {"shuffle_of_double", "ds_bpermute_b32|ds_bpermute_b32"},
      {"multiply_add_word", "v_fmac_f64"},
      {"product_and_sum", "v_mul_f64|v_add_f64"},
  };
  const auto lines = lines_of("words");
  for (const auto& [word, instructions] : wanted)
    EXPECT_PRED2(has_in_order, body_of(lines, word), instructions) << word;
}

TEST(CompiledForHip, every_word_is_there) {
  const auto lines = lines_of("words");
#define IS_THERE(name, statement, instructions) EXPECT_NE(body_of(lines, #name), "") << #name;
  PALMETTE_FOR_EACH_WORD(IS_THERE)
}

}  // namespace
