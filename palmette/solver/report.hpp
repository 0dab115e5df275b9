// The report of a run: one struct for each phase, and one walk over all fields, which all printers use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/factorize/factorize.hpp"
#include "palmette/refine/refine.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {

std::string_view name_of(ScalarType scalar);  ///< "float64"

struct MatrixReport {
  index_t rows = 0;
  index_t cols = 0;
  offset_t nnz = 0;  ///< both triangles
  ScalarType scalar = ScalarType::float64;
  Symmetry symmetry = Symmetry::general;
};

struct OrderReport {
  OrderingMethod method = OrderingMethod::natural;
  bool matched = false;
  double seconds = 0;
};

struct AnalyzeReport {
  double seconds = 0;
  offset_t nnz_factor = 0;  ///< factor_entries: L, or L and U with one diagonal
  double flops = 0;         ///< factorization_flops
  index_t supernodes = 0;       ///< 0: factored by columns, because the factor is too thin for supernodes
  index_t diagonal_blocks = 1;  ///< of the block triangular form; 1 if it was not computed
  /// peak of the whole process through factorization and one solve; after `refactor`, with what that holds
  offset_t memory_bytes_predicted = 0;
};

/// A device's share of a factorization.
struct OffloadReport {
  std::string address;         ///< "emulated:0"
  bool emulated = false;
  OffloadWhen mode = OffloadWhen::automatic;
  std::string model;           ///< where the figures are from by which operations were sent
  OffloadCounts counts;
};

/// How the k × k capacitance matrix of k replaced pivots decided the signs that they left open.
struct CapacitanceReport {
  index_t order = 0;      ///< k
  index_t undecided = 0;  ///< signs that rounding leaves open
  double bound = 0;       ///< errors of the eigenvalues, which decide if they exceed it
  /// how far solutions with the factor are from those of the matrix with the pivots replaced; above 0.1,
  /// nothing is decided
  double contraction = 0;
  bool used_in_solves = false;  ///< solves are those of the given matrix, without refinement
  double flops = 0;             ///< predicted, real
  offset_t memory_bytes = 0;    ///< predicted
  double seconds = 0;
};

struct FactorizeReport {
  FactorKind kind = FactorKind::llt;
  ScalarType scalar = ScalarType::float64;  ///< float32 or complex64 in mixed precision
  int threads = 1;    ///< 1 if the work is too small for several threads
  double seconds = 0;
  /// 10⁹ flops/s, counting AnalyzeReport::flops (a complex multiplication and addition as 8)
  double gflops = 0;
  /// inertia.zero: signs that replaced pivots left open; the capacitance matrix may have decided them
  PivotReport pivots;
  std::optional<CapacitanceReport> capacitance;  ///< absent: it was not needed, or not computed
  /// number of rows, and of columns, without a matching nonzero; the factorization used added entries there
  index_t structural_deficiency = 0;
  offset_t memory_bytes = 0;
  std::optional<OffloadReport> offload;  ///< absent: there was no device
};

/// The device that held the factor, and what one solve made it do.
struct DeviceReport {
  std::string address;         ///< "emulated:0"
  std::string name;
  bool emulated = false;       ///< seconds are those of a CPU that runs the kernels
  offset_t memory_bytes = 0;   ///< that Palmette uses there
  DeviceCounts counts;         ///< of one solve without refinement
};

/// Panels that were read from the file of a saved solver during one solve.
struct PanelFileReport {
  offset_t memory_budget = 0;
  double bytes = 0;                    ///< that were read
  std::optional<double> cached_bytes;  ///< of these, from the system's page cache; absent: unknown
  double read_seconds = 0;             ///< of reading, beside computing
  double wait_seconds = 0;             ///< that computing waited
  double read_gbs = 0;                 ///< bytes / read_seconds
  double disk_gbs = 0;                 ///< as given, or measured with this file at loading; 0: unknown
  double disk_fraction = 0;            ///< read_gbs / disk_gbs; 0: unknown
};

