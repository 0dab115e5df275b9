// One walk over the report's fields, which are written in order.
#include "palmette/capi/mpi/report_json.hpp"

#include <cmath>
#include <cstdio>

namespace palmette::capi {
namespace {

class JsonWriter final : public ReportVisitor {
 public:
  void open(std::string_view section) override {
    name(section);
    text_ += '{';
    first_ = true;
  }
  void close() override {
    text_ += '}';
    first_ = false;
  }
  void field(std::string_view key, std::string_view value) override {
    name(key);
    quote(value);
  }
  void field(std::string_view key, double value) override {
    name(key);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    text_ += std::isfinite(value) ? digits : "null";
  }
  void field(std::string_view key, std::int64_t value) override {
    name(key);
    text_ += std::to_string(value);
  }
  void field(std::string_view key, bool value) override {
    name(key);
    text_ += value ? "true" : "false";
  }
  void null(std::string_view key) override {
    name(key);
    text_ += "null";
  }
  void list(std::string_view key, const std::vector<std::string>& values) override {
    items(key, values, [this](const std::string& value) { quote(value); });
  }
  void list(std::string_view key, const std::vector<index_t>& values) override {
    items(key, values, [this](index_t value) { text_ += std::to_string(value); });
  }

  std::string result() && { return std::move(text_) + "}"; }

 private:
  void name(std::string_view key) {
    if (!first_) text_ += ',';
    first_ = false;
    quote(key);
    text_ += ':';
  }
  void quote(std::string_view value) {
    text_ += '"';
    for (const char letter : value) {
      if (letter == '"' || letter == '\\') text_ += '\\';
      if (static_cast<unsigned char>(letter) >= 0x20) text_ += letter;
      else text_ += ' ';
    }
    text_ += '"';
  }
  template <class Value, class Write>
  void items(std::string_view key, const std::vector<Value>& values, const Write& write) {
    name(key);
    text_ += '[';
    for (std::size_t place = 0; place < values.size(); ++place) {
      if (place > 0) text_ += ',';
      write(values[place]);
    }
    text_ += ']';
  }

  std::string text_ = "{";
  bool first_ = true;
};

}  // namespace

std::string report_json(const RankReport& report) {
  JsonWriter writer;
  visit(report, writer);
  return std::move(writer).result();
}

}  // namespace palmette::capi
