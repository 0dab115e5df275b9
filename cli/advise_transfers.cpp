// palmette advise-transfers: which of the paradigms that one can program today is fastest for a program.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/progress_bar.hpp"
#include "cli/text.hpp"
#include "cli/transfer_options.hpp"

namespace palmette::cli {
namespace {

struct AdviseCommand {
  TransferOptions transfers;
  OutputOptions output;
};

std::string way_of(const transfer::TransferResult& result) {
  if (result.paradigm != transfer::Paradigm::proact) return name_of(result.paradigm);
  return fmt::format("chunks of {} KB (proact)", result.chunk_bytes / 1024);
}

std::string advice_text(const std::string& name, const transfer::Advice& advice) {
  FactList facts(16);
  facts.add("program", name);
  facts.add("advice", fmt::format("{}: {:.2f} times as fast as the next best (simulated)",
                                  way_of(advice.candidates.front()), advice.margin));
  TextTable table({"paradigm", "time", "of the best"});
  for (const transfer::TransferResult& one : advice.candidates)
    table.add({way_of(one), format_seconds(one.seconds),
               fmt::format("{:.2f}", one.seconds / advice.candidates.front().seconds)});
  std::string text = facts.text() + "\n" + table.text({0});
  if (!advice.is_sensitive())
    return text + "\n  The advice stays the same if any estimated parameter is halved or doubled.\n\n";
  TextTable changes({"parameter", "times", "then fastest", "margin"});
  for (const transfer::Sensitivity& one : advice.sensitivity)
    if (one.winner != advice.candidates.front().paradigm)
      changes.add({one.parameter, fmt::format("{:.1f}", one.factor), name_of(one.winner),
                   fmt::format("{:.2f}", one.margin)});
  return text + "\n  Measure these before you rely on it:\n" + changes.text({0, 2}) + "\n";
}

Json advice_json(const std::string& name, const transfer::Advice& advice) {
  Json document{{"program", name},
                {"simulated", true},
                {"winner", name_of(advice.candidates.front().paradigm)},
                {"chunk_bytes", advice.chunk_bytes},
                {"margin", advice.margin},
                {"candidates", Json::array()},
                {"sensitivity", Json::array()}};
  for (const transfer::TransferResult& one : advice.candidates)
    document["candidates"].push_back(transfer_json(one, 0));
  for (const transfer::Sensitivity& one : advice.sensitivity)
    document["sensitivity"].push_back({{"parameter", one.parameter},
                                       {"factor", one.factor},
                                       {"winner", name_of(one.winner)},
                                       {"margin", one.margin}});
  return document;
}

int run_advise(const AdviseCommand& command) {
  check_writable("--json", command.output.json);
  const InterconnectFile interconnect = interconnect_of(command.transfers);
  Json document{{"interconnect", interconnect.fabric.name}, {"programs", Json::array()}};
  ProgressBar progress(!command.output.quiet);
  for (const transfer::StoreTrace& trace : traces_of(command.transfers, progress)) {
    const transfer::Advice advice =
        advise(trace, interconnect.fabric, command.transfers.simulation, progress.callback());
    progress.end();
    document["programs"].push_back(advice_json(trace.name, advice));
    if (command.output.shows_table()) print(advice_text(trace.name, advice));
  }
  return finish(command.output, document);
}

}  // namespace

Command add_advise_transfers(CLI::App& root) {
  CLI::App& app =
      new_subcommand(root, "advise-transfers",
                     "Say whether bulk copies, chunks or fine-grained stores are fastest for a program.\n"
                     "The winner, its margin, and which estimated parameters could change the answer;\n"
                     "all from simulated times, without a GPU.",
                     "  palmette advise-transfers my_trace.txt --interconnect nvlink3\n"
                     "  palmette advise-transfers jacobi --interconnect nvswitch --machine dgx-2 --gpus 8\n");
  const auto command = std::make_shared<AdviseCommand>();
  add_transfer_options(app, command->transfers);
  add_output_options(app, command->output);
  return {&app, [command] { return run_advise(*command); }};
}

}  // namespace palmette::cli
