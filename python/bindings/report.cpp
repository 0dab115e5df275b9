// A Report as a dict of dicts, under the names of the command's JSON.
#include "bindings.hpp"

namespace palmette::python {
namespace {

class DictMaker final : public ReportVisitor {
 public:
  void open(std::string_view section) override {
    nb::dict inner;
    top()[key(section)] = inner;
    open_.push_back(inner);
  }
  void close() override { open_.pop_back(); }
  void field(std::string_view name, std::string_view value) override {
    top()[key(name)] = nb::str(value.data(), value.size());
  }
  void field(std::string_view name, double value) override { top()[key(name)] = nb::float_(value); }
  void field(std::string_view name, std::int64_t value) override { top()[key(name)] = nb::int_(value); }
  void field(std::string_view name, bool value) override { top()[key(name)] = nb::bool_(value); }
  void null(std::string_view name) override { top()[key(name)] = nb::none(); }
  void list(std::string_view name, const std::vector<std::string>& values) override {
    top()[key(name)] = nb::cast(values);
  }
  void list(std::string_view name, const std::vector<index_t>& values) override {
    top()[key(name)] = nb::cast(values);
  }

  nb::dict result() const { return open_.front(); }

 private:
  static nb::str key(std::string_view name) { return nb::str(name.data(), name.size()); }
  nb::dict& top() { return open_.back(); }

  std::vector<nb::dict> open_ = {nb::dict()};
};

}  // namespace

nb::dict to_dict(const Report& report) {
  DictMaker maker;
  visit(report, maker);
  return maker.result();
}

nb::dict to_dict(const RankReport& report) {
  DictMaker maker;
  visit(report, maker);
  return maker.result();
}

nb::dict to_dict(const SchurReport& report) {
  nb::dict fields;
  fields["kind"] = std::string(name_of(report.kind));
  fields["ordering"] = std::string(name_of(report.ordering));
  fields["threads"] = report.threads;
  fields["size"] = report.size;
  fields["boundary"] = report.boundary;
  fields["nnz_factor"] = report.nnz_factor;
  fields["flops"] = report.flops;
  fields["memory_bytes_predicted"] = report.memory_bytes_predicted;
  fields["memory_bytes"] = report.memory_bytes;
  fields["order_seconds"] = report.order_seconds;
  fields["analyze_seconds"] = report.analyze_seconds;
  fields["factorize_seconds"] = report.factorize_seconds;
  fields["perturbed_pivots"] = report.perturbed_pivots;
  fields["backward_error"] = report.backward_error;
  fields["bound"] = report.bound;
  fields["verified"] = report.verified;
  fields["notes"] = report.notes;
  return fields;
}

nb::dict to_dict(const Verification& found) {
  nb::dict fields;
  fields["backward_error"] = found.backward_error;
  fields["componentwise_backward_error"] = found.componentwise_backward_error;
  fields["refine_steps"] = found.refine_steps;
  fields["bound"] = found.bound;
  fields["verified"] = found.verified;
  return fields;
}

nb::dict to_dict(const UpdateReport& report) {
  nb::dict fields;
  fields["rank"] = report.rank;
  fields["reciprocal_condition"] = report.reciprocal_condition;
  fields["flops"] = report.flops;
  fields["memory_bytes"] = report.memory_bytes;
  fields["update_seconds"] = report.update_seconds;
  fields["solve_seconds"] = report.solve_seconds;
  fields["refine_steps"] = report.refine_steps;
  fields["backward_error"] = report.backward_error;
  fields["bound"] = report.bound;
  fields["verified"] = report.verified;
  fields["notes"] = report.notes;
  return fields;
}

nb::dict to_dict(const EntryReport& report) {
  nb::dict fields;
  fields["method"] = std::string(name_of(report.method));
  fields["threads"] = report.threads;
  fields["seconds"] = report.seconds;
  fields["bytes"] = report.bytes;
  fields["whole_bytes"] = report.whole_bytes;
  fields["solved_whole"] = report.solved_whole;
  fields["checked_rows"] = report.checked_rows;
  fields["backward_error"] = report.backward_error;
  fields["bound"] = report.bound;
  fields["verified"] = report.verified;
  fields["notes"] = report.notes;
  return fields;
}

nb::dict to_dict(const InverseReport& report) {
  nb::dict fields;
  fields["seconds"] = report.seconds;
  fields["flops"] = report.flops;
  fields["memory_bytes"] = report.memory_bytes;
  fields["messages"] = report.messages;
  fields["message_bytes"] = report.message_bytes;
  fields["solved_columns"] = report.solved_columns;
  fields["checked_columns"] = report.checked_columns;
  fields["difference"] = report.difference;
  fields["bound"] = report.bound;
  fields["verified"] = report.verified;
  fields["notes"] = report.notes;
  return fields;
}

void bind_report(nb::module_& module) {
  nb::class_<ReportHandle>(module, "Report")
      .def("as_dict", [](const ReportHandle& self) { return to_dict(self.report); })
      .def_prop_ro("componentwise_backward_error",
                   [](const ReportHandle& self) { return self.report.verify->componentwise_backward_error; })
      .def_prop_ro("singular",
                   [](const ReportHandle& self) {
                     return self.report.verify && self.report.verify->singular_distance.has_value();
                   })
      .def_prop_ro("perturbed_pivots",
                   [](const ReportHandle& self) { return self.report.factorize->pivots.perturbed; })
      .def_prop_ro("structural_deficiency",
                   [](const ReportHandle& self) { return self.report.factorize->structural_deficiency; })
      .def_prop_ro("supernodes", [](const ReportHandle& self) { return self.report.analyze->supernodes; })
      .def_prop_ro("verified", [](const ReportHandle& self) { return self.report.verify->verified; });
}

}  // namespace palmette::python
