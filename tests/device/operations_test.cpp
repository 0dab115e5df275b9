// Operations of every scalar type: what the interpreter makes of nvcc's instructions has the bits of g++.
#include <gtest/gtest.h>

#include <random>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/operation_list.hpp"

namespace palmette::operations {
namespace {

using namespace emulate;

std::vector<Inputs> make_inputs(std::size_t count) {
  std::mt19937_64 random(5);
  const auto real = [&] {
    return static_cast<double>(static_cast<std::int64_t>(random() % 2000001) - 1000000) / 1e3;
  };
  const auto whole = [&] { return static_cast<long long>(random()) >> 8; };
  std::vector<Inputs> all(count);
  for (Inputs& in : all) {
    in = {real(), real(), real(), real(), {}, 0, 0, 0, 0, whole(), whole(), 0, 0, 0, 0, 0};
    for (float& x : in.four.x) x = static_cast<float>(real());
    in.f = static_cast<float>(real());
    in.g = static_cast<float>(real());
    in.i = static_cast<int>(random() % 100000) - 50000;
    in.j = static_cast<int>(random() % 1000) - 500;
    in.u = static_cast<unsigned>(random());
    in.v = static_cast<unsigned>(random() % 1000);
    in.s = static_cast<short>(random());
    in.t = static_cast<signed char>(random());
    in.w = static_cast<unsigned char>(random());
  }
  return all;
}

struct Operation {
  std::string name;
  unsigned long long (*by_gcc)(const Inputs&);
};
#define ROW(name, expression) {#name, [](const Inputs& in) { return bits_of(expression); }},
const std::vector<Operation> operations = {PALMETTE_FOR_EACH_OPERATION(ROW)};

class Operations : public ::testing::TestWithParam<int> {};

TEST_P(Operations, have_the_bits_of_gcc) {
  PALMETTE_NEEDS_NVCC();
  const PtxModule module = sweeps::compiled_module("operations", GetParam());
  constexpr int blocks = 4, threads = 64;
  const std::vector<Inputs> inputs = make_inputs(blocks * threads);
  for (const Operation& operation : operations) {
    reset_memory(1);
    const Inputs* const all = upload(inputs);
    auto* const results = allocate_array<unsigned long long>(inputs.size());
    const Report report = run(
        {launch(module, operation.name + "_kernel", ptx_arguments(all, results), {0, blocks, threads})}, {});
    EXPECT_TRUE(report.ok()) << operation.name << ": " << report.errors.front();
    for (std::size_t k = 0; k < inputs.size(); ++k)
      ASSERT_EQ(results[k], operation.by_gcc(inputs[k])) << operation.name << ", inputs " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(OfNvcc, Operations, ::testing::ValuesIn(sweeps::run_architectures),
                         [](const auto& one) { return "sm_" + std::to_string(one.param); });

}  // namespace
}  // namespace palmette::operations
