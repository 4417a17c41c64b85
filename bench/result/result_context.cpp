#include "bench/result/result_context.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "bench/result/json_members.h"

namespace bench {

void members(auto& io, Of<RunContext::Cache> auto& cache) {
  io("type", cache.type);
  io("level", cache.level);
  io("size", cache.size);
  io("num_sharing", cache.num_sharing);
}

void members(auto& io, Of<RunContext::Host> auto& host) {
  io("cpu", host.cpu);
  io("usable_cores", host.usable_cores);
  io("memory_bytes", host.memory_bytes);
  io.optional("cpu_quota", host.cpu_quota);
}

void members(auto& io, Of<Peaks> auto& peaks) {
  io("flops_per_s", peaks.flops_per_s);
  io("bytes_per_s", peaks.bytes_per_s);
  io("source", peaks.source);
}

void members(auto& io, Of<WorkloadInput> auto& input) {
  io("name", input.name);
  io("shape", input.shape);
  io("content", input.content);
}

void members(auto& io, Of<WorkloadFile> auto& file) {
  io("format", file.format);
  io("path", file.path);
  io("name", file.name);
  io("hash", file.hash);
  io("inputs", file.inputs);
  io("assumptions", file.assumptions);
}

namespace {

// A detail that is named after its unit is a number.
Json detail_to_json(const std::string& name, const std::string& value) {
  constexpr std::array<std::string_view, 3> kUnits{"_bytes", "_w", "_mhz"};
  const bool counts = std::ranges::any_of(
      kUnits, [&](std::string_view unit) { return std::string_view(name).ends_with(unit); });
  Json number = counts ? Json::parse(value, nullptr, false) : Json();
  return number.is_number() ? number : Json(value);
}

// "clocks.sm_mhz" is one of the group "clocks".
Json device_to_json(const RunContext& context) {
  const DeviceInfo& device = context.device;
  Json json{{"id", device.id},
            {"kind", device.kind},
            {"name", device.name},
            {"memory_bytes", device.memory_bytes},
            {"available_bytes", device.available_bytes},
            {"compute_units", device.compute_units}};
  for (const auto& [name, value] : device.details) {
    const std::size_t dot = name.find('.');
    Json& at = dot == std::string::npos ? json[name] : json[name.substr(0, dot)][name.substr(dot + 1)];
    at = detail_to_json(name, value);
  }
  if (!context.datasheet.is_null()) {
    json["datasheet"] = context.datasheet;
  }
  for (const auto& [dtype, peaks] : context.peaks) {
    json["peaks"][std::string(name_of(dtype))] = write_struct(peaks);
  }
  return json;
}

// Values of details as text; groups and lists deeper than one are of no use to this program.
std::string detail_text(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_device(const Field& field, RunContext& context) {
  JsonReader io(field, true);
  io("id", context.device.id);
  io("kind", context.device.kind);
  io("name", context.device.name);
  io("memory_bytes", context.device.memory_bytes);
  io.maybe("available_bytes", context.device.available_bytes);
  io.maybe("compute_units", context.device.compute_units);
  io.maybe("datasheet", context.datasheet);
  Json peaks;
  io.maybe("peaks", peaks);
  for (const auto& [name, value] : peaks.items()) {
    if (const auto dtype = parse_dtype(name)) {
      const Field all = field.at("peaks");
      context.peaks[*dtype] = read_struct<Peaks>(all.at(name));
    }
  }
  const Json details = io.others();
  for (const auto& [name, value] : details.items()) {
    if (!value.is_object()) {
      context.device.details[name] = detail_text(value);
      continue;
    }
    for (const auto& [inner, of_group] : value.items()) {
      context.device.details[fmt::format("{}.{}", name, inner)] = detail_text(of_group);
    }
  }
}

}  // namespace

void members(auto& io, Of<RunContext> auto& context) {
  io.maybe("host", context.host);
  io.maybe("software", context.software);
  io.maybe("argv", context.argv);
  io.maybe("seed", context.seed);
  io.maybe("run_id", context.run_id);
  io.maybe("machine", context.machine);
  io.optional("workload_file", context.workload_file);
}

Json to_json(const RunContext& context) {
  JsonWriter io(written_value(context.google_benchmark));
  io.unless_empty("caches", context.caches);
  io("device", device_to_json(context));
  return write_struct(context, io.take());
}

RunContext context_from_json(const Field& field) {
  RunContext context;
  JsonReader io(field, true);
  members(io, context);
  context.google_benchmark = io.others();
  context.google_benchmark.erase("device");
  io.maybe("caches", context.caches);
  if (field.has("device")) {
    read_device(field.at("device"), context);
  }
  return context;
}

Json to_json(const WorkloadFile& file) {
  return write_struct(file);
}

void members(auto& io, Of<SweepDescription> auto& sweep) {
  io("name", sweep.name);
  io("question", sweep.question);
  io("workload", sweep.workload);
  io.unless_empty("mode", sweep.mode);
  if (!sweep.mode.empty()) {
    io.maybe("workload_options", sweep.workload_options);
  }
  io.optional("memory_cap_bytes", sweep.memory_cap_bytes);
  io.optional("time_budget_ns", sweep.time_budget_ns);
  io("axes", sweep.axes);
  io.optional("sweep_options", sweep.sweep_options);
  io.unless_empty("memory_caps_bytes", sweep.memory_caps_bytes);
  io.unless_empty("lost", sweep.lost);
}

Json to_json(const SweepDescription& sweep) {
  Json json = write_struct(sweep);
  for (const auto& [key, value] : sweep.state.items()) {
    json[key] = value;
  }
  return json;
}

SweepDescription sweep_from_json(const Field& field) {
  SweepDescription sweep;
  JsonReader io(field, true);
  members(io, sweep);
  sweep.state = io.others();
  return sweep;
}

}  // namespace bench
