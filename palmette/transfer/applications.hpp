// Part of the door of `transfer`: programs that really run on threads as devices and leave a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "palmette/transfer/ratings.hpp"
#include "palmette/transfer/store_trace.hpp"

namespace palmette::transfer {

enum class Application {
  jacobi,     ///< of a banded system: each device stores its part of x into all others
  pagerank,   ///< of an R-MAT graph: sums over a device's edges go to the owner of their target
  sssp,       ///< Bellman–Ford on a mesh: distances that became shorter go to all others
  als,        ///< factors of ratings by gradient steps: a row is stored after each rating, to all others
  ct,         ///< tomography, fan beam: rays and pixels go to all others
  diffusion,  ///< on a plane: edges of strips go to neighbours
  transpose,  ///< all to all: each entry goes to the owner of its row
  trisolve,   ///< rows of a triangle, level by level: entries of x go to all others
};
inline constexpr Application applications[] = {
    Application::jacobi, Application::pagerank,  Application::sssp,      Application::als,
    Application::ct,     Application::diffusion, Application::transpose, Application::trisolve};
const char* name_of(Application application);

struct ApplicationOptions {
  int devices = 4;
  double scale = 1;    ///< of the number of unknowns, roughly
  int iterations = 0;  ///< 0: of the application; ignored by trisolve
  std::uint64_t seed = 1;
  /// For als, which then takes the first `scale` of them, at most all. Null: it generates some.
  std::shared_ptr<const Ratings> ratings;
};

struct ApplicationRun {
  StoreTrace trace;
  double error = 0;  ///< largest difference from the serial answer, relative to its largest entry
};

/// A larger error of a run means that it is wrong: some sums are in single precision.
inline constexpr double most_application_error = 1e-4;

/// Run an application on one thread for each device, and the same without devices.
/// @throws UsageError for options that cannot be used
/// @cost  some 10⁶ accesses of 32 bytes at scale 1
ApplicationRun run_application(Application application, const ApplicationOptions& options);

}  // namespace palmette::transfer
