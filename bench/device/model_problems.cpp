// Reads the list of model problems, which is part of the program.
#include "bench/device/model_problems.hpp"

#include <sstream>

namespace palmette::benchmarks {

extern const char* const model_problems_text;

std::vector<ModelProblem> model_problems() {
  std::vector<ModelProblem> problems;
  std::istringstream lines(model_problems_text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    ModelProblem one;
    words >> one.problem >> one.n >> std::ws;
    std::getline(words, one.title);
    problems.push_back(std::move(one));
  }
  return problems;
}

}  // namespace palmette::benchmarks
