// Solvers as files: x after load has the bits of x before save; a file that was cut or changed is refused, or
// gives the same x.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "palmette/archive/archive.hpp"
#include "systems.hpp"

namespace palmette {
namespace {

namespace fs = std::filesystem;
using testing::generated;
using testing::have_same_bits;
using testing::quiet_options;
using testing::some_right_hand_sides;

/// A file that is removed at the end.
struct TemporaryFile {
  std::string path = (fs::temp_directory_path() / ("palmette_saved_" + std::to_string(::getpid()))).string();
  ~TemporaryFile() { fs::remove(path); }
};

LoadOptions quiet_load(bool map = true, bool check = true) {
  LoadOptions options;
  options.threads = 2;
  options.measure = false;
  options.map = map;
  options.check_panels = check;
  return options;
}

template <class T>
std::vector<T> x_of(Solver<T>& solver, index_t num_rhs, Operation operation = Operation::plain) {
  const DenseMatrix<T> b = some_right_hand_sides<T>(solver.size(), num_rhs);
  DenseMatrix<T> x(solver.size(), num_rhs);
  SolveRequest request;
  request.operation = operation;
  const Outcome<Report> answer = solver.solve(b.view(), x.view(), request);
  EXPECT_TRUE(answer && answer.value().verify->verified);
  return x.values;
}

template <class T>
void expect_same_after_load(testing::Shared<T> matrix, const SolverOptions& options) {
  Solver<T> solver = Solver<T>::create(std::move(matrix), options).value();
  const TemporaryFile file;
  solver.save(file.path);
  EXPECT_EQ(saved_scalar(file.path), ScalarTraits<T>::type);
  for (const bool map : {true, false}) {
    SCOPED_TRACE(map);
    Solver<T> again = Solver<T>::load(file.path, quiet_load(map));
    for (const index_t num_rhs : {1, 5})
      EXPECT_TRUE(have_same_bits(x_of(solver, num_rhs), x_of(again, num_rhs)));
    EXPECT_TRUE(have_same_bits(x_of(solver, 1, Operation::adjoint), x_of(again, 1, Operation::adjoint)));
    EXPECT_EQ(solver.slogdet(), again.slogdet());
    const Report before = solver.report(), after = again.report();
    EXPECT_EQ(before.factorize->kind, after.factorize->kind);
    EXPECT_EQ(before.factorize->scalar, after.factorize->scalar);
    EXPECT_EQ(before.analyze->supernodes, after.analyze->supernodes);
    EXPECT_EQ(before.analyze->flops, after.analyze->flops);
    EXPECT_EQ(before.matrix.symmetry, after.matrix.symmetry);
    EXPECT_EQ(before.factorize->capacitance.has_value(), after.factorize->capacitance.has_value());
    EXPECT_NE(after.notes.back().find("factors of " + file.path), std::string::npos);
    // New values enter by the loaded order and structure.
    std::vector<T> values = solver.matrix()->values;
    for (T& value : values) value *= real_t<T>(3);
    Solver<T> other = Solver<T>::load(file.path, quiet_load(map));
    ASSERT_TRUE(static_cast<bool>(other.refactor_values(values)));
    ASSERT_TRUE(static_cast<bool>(again.refactor_values(values)));
    EXPECT_TRUE(have_same_bits(x_of(other, 1), x_of(again, 1)));
    EXPECT_FALSE(have_same_bits(x_of(other, 1), x_of(solver, 1)));
  }
}

SolverOptions of_kind(FactorKind kind) {
  SolverOptions options = quiet_options();
  options.kind = kind;
  options.ordering = OrderingMethod::amd;  // not the usual options: by supernodes
  return options;
}

TEST(saved_solver, gives_the_same_bits_for_every_kind) {
  expect_same_after_load(generated<double>("poisson3d7", 9), of_kind(FactorKind::llt));
  expect_same_after_load(generated<double>("kkt3d", 6), of_kind(FactorKind::ldlt));
  expect_same_after_load(generated<double>("convection_diffusion3d", 8), of_kind(FactorKind::lu));
}

TEST(saved_solver, gives_the_same_bits_for_every_scalar) {
  expect_same_after_load(generated<float>("poisson2d9", 20), of_kind(FactorKind::ldlt));
  expect_same_after_load(generated<std::complex<float>>("convection_diffusion2d", 12),
                         of_kind(FactorKind::lu));
  expect_same_after_load(generated<std::complex<double>>("poisson3d7", 6), of_kind(FactorKind::llt));
}

TEST(saved_solver, gives_the_same_bits_in_mixed_precision) {
  SolverOptions options = of_kind(FactorKind::lu);
  options.mixed_precision = true;
  expect_same_after_load(generated<double>("convection_diffusion2d", 25), options);
}

TEST(saved_solver, gives_the_same_bits_by_columns) {
  for (const auto& [problem, n] :
       {std::pair("poisson2d5", 3), std::pair("poisson2d5", 20), std::pair("convection_diffusion2d", 3),
        std::pair("convection_diffusion2d", 12)}) {
    SCOPED_TRACE(problem);
    const auto matrix = generated<double>(problem, n);
    EXPECT_EQ(Solver<double>::create(matrix, quiet_options()).value().report().analyze->supernodes, 0);
    expect_same_after_load(matrix, quiet_options());
  }
}

TEST(saved_solver, of_a_singular_pattern_keeps_what_was_added_to_it) {
  SolverOptions options = quiet_options();
  options.singular = SingularAnswer::least_norm;
  Solver<double> solver =
      Solver<double>::create(testing::matrix_of<double>({{1, 2, 0}, {3, 4, 0}, {0, 0, 0}}), options).value();
  const TemporaryFile file;
  solver.save(file.path);
  Solver<double> again = Solver<double>::load(file.path, quiet_load());
  DenseMatrix<double> x(3, 1), y(3, 1);
  x.values = y.values = {5, 11, 0};
  ASSERT_TRUE(static_cast<bool>(solver.solve(std::as_const(x).view(), x.view())));
  ASSERT_TRUE(static_cast<bool>(again.solve(std::as_const(y).view(), y.view())));
  EXPECT_TRUE(have_same_bits(x.values, y.values));
  EXPECT_NEAR(y.values[0], 1, 1e-12);  // [1 2; 3 4]·[1; 2] = [5; 11]
}

/// Indefinite: the diagonal of the Laplacian less 2.1.
testing::Shared<double> shifted_laplacian(index_t n) {
  SparseMatrix<double> matrix = *generated<double>("poisson2d5", n);
  for (double& value : matrix.values)
    if (value > 0) value -= 2.1;
  return std::make_shared<const SparseMatrix<double>>(std::move(matrix));
}

TEST(saved_solver, undoes_replaced_pivots_as_before) {
  for (const FactorKind kind : {FactorKind::ldlt, FactorKind::lu}) {
    SCOPED_TRACE(name_of(kind));
    SolverOptions options = of_kind(kind);
    options.tiny_pivot = 0.6;  // pivots below are replaced: more than rounding would ask for
    const auto matrix = shifted_laplacian(8);
    const auto report = Solver<double>::create(matrix, options).value().report();
    ASSERT_TRUE(report.factorize->capacitance);
    EXPECT_TRUE(report.factorize->capacitance->used_in_solves);
    expect_same_after_load(matrix, options);
  }
}

TEST(saved_solver, has_sizes_0_and_1) {
  for (const auto& rows : {std::vector<std::vector<double>>{}, {{4}}}) {
    Solver<double> solver = Solver<double>::create(testing::matrix_of<double>(rows), quiet_options()).value();
    const TemporaryFile file;
    solver.save(file.path);
    EXPECT_EQ(Solver<double>::load(file.path, quiet_load()).size(), static_cast<index_t>(rows.size()));
  }
}

TEST(saved_solver, of_another_scalar_is_refused_and_says_which) {
  Solver<double> solver = Solver<double>::create(generated<double>("poisson2d5", 4), quiet_options()).value();
  const TemporaryFile file;
  solver.save(file.path);
  try {
    Solver<float>::load(file.path);
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.what(), file.path + ": holds factors of float64, not of float32; load them as float64");
  }
}

/// The bytes of a small saved solver, and ways to change them.
class SavedBytes : public ::testing::Test {
 protected:
  SavedBytes()
      : solver_(
            Solver<double>::create(generated<double>("convection_diffusion2d", 3), of_kind(FactorKind::lu))
                .value()) {
    solver_.save(file_.path);
    std::ifstream file(file_.path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    x_ = x_of(solver_, 1);
  }
  void put(std::string_view bytes) const {
    std::ofstream(file_.path, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// Whether the changed file is refused; if it is not, its x must be the same or count as not verified.
  bool is_refused(std::string_view bytes, bool check) const {
    put(bytes);
    try {
      Solver<double> again = Solver<double>::load(file_.path, quiet_load(true, check));
      const DenseMatrix<double> b = some_right_hand_sides<double>(again.size(), 1);
      DenseMatrix<double> x(again.size(), 1);
      const Outcome<Report> answer = again.solve(b.view(), x.view());
      if (answer && answer.value().verify->verified) {
        for (std::size_t i = 0; i < x.values.size(); ++i) EXPECT_NEAR(x.values[i], x_[i], 1e-10);
      }
      if (check) {
        EXPECT_TRUE(have_same_bits(x.values, x_));
      }
      return false;
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("factorize the matrix again"), std::string::npos);
      return true;
    }
  }
  /// Where sections lie, by the table of the file.
  std::vector<archive_detail::Section> sections() const {
    archive_detail::Header header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    std::vector<archive_detail::Section> found(header.num_sections);
    std::memcpy(found.data(), bytes_.data() + header.table_offset, found.size() * sizeof found[0]);
    return found;
  }
  /// The bytes with checksums that agree.
  static std::string sealed(std::string bytes) {
    archive_detail::Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<archive_detail::Section> table(header.num_sections);
    std::memcpy(table.data(), bytes.data() + header.table_offset, table.size() * sizeof table[0]);
    for (archive_detail::Section& section : table)
      section.sum = checksum(std::as_bytes(std::span(bytes).subspan(section.offset, section.bytes)));
    header.table_sum = checksum(std::as_bytes(std::span(table)));
    header.header_sum = checksum(std::as_bytes(std::span(&header, 1)).first(sizeof header - 8));
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + header.table_offset, table.data(), table.size() * sizeof table[0]);
    return bytes;
  }

  TemporaryFile file_;
  Solver<double> solver_;
  std::string bytes_;
  std::vector<double> x_;
};

TEST_F(SavedBytes, that_were_cut_anywhere_are_refused) {
  for (std::size_t size = 0; size < bytes_.size(); size += 211)
    ASSERT_TRUE(is_refused(std::string_view(bytes_).substr(0, size), true)) << size;
}

TEST_F(SavedBytes, with_a_changed_bit_are_refused_or_give_the_same_x) {
  std::size_t refused = 0, tried = 0;
  for (std::size_t at = 0; at < bytes_.size(); at += 53) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    refused += is_refused(changed, true);
    ++tried;
  }
  EXPECT_GT(refused, tried / 2);
  // Every byte that belongs to a section.
  for (const archive_detail::Section& section : sections())
    for (const std::uint64_t at : {std::uint64_t{0}, section.bytes / 2, section.bytes - 1}) {
      if (section.bytes == 0) continue;
      std::string changed = bytes_;
      changed[section.offset + at] ^= 16;
      EXPECT_TRUE(is_refused(changed, true)) << section.name;
    }
}

TEST_F(SavedBytes, with_changed_values_that_were_not_compared_are_found_out_by_verification) {
  for (const archive_detail::Section& section : sections()) {
    if (!std::string_view(section.name).starts_with("panels.") || section.bytes == 0) continue;
    for (std::uint64_t at = 6; at < section.bytes; at += 8 * 9) {
      std::string changed = bytes_;
      changed[section.offset + at] ^= 64;  // an exponent
      EXPECT_FALSE(is_refused(changed, false)) << section.name;
    }
  }
}

TEST_F(SavedBytes, are_used_where_they_lie_with_what_the_plan_had_computed) {
  for (const archive_detail::Section& section : sections())
    if (std::string_view(section.name) == "panels.plan_lower")
      for (std::uint64_t at = 6; at < section.bytes; at += 8) bytes_[section.offset + at] ^= 1;
  put(sealed(bytes_));
  SolveRequest as_it_is;
  as_it_is.max_refine_steps = 0;
  Solver<double> again = Solver<double>::load(file_.path, quiet_load());
  const DenseMatrix<double> b = some_right_hand_sides<double>(again.size(), 1);
  DenseMatrix<double> x(again.size(), 1);
  ASSERT_TRUE(static_cast<bool>(again.solve(b.view(), x.view(), as_it_is)));
  EXPECT_FALSE(have_same_bits(x.values, x_));  // changed panels give another x
}

// Not an attack, but a file whose writer was wrong: lists of other lengths or with places outside the matrix.
TEST_F(SavedBytes, with_lists_that_contradict_each_other_are_refused_even_if_checksums_agree) {
  for (const archive_detail::Section& section : sections()) {
    const std::string_view name = section.name;
    const bool is_list = section.element == archive_detail::Element::index ||
                         section.element == archive_detail::Element::offset;
    if (!is_list || name == "plan.layout" || section.bytes == 0) continue;
    for (std::uint64_t at = 3; at < section.bytes; at += 20) {
      std::string changed = bytes_;
      changed[section.offset + at] ^= 0x40;  // adds 2³⁰ to a number of 32 bits, or more to one of 64
      EXPECT_TRUE(is_refused(sealed(changed), true)) << name << " " << at;
    }
  }
}

TEST_F(SavedBytes, of_a_build_with_other_registers_are_planned_anew) {
  for (const archive_detail::Section& section : sections())
    if (std::string_view(section.name) == "plan.layout") bytes_[section.offset + 1] ^= 1;
  put(sealed(bytes_));
  Solver<double> again = Solver<double>::load(file_.path, quiet_load());
  EXPECT_TRUE(have_same_bits(x_of(again, 1), x_));
}

TEST_F(SavedBytes, may_be_saved_over_while_a_solver_uses_them) {
  Solver<double> again = Solver<double>::load(file_.path, quiet_load());
  Solver<double>::create(generated<double>("poisson2d5", 4), quiet_options()).value().save(file_.path);
  EXPECT_TRUE(have_same_bits(x_of(again, 1), x_));
  again.save(file_.path);  // where it came from
  EXPECT_EQ(Solver<double>::load(file_.path, quiet_load()).size(), again.size());
}

}  // namespace
}  // namespace palmette
