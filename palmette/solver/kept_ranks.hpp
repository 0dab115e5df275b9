// Inside `solver`: the products of a RankSolver as a set of files, one for each rank, and back.
#pragma once

#include <memory>
#include <string>

#include "palmette/archive/archive.hpp"
#include "palmette/solver/rank_products.hpp"

namespace palmette {

/// Every rank writes its file; all appear when the disk has all of them. Every rank must call it.
/// @throws IoError on all ranks, naming the file
template <class T>
void save_rank_products(const std::string& path, const RankProducts<T>& made,
                        const RankSolverOptions& options, const RankTeam& ranks);

/// This rank's file. Every rank must call it.
/// @throws IoError on all ranks, as RankSolver::load
template <class T>
std::shared_ptr<const Archive> open_file_of_rank(const std::string& path, const RankLoadOptions& options,
                                                 const RankTeam& ranks);

/// The options of the saved solver; threads, device and transport are those of this run.
/// @throws IoError, UsageError
RankSolverOptions kept_rank_options(const Archive& file, const RankLoadOptions& options);

/// What RankProductMaker::adopt takes: products, whose inverse is empty until then, and this rank's part of
/// the factor.
template <class T>
struct KeptRankProducts {
  RankProducts<T> made;
  std::shared_ptr<RankFactor<T>> factor;
};
/// Needs no other rank. @param input  of this file; @param map  panels stay in the map of the file
/// @throws IoError, UsageError
template <class T>
KeptRankProducts<T> load_rank_products(const std::shared_ptr<const Archive>& file,
                                       std::shared_ptr<const RankInput<T>> input,
                                       const RankSolverOptions& options, index_t rank, bool map);

}  // namespace palmette
