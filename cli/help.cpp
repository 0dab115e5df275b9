// CLI11's formatter with wrapped lines, and its errors in our words.
#include "cli/help.hpp"

#include <fmt/format.h>

#include "cli/failure.hpp"
#include "cli/names.hpp"
#include "cli/text.hpp"

namespace palmette::cli {
namespace {

constexpr std::size_t help_column = 28;
constexpr const char* group_titles[] = {"Problem", "System", "Method", "Ranks", "Report", "Options"};

/// "  left      text", the text wrapped in its column, on a line of its own if the left part is too long.
std::string help_line(const std::string& left, const std::string& text) {
  std::string result = "  " + left;
  bool is_first = left.size() + 4 <= help_column;
  if (!is_first) result += "\n";
  for (const std::string& line : wrap(text, text_width - help_column)) {
    const std::size_t indent = is_first ? help_column - left.size() - 2 : help_column;
    result += std::string(indent, ' ') + line + "\n";
    is_first = false;
  }
  return result;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override { return app->get_description() + "\n\n"; }

  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string line =
        app->get_parent() ? "Usage: palmette " + app->get_name() : std::string("Usage: palmette COMMAND");
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* each) { return each->get_positional(); }))
      line +=
          option->get_required() ? " " + option->get_option_text() : " [" + option->get_option_text() + "]";
    return line + " [options]\n";
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    const std::string& description = sub->get_description();
    return help_line(sub->get_name(), description.substr(0, description.find('\n')));
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string result = "\n" + group + ":\n";
    for (const CLI::Option* option : options) result += make_option(option, is_positional);
    return result;
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
    for (const char* title : group_titles) {
      const auto options = app->get_options(
          [title](const CLI::Option* each) { return each->nonpositional() && each->get_group() == title; });
      if (!options.empty()) text += make_group(title, false, options);
    }
    return text + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string& value = option->get_option_text();
    if (is_positional) return help_line(value, option->get_description());
    const std::string name = option->get_name(false, true);
    return help_line(value.empty() ? name : name + " " + value, option->get_description());
  }
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// "--threds=2" → "--threds".
std::string without_value(const std::string& word) { return word.substr(0, word.find('=')); }

std::string sentence_of_unknown_word(const CLI::App& root, const CLI::App* command, const std::string& word) {
  if (!command && word[0] != '-')
    return fmt::format("unknown command '{}'{}; the commands are {}", word,
                       suggestion(word, command_names(root)), joined(command_names(root)));
  const std::string name = command ? command->get_name() : std::string("palmette");
  const std::string help =
      command ? fmt::format("'palmette {} --help'", name) : std::string("'palmette --help'");
  if (word[0] != '-' || word == "-")
    return fmt::format("{} has an unexpected argument '{}'; see {}", name, word, help);
  const std::string option = without_value(word);
  return fmt::format("{} has no option '{}'{}; see {}", name, option,
                     suggestion(option, option_names(command ? *command : root)), help);
}

}  // namespace

CLI::Option* OptionGroup::value(const OptionText& text, std::function<void(const std::string&)> read) {
  CLI::Option* option = app_->add_option_function<std::string>(text.name, read, text.help);
  return option->option_text(text.value)->group(title_);
}

CLI::Option* OptionGroup::text(const OptionText& text, std::string& target) {
  return app_->add_option(text.name, target, text.help)->option_text(text.value)->group(title_);
}

CLI::Option* OptionGroup::flag(const std::string& name, const std::string& help, bool& target) {
  return app_->add_flag(name, target, help)->group(title_);
}

CLI::Option* add_argument(CLI::App& app, const OptionText& text, std::string& target, bool required) {
  return app.add_option(text.name, target, text.help)->option_text(text.value)->required(required);
}

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  return formatter;
}

std::string help_footer(const std::string& examples) {
  return "Examples:\n" + examples + "\n" + exit_codes_text;
}

std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> parsed =
      root.get_subcommands([&root](const CLI::App* app) { return root.got_subcommand(app); });
  const CLI::App* command = parsed.empty() ? nullptr : parsed.front();
  for (const std::string& word : root.remaining(true))
    if (!word.empty() && word != "--") return sentence_of_unknown_word(root, command, word);
  if (!command)
    return fmt::format("the command is missing; the commands are {}; see 'palmette --help'",
                       joined(command_names(root)));
  for (const CLI::Option* option : command->get_options())
    if (option->get_required() && option->count() == 0)
      return fmt::format("{}: {} is missing; see 'palmette {} --help'", command->get_name(),
                         option->get_option_text(), command->get_name());
  std::string reason = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    reason = reason.substr(0, reason.find(':')) + " takes exactly one value";
  return fmt::format("{}: {}; see 'palmette {} --help'", command->get_name(), reason, command->get_name());
}

}  // namespace palmette::cli