struct SolveReport {
  SolveMethod method = SolveMethod::serial;
  int threads = 1;
  index_t num_rhs = 0;
  /// one solve without refinement: the median of the repeats; with several, one more runs first as a warm-up
  double seconds = 0;
  double bytes = 0;         ///< SolveCost::bytes
  double bandwidth_gbs = 0; ///< bytes / seconds
  /// measured bandwidth of the memory, with so many threads or of the device; 0 if not measured
  double stream_gbs = 0;
  /// shortest possible seconds by that bandwidth over measured seconds; 0 if not measured
  double roofline_fraction = 0;
  /// bytes of the critical path over stream bandwidth; 0 if not measured
  double critical_path_seconds = 0;
  index_t guarded_blocks = 0;
  std::optional<DeviceReport> device;  ///< absent: the host solved
  std::optional<PanelFileReport> file;  ///< absent: the panels were in memory
};

/// A solve by the emulator: its time says nothing about a device.
inline bool is_emulated(const SolveReport& solve) { return solve.device && solve.device->emulated; }

/// Everything about one run. `notes` lists what a user should know, the most important first.
struct Report {
  MatrixReport matrix;
  // order, analyze, factorize: absent for a caller's triangles and factors
  std::optional<OrderReport> order;
  std::optional<AnalyzeReport> analyze;
  std::optional<FactorizeReport> factorize;
  std::optional<SolveReport> solve;          // after a solve
  std::optional<Verification> verify;        // after a solve
  std::vector<std::string> notes;
  std::int64_t peak_memory_bytes = 0;
  std::string version;
};

/// Receives the fields of a Report in order: sections open and close around their fields. Absent figures are
/// null.
class ReportVisitor {
 public:
  virtual ~ReportVisitor() = default;
  virtual void open(std::string_view section) = 0;
  virtual void close() = 0;
  virtual void field(std::string_view name, std::string_view value) = 0;
  virtual void field(std::string_view name, double value) = 0;
  virtual void field(std::string_view name, std::int64_t value) = 0;
  virtual void field(std::string_view name, bool value) = 0;
  virtual void null(std::string_view name) = 0;
  virtual void list(std::string_view name, const std::vector<std::string>& values) = 0;
  virtual void list(std::string_view name, const std::vector<index_t>& values) = 0;
};

/// Walk over all fields under their public names, which are those of the command's JSON:
/// matrix{rows,cols,nnz,scalar,symmetry}, order{method,seconds,matched},
/// analyze{seconds,nnz_factor,flops,supernodes,diagonal_blocks,memory_bytes_predicted},
/// factorize{kind,scalar,threads,seconds,gflops,perturbed_pivots,perturbed_columns,structural_deficiency,
///           inertia{positive,negative,zero},
///           capacitance{order,undecided,bound,contraction,used_in_solves,flops,memory_bytes,seconds},
///           log_abs_determinant,memory_bytes,
///           offload{device,emulated,mode,model,host_OP_calls,host_OP_flops,device_OP_calls,device_OP_flops
///                   (OP: potrf, trsm, syrk, gemm),copies_in,copies_out,bytes_in,bytes_out,panels_kept,
///                   panels_evicted,fallbacks}},
/// solve{method,threads,num_rhs,seconds,bytes,bandwidth_gbs,stream_gbs,roofline_fraction,
///       critical_path_seconds,guarded_blocks,
///       device{address,name,emulated,memory_bytes,bytes_in,bytes_out,launches},
///       file{memory_budget,bytes,cached_bytes,read_seconds,wait_seconds,read_gbs,disk_gbs,disk_fraction}},
/// verify{backward_error,componentwise_backward_error,condition_1norm,forward_error_bound,refine_steps,
///        bound,verified,singular_distance,null_directions,least_squares_error},
/// notes, peak_memory_bytes, version. perturbed_columns are 0-based. inertia is null where it is not defined.
/// Sections of phases that did not run (trisolve has no order; no solve yet) are null.
void visit(const Report& report, ReportVisitor& visitor);

/// Version of the library, "major.minor.patch".
std::string_view version();

}  // namespace palmette
