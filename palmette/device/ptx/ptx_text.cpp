// The text of a module of PTX as statements, lists and declarations.
#include <algorithm>
#include <cctype>
#include <map>

#include "palmette/device/ptx/ptx_program.hpp"

namespace palmette::emulate::ptx {

std::string trimmed(const std::string& text) {
  const char* const blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if (c != separator || depth > 0) {
      part += c;
      continue;
    }
    parts.push_back(trimmed(part));
    part.clear();
  }
  if (const std::string last = trimmed(part); !last.empty()) parts.push_back(last);
  return parts;
}

namespace {

/// Comments become blanks, so that lines and columns stay.
std::string without_comments(std::string text) {
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*')) continue;
    const bool is_line = text[at + 1] == '/';
    const std::size_t found = is_line ? text.find('\n', at) : text.find("*/", at + 2);
    const std::size_t end =
        std::min(text.size(), found == std::string::npos ? found : found + (is_line ? 0 : 2));
    for (; at < end; ++at)
      if (text[at] != '\n') text[at] = ' ';
  }
  return text;
}

bool begins_block(const std::string& text) {
  return text.empty() || text.find(".entry") != std::string::npos || text.find(".func") != std::string::npos;
}

bool is_label(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '$';
  });
}

/// Directives that end with their line.
bool ends_with_line(const std::string& text) {
  const auto begins_with = [&](const char* word) { return text.rfind(word, 0) == 0; };
  return begins_with(".version") || begins_with(".target") || begins_with(".address_size") ||
         begins_with(".loc") || begins_with(".file");
}

/// Takes the text letter by letter.
class Splitter {
 public:
  void take(char c) {
    const std::string text = trimmed(text_);
    if (c == ';' || (c == ':' && is_label(text)) || (c == '{' && begins_block(text))) return finish(c);
    if (c == '}' && text.empty()) return finish(c);
    if (c == '\n' && ends_with_line(text)) return finish(';'), void(++line_);
    if (c == '\n') ++line_;
    if (text_.empty() && std::isspace(static_cast<unsigned char>(c)) != 0) return;
    if (text_.empty()) first_line_ = line_;
    text_ += c == '\n' ? ' ' : c;
  }
  std::vector<Statement> statements;

 private:
  void finish(char end) {
    statements.push_back({trimmed(text_), text_.empty() ? line_ : first_line_, end});
    text_.clear();
  }
  std::string text_;
  int line_ = 1, first_line_ = 1;
};

std::size_t bytes_of_type(const std::string& type) {
  static const std::map<std::string, std::size_t> other = {{".pred", 1}};
  const auto digits = type.find_first_of("0123456789");
  return digits == std::string::npos ? 1 : std::stoul(type.substr(digits)) / 8;
}

}  // namespace

std::vector<Statement> split_statements(const std::string& text) {
  Splitter splitter;
  for (const char c : without_comments(text)) splitter.take(c);
  return std::move(splitter.statements);
}

Variable read_variable(const std::string& declaration) {
  Variable variable;
  std::size_t bytes_of_one = 1;
  std::vector<std::string> words = split_list(declaration, ' ');
  for (std::size_t k = 0; k + 1 < words.size(); ++k) {
    if (words[k] == ".align")
      variable.alignment = std::stoul(words[++k]);
    else if (words[k].find_first_of("0123456789") != std::string::npos)
      bytes_of_one = bytes_of_type(words[k]);
  }
  variable.alignment = std::max(variable.alignment, bytes_of_one);
  const std::string& last = words.back();
  const auto bracket = last.find('[');
  variable.name = last.substr(0, bracket);
  variable.is_unsized = last.find("[]") != std::string::npos;
  const std::size_t count = variable.is_unsized            ? 0
                            : bracket == std::string::npos ? 1
                                                           : std::stoul(last.substr(bracket + 1));
  variable.bytes = count * bytes_of_one;
  return variable;
}

}  // namespace palmette::emulate::ptx
