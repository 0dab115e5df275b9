// Part of the door of `factorize`: a factorization whose blocks are distributed over ranks.
#pragma once

#include <memory>

#include "palmette/blocks/blocks.hpp"
#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {

/// How a finished block reaches the ranks that use it.
enum class BlockDelivery {
  push,  ///< its owner sends it
  pull,  ///< its owner signals, and they fetch it: the owner keeps one copy for all
};
inline constexpr BlockDelivery block_deliveries[] = {BlockDelivery::push, BlockDelivery::pull};
std::string_view name_of(BlockDelivery delivery);
/// @throws UsageError listing the names
BlockDelivery delivery(std::string_view name);

struct RankFactorizeOptions {
  FactorKind kind = FactorKind::llt;
  double tiny_pivot = 0;  ///< as FactorizeOptions
  int threads = 1;        ///< number of threads that will drive the program
  BlockDelivery delivery = BlockDelivery::push;
  index_t columns_last = 0;  ///< as FactorizeOptions
};

/// The matrix to factorize, on each rank.
template <class T>
struct RankSystem {
  const SparseMatrix<T>& matrix;  ///< n × n; only the entries of the rank's own blocks are read
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Placement> placement;
  const Ordering& ordering;
  /// largest modulus of the scaled matrix, the same on all ranks; 0: computed from `matrix`, which holds all
  /// entries
  double largest_entry = 0;
};

/// One rank's factorization: create it, drive its program until it is done, take the factor.
///
/// Finished blocks are sent to the ranks that use them (fan-out): pushed, or pulled as in
/// [Bellavita et al. 2023] (one signal and one get for each block and rank that uses it). A rank subtracts
/// the updates of each of its panels in ascending order of their source, with the kernels of `factorize`, so
/// each block has the same bits as there, for any placement, transport and number of threads. A bad pivot
/// does not stop the exchange: blocks that depend on it are sent without content, so that every message still
/// arrives.
template <class T>
class RankFactorization {
 public:
  /// @param system     must outlive this
  /// @param transport  must outlive this object; nothing else may use it during that time
  /// @throws DimensionError, MemoryError; UsageError if transport and placement differ in their number of
  ///   ranks
  RankFactorization(const RankSystem<T>& system, const RankFactorizeOptions& options, Transport& transport);
  ~RankFactorization();
  RankFactorization(RankFactorization&&) noexcept;

  RankProgram& program();
  /// The smallest supernode with a bad pivot among this rank's own; −1 if there is none.
  index_t bad_supernode() const;
  /// The failure of that supernode, as in factorize; only if there is one.
  NumericalFailure failure() const;
  /// What pivoting did in this rank's own diagonal blocks, as in Factor; after the program is done, before
  /// take. Modulus and sign of the determinant are those of the product of these pivots.
  PivotReport pivots() const;
  /// All replaced pivots in these blocks, as Factor::replaced.
  std::vector<ReplacedPivot> replaced() const;
  /// This rank's blocks. Call it once, after the program is done.
  RankFactor<T> take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
