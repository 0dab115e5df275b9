// Traces of stores and their simulation, for palmette.transfers. Accesses travel as they lie in memory:
// Python has a structured type of the same layout.
#include "bindings.hpp"

#include <cstring>
#include <fstream>

#include "palmette/transfer/transfer.hpp"

namespace palmette::python {
namespace {

using transfer::Access;
using transfer::StoreTrace;
using transfer::TracedKernel;

// palmette.transfers.ACCESS has these offsets.
static_assert(sizeof(Access) == 32 && offsetof(Access, value) == 8 && offsetof(Access, thread) == 16 &&
              offsetof(Access, instruction) == 20 && offsetof(Access, to) == 24 &&
              offsetof(Access, bytes) == 26 && offsetof(Access, kind) == 27 && offsetof(Access, scope) == 28);

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class V>
V field(const nb::dict& from, const char* name) {
  return nb::cast<V>(from[name]);
}

transfer::Fabric fabric_of(const nb::dict& from) {
  transfer::Fabric fabric;
  fabric.name = field<std::string>(from, "name");
  fabric.description = field<std::string>(from, "description");
  fabric.gbs = field<double>(from, "gbs");
  fabric.latency_us = field<double>(from, "latency_us");
  fabric.copy_start_us = field<double>(from, "copy_start_us");
  fabric.credit_bytes = field<int>(from, "credit_bytes");
  fabric.packet = {field<int>(from, "header_bytes"), field<int>(from, "unit_bytes"),
                   field<int>(from, "max_payload_bytes"), field<int>(from, "partial_bytes")};
  fabric.topology = choice_named("topology", field<std::string>(from, "topology"), transfer::topologies);
  fabric.group = field<int>(from, "group");
  fabric.root_gbs = field<double>(from, "root_gbs");
  check(fabric);
  return fabric;
}

/// Options that are missing keep their defaults.
transfer::ReplayOptions options_of(const nb::dict& given) {
  transfer::ReplayOptions options;
  const auto take = [&](const char* name, auto& to) {
    if (given.contains(name)) to = field<std::remove_reference_t<decltype(to)>>(given, name);
  };
  if (given.contains("issue"))
    options.order = choice_named("issue", field<std::string>(given, "issue"), transfer::issue_orders);
  take("work_gbs", options.device.work_gbs);
  take("launch_us", options.device.launch_us);
  take("subheader_bytes", options.finepack.subheader_bytes);
  if (given.contains("queue_entries"))
    options.finepack.entries = options.gps.queue_entries = field<int>(given, "queue_entries");
  take("tlb_entries", options.gps.tlb_entries);
  take("chunk_bytes", options.proact.chunk_bytes);
  take("page_hints", options.has_page_hints);
  return options;
}

nb::dict figures(const transfer::TransferResult& result) {
  nb::dict found;
  found["paradigm"] = name_of(result.paradigm);
  found["simulated"] = true;
  for_each_figure(result, [&](const char* name, auto value) { found[name] = value; });
  nb::dict flushes;
  for (const transfer::FlushCause cause : transfer::flush_causes)
    flushes[name_of(cause)] = result.flushes[static_cast<std::size_t>(cause)];
  found["flushes"] = flushes;
  found["pages_by_subscribers"] = result.pages_by_subscribers;
  found["stores_by_size"] =
      std::vector<std::int64_t>(result.stores_by_size.begin(), result.stores_by_size.end());
  return found;
}

nb::dict simulate(const StoreTrace& trace, const nb::dict& fabric, const std::string& paradigm,
                  const nb::dict& given) {
  transfer::ReplayOptions options = options_of(given);
  options.paradigm = choice_named("paradigm", paradigm, transfer::paradigms);
  const transfer::Fabric on = fabric_of(fabric);
  const bool profiles = options.paradigm == transfer::Paradigm::proact && !given.contains("chunk_bytes");
  transfer::TransferResult result;
  {
    const LockReleased released;
    result = profiles ? profile_proact(trace, on, options, transfer::usual_chunks())
                      : simulate_transfers(trace, on, options);
  }
  return figures(result);
}

nb::dict advise(const StoreTrace& trace, const nb::dict& fabric, const nb::dict& given) {
  const transfer::Fabric on = fabric_of(fabric);
  const transfer::ReplayOptions options = options_of(given);
  transfer::Advice advice;
  {
    const LockReleased released;
    advice = transfer::advise(trace, on, options, [](std::string_view, double) {
      const LockTaken taken;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    });
  }
  nb::dict found;
  found["winner"] = name_of(advice.candidates.front().paradigm);
  found["simulated"] = true;
  found["chunk_bytes"] = advice.chunk_bytes;
  found["margin"] = advice.margin;
  nb::list candidates, sensitivity;
  for (const transfer::TransferResult& one : advice.candidates) candidates.append(figures(one));
  for (const transfer::Sensitivity& one : advice.sensitivity) {
    nb::dict row;
    row["parameter"] = one.parameter;
    row["factor"] = one.factor;
    row["winner"] = name_of(one.winner);
    row["margin"] = one.margin;
    sensitivity.append(row);
  }
  found["candidates"] = candidates;
  found["sensitivity"] = sensitivity;
  return found;
}

StoreTrace run_application(const std::string& name, const nb::dict& given) {
  const auto application = choice_named("application", name, transfer::applications);
  transfer::ApplicationOptions options{field<int>(given, "gpus"), field<double>(given, "scale"),
                                       field<int>(given, "iterations"), field<std::uint64_t>(given, "seed"),
                                       nullptr};
  if (const auto path = field<std::string>(given, "ratings"); !path.empty()) {
    std::ifstream stream(path);
    if (!stream) throw IoError(path, 0, "these ratings cannot be read");
    options.ratings = std::make_shared<const transfer::Ratings>(transfer::read_ratings(stream, path));
  }
  const LockReleased released;
  transfer::ApplicationRun run = transfer::run_application(application, options);
  if (!(run.error <= transfer::most_application_error))
    throw Error(name + " differs from its serial answer by " + std::to_string(run.error));
  return std::move(run.trace);
}

StoreTrace read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw IoError(path, 0, "this trace cannot be read");
  return transfer::read_trace(stream, path);
}

void write(const StoreTrace& trace, const std::string& path, bool is_binary) {
  std::ofstream stream(path, std::ios::binary);
  is_binary ? write_binary(trace, stream) : write_text(trace, stream);
  if (!stream.flush()) throw IoError(path, 0, "this file cannot be written");
}

/// (work_bytes, block_threads, accesses, copies)
nb::tuple kernel(const StoreTrace& trace, std::size_t phase, std::size_t device) {
  const TracedKernel& from = trace.phases.at(phase).kernels.at(device);
  std::vector<std::uint8_t> bytes(from.accesses.size() * sizeof(Access));
  if (!bytes.empty()) std::memcpy(bytes.data(), from.accesses.data(), bytes.size());
  nb::list copies;
  for (const transfer::CopyRange& one : from.copies)
    copies.append(nb::make_tuple(one.begin, one.end, one.to));
  return nb::make_tuple(from.work_bytes, from.block_threads, to_numpy(std::move(bytes)), copies);
}

TracedKernel to_kernel(const nb::tuple& from) {
  TracedKernel kernel;
  kernel.work_bytes = nb::cast<double>(from[0]);
  kernel.block_threads = nb::cast<int>(from[1]);
  const auto bytes = nb::cast<Bytes>(from[2]);
  kernel.accesses.resize(bytes.size() / sizeof(Access));
  if (bytes.size() > 0) std::memcpy(kernel.accesses.data(), bytes.data(), bytes.size());
  for (const Access& one : kernel.accesses)
    if (one.kind > transfer::AccessKind::release || one.scope > transfer::AccessScope::system)
      throw UsageError("an access has a kind from 0 to 2 and a scope from 0 to 2");
  for (const nb::handle one : nb::cast<nb::list>(from[3])) {
    const auto range = nb::cast<nb::tuple>(one);
    kernel.copies.push_back({nb::cast<std::uint64_t>(range[0]), nb::cast<std::uint64_t>(range[1]),
                             nb::cast<transfer::DeviceSet>(range[2])});
  }
  order_by_warp(kernel);
  return kernel;
}

/// @param phases  lists of tuples as `kernel` returns them, one for each device
StoreTrace make_trace(const std::string& name, int devices, std::uint64_t memory_bytes,
                      const nb::list& phases) {
  StoreTrace trace{name, devices, memory_bytes, {}};
  for (const nb::handle phase : phases) {
    trace.phases.emplace_back();
    for (const nb::handle one : nb::cast<nb::list>(phase))
      trace.phases.back().kernels.push_back(to_kernel(nb::cast<nb::tuple>(one)));
  }
  check(trace);
  return trace;
}

template <class Choices>
nb::list names(const Choices& choices) {
  nb::list list;
  for (const auto choice : choices) list.append(std::string(name_of(choice)));
  return list;
}

void bind_closed_forms(nb::module_& module) {
  module.def("store_goodput", [](const nb::dict& fabric, std::int64_t bytes) {
    return transfer::store_goodput(fabric_of(fabric).packet, bytes);
  });
  module.def("packed_goodput", [](const nb::dict& fabric, int store_bytes, int subheader_bytes, int stores) {
    return transfer::packed_goodput(fabric_of(fabric).packet, {store_bytes, subheader_bytes, stores});
  });
  module.def("configuration_packet_loss", [](const nb::dict& fabric, int store_bytes, int subheader_bytes,
                                             int stores) {
    return configuration_packet_loss(fabric_of(fabric).packet, {store_bytes, subheader_bytes, stores}, 10);
  });
  module.def("packet_window_bytes", transfer::packet_window_bytes);
  module.def("most_stores_per_packet", [](const nb::dict& fabric, int subheader_bytes, int store_bytes) {
    return transfer::most_stores_per_packet(fabric_of(fabric).packet, subheader_bytes, store_bytes);
  });
  module.def("gps_table_sizes", [](int devices, std::int64_t tracked_bytes) {
    transfer::GpsTables tables;
    tables.devices = devices;
    return nb::make_tuple(tables.queue_bytes(), tables.page_entry_bits(),
                          transfer::GpsTables::bitmap_bytes(tracked_bytes));
  });
  module.def("copy_law", [](double copy_share, double devices, double limit) {
    const transfer::CopyLaw law{copy_share};
    return nb::make_tuple(law.copies(devices, limit), law.hidden(devices), law.crossover());
  });
}

}  // namespace

void bind_transfers(nb::module_& module) {
  nb::class_<StoreTrace>(module, "StoreTrace")
      .def_static("make", make_trace)
      .def_static("read", read)
      .def("write", write)
      .def("kernel", kernel)
      .def_prop_ro("name", [](const StoreTrace& trace) { return trace.name; })
      .def_prop_ro("devices", [](const StoreTrace& trace) { return trace.devices; })
      .def_prop_ro("memory_bytes", [](const StoreTrace& trace) { return trace.memory_bytes; })
      .def_prop_ro("phases", [](const StoreTrace& trace) { return trace.phases.size(); })
      .def_prop_ro("accesses", [](const StoreTrace& trace) { return trace.num_accesses(); });
  module.def("run_transfer_application", run_application);
  module.def("simulate_transfers", simulate);
  module.def("advise_transfers", advise);
  module.def("transfer_names", [] {
    nb::dict found;
    found["paradigms"] = names(transfer::paradigms);
    found["applications"] = names(transfer::applications);
    return found;
  });
  bind_closed_forms(module);
}

}  // namespace palmette::python
