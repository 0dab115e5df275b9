// What --method means is read off the rows of the list of methods.
#include "cli/method_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/names.hpp"

namespace palmette::cli {
namespace {

std::vector<std::string> names_at(SolveWhere place) {
  std::vector<std::string> names;
  for (const SolveMethodInfo& info : solve_method_list(place)) names.emplace_back(info.name);
  return names;
}

bool runs_at(SolveMethod method, SolveWhere place) {
  const auto& rows = solve_method_list(place);
  return std::any_of(rows.begin(), rows.end(), [&](const auto& info) { return info.method == method; });
}

}  // namespace

std::string method_help(std::span<const SolveWhere> places) {
  std::string text = "auto (default)";
  for (const SolveWhere place : places)
    text += fmt::format("; for {}: {}", name_of(place), joined(names_at(place)));
  return text;
}

SolveMethod read_method(const std::string& text, std::span<const SolveWhere> places) {
  for (const SolveMethodInfo& info : solve_method_list())
    if (info.name == text) return info.method;
  std::vector<std::string> names = {"auto"};
  for (const SolveWhere place : places)
    for (std::string& name : names_at(place)) names.push_back(std::move(name));
  choose_name("--method", text, names);
  return SolveMethod::automatic;
}

void check_method(SolveMethod method, index_t layers) {
  if (layers == 0)
    check_solve_method(method, {SolveWhere::ranks, SolveWhere::layers});
  else
    check_solve_method(method, {layers > 1 ? SolveWhere::layers : SolveWhere::ranks});
}

bool is_layered(SolveMethod method) { return runs_at(method, SolveWhere::layers); }

std::vector<index_t> layers_to_choose_from(SolveMethod method, index_t num_ranks) {
  if (runs_at(method, SolveWhere::ranks)) return {1};
  std::vector<index_t> layers = doubling_layers(num_ranks);
  if (is_layered(method)) std::erase(layers, 1);
  return layers;
}

std::vector<LayeredMethod> layered_methods(SolveMethod method) {
  std::vector<LayeredMethod> methods;
  for (const SolveMethodInfo& info : solve_method_list(SolveWhere::layers))
    if (method == SolveMethod::automatic || method == info.method)
      methods.push_back(layered_method(info.method));
  return methods;
}

}  // namespace palmette::cli
