// The lists of generators, solve methods and orderings, and what the kernels were compiled for.
#include "bindings.hpp"
#include "palmette/blocks/instruction_set.hpp"

namespace palmette::python {
namespace {

std::string text(std::string_view view) { return std::string(view); }

nb::list generators() {
  nb::list list;
  for (const GeneratorInfo& info : generator_list())
    list.append(nb::make_tuple(info.name, info.summary, info.n_meaning, info.parameter_meaning,
                               info.default_parameter));
  return list;
}

nb::list methods() {
  nb::list list;
  for (const SolveMethodInfo& info : solve_method_list())
    list.append(nb::make_tuple(text(info.name), info.threaded, text(info.summary), text(name_of(info.where)),
                               text(info.engine), text(info.delivery), info.available(),
                               text(info.unavailable)));
  return list;
}

nb::list orderings() {
  nb::list list;
  for (const OrderingMethodInfo& info : ordering_method_list())
    list.append(nb::make_tuple(text(name_of(info.method)), info.available, text(info.summary)));
  return list;
}

nb::list devices() {
  nb::list list;
  for (const DeviceKindInfo& kind : device_kind_list())
    list.append(
        nb::make_tuple(text(kind.name), kind.available(), text(kind.unavailable), text(kind.summary)));
  return list;
}

nb::tuple kernels() {
  const InstructionSet set = instruction_set();
  return nb::make_tuple(text(set.name), set.register_bytes, set.fuses_multiply_add);
}

}  // namespace

void bind_lists(nb::module_& module) {
  module.def("generators", generators);
  module.def("methods", methods);
  module.def("devices", devices);
  module.def("orderings", orderings);
  module.def("kernels", kernels);
}

}  // namespace palmette::python
