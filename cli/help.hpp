// Declares options in one line each, and prints help texts that fit 80 columns.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace palmette::cli {

/// An option whose value `read` reads; it throws UsageError for an invalid value.
struct OptionText {
  std::string name;   ///< "--threads"
  std::string value;  ///< "T", as in the help
  std::string help;
};

/// Adds options of one group to a subcommand.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string title) : app_(&app), title_(std::move(title)) {}
  CLI::Option* value(const OptionText& text, std::function<void(const std::string&)> read);
  CLI::Option* text(const OptionText& text, std::string& target);
  CLI::Option* flag(const std::string& name, const std::string& help, bool& target);

 private:
  CLI::App* app_;
  std::string title_;
};

/// A required (or optional) positional argument.
CLI::Option* add_argument(CLI::App& app, const OptionText& text, std::string& target, bool required = true);

/// The layout of all help texts.
std::shared_ptr<CLI::FormatterBase> help_formatter();

/// Examples, then the exit codes.
std::string help_footer(const std::string& examples);

/// One sentence for an error of CLI11, with the nearest name if a word is unknown.
std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error);

}  // namespace palmette::cli
