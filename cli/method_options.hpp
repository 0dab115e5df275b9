// --method where systems are solved: its names, where a method runs, and what prediction may choose for it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "palmette/predict/predict.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette::cli {

inline constexpr SolveWhere on_one_machine[] = {SolveWhere::one_machine,   SolveWhere::device,
                                                SolveWhere::devices,       SolveWhere::device_layers,
                                                SolveWhere::device_levels, SolveWhere::devices_by_columns};
inline constexpr SolveWhere predicted_places[] = {SolveWhere::ranks, SolveWhere::layers, SolveWhere::devices,
                                                  SolveWhere::device_layers, SolveWhere::device_levels};
inline constexpr SolveWhere everywhere[] = {
    SolveWhere::one_machine, SolveWhere::ranks,         SolveWhere::layers,       SolveWhere::device,
    SolveWhere::devices,     SolveWhere::device_layers, SolveWhere::device_levels};

/// All of them, for lists of methods.
inline constexpr SolveWhere all_places[] = {SolveWhere::one_machine,   SolveWhere::ranks,
                                            SolveWhere::layers,        SolveWhere::device,
                                            SolveWhere::devices,       SolveWhere::device_layers,
                                            SolveWhere::device_levels, SolveWhere::devices_by_columns};

/// "auto (default); for one machine: serial, …": the methods of these places, as help shows them.
std::string method_help(std::span<const SolveWhere> places);

/// The method of that name. One that runs elsewhere is returned too, for check_solve_method to refuse.
/// @throws UsageError naming the nearest and all methods of these places, if there is no such method
SolveMethod read_method(const std::string& text, std::span<const SolveWhere> places);

/// The method runs on ranks in so many layers; 0: prediction chooses how many. @throws UsageError
void check_method(SolveMethod method, index_t layers);

/// Needs several layers.
bool is_layered(SolveMethod method);

/// Numbers of layers that prediction may choose for this method; empty if it needs several and these ranks
/// cannot form several of equal size.
std::vector<index_t> layers_to_choose_from(SolveMethod method, index_t num_ranks);

/// Methods of several layers that are left to choose from.
std::vector<LayeredMethod> layered_methods(SolveMethod method);

}  // namespace palmette::cli
