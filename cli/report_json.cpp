// Walks over a Report and builds the JSON document.
#include "cli/report_json.hpp"

#include <cmath>

namespace palmette::cli {
namespace {

using Json = nlohmann::ordered_json;

class JsonVisitor : public ReportVisitor {
 public:
  JsonVisitor() : open_{&document_} {}

  void open(std::string_view section) override {
    Json& opened = here()[std::string(section)];
    opened = Json::object();
    open_.push_back(&opened);
  }
  void close() override { open_.pop_back(); }
  void field(std::string_view name, std::string_view value) override {
    here()[std::string(name)] = std::string(value);
  }
  void field(std::string_view name, double value) override {
    here()[std::string(name)] = number_or_null(value);
  }
  void field(std::string_view name, std::int64_t value) override { here()[std::string(name)] = value; }
  void field(std::string_view name, bool value) override { here()[std::string(name)] = value; }
  void null(std::string_view name) override { here()[std::string(name)] = nullptr; }
  void list(std::string_view name, const std::vector<std::string>& values) override {
    here()[std::string(name)] = values;
  }
  void list(std::string_view name, const std::vector<index_t>& values) override {
    here()[std::string(name)] = values;
  }

  Json take() { return std::move(document_); }

 private:
  // A section is only added to the object on top of the stack, so the pointers below it stay valid.
  Json& here() { return *open_.back(); }
  Json document_ = Json::object();
  std::vector<Json*> open_;
};

}  // namespace

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const Report& report) {
  JsonVisitor visitor;
  visit(report, visitor);
  return visitor.take();
}

Json to_json(const RankReport& report) {
  JsonVisitor visitor;
  visit(report, visitor);
  return visitor.take();
}

}  // namespace palmette::cli
