// The list of applications.
#include "palmette/transfer/applications.hpp"

#include "palmette/transfer/application_answers.hpp"

namespace palmette::transfer {

const char* name_of(Application application) {
  static const char* const names[] = {"jacobi", "pagerank",  "sssp",      "als",
                                      "ct",     "diffusion", "transpose", "trisolve"};
  return names[static_cast<int>(application)];
}

ApplicationRun run_application(Application application, const ApplicationOptions& options) {
  if (!(options.scale > 0) || options.scale > 64) throw UsageError("scale must be above 0 and at most 64");
  if (options.iterations < 0 || options.iterations > 1000)
    throw UsageError("an application runs 0 (its own choice) to 1000 iterations");
  if (options.ratings && application != Application::als)
    throw UsageError(std::string("ratings are for als; ") + name_of(application) + " uses none");
  switch (application) {
    case Application::jacobi:
      return run_jacobi(options);
    case Application::pagerank:
      return run_pagerank(options);
    case Application::sssp:
      return run_sssp(options);
    case Application::als:
      return run_als(options);
    case Application::ct:
      return run_ct(options);
    case Application::diffusion:
      return run_diffusion(options);
    case Application::transpose:
      return run_transpose(options);
    default:
      return run_trisolve(options);
  }
}

}  // namespace palmette::transfer
