#include "bench/evaluate/evaluated_device.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/model/gpu.h"
#include "bench/model/links.h"
#include "bench/result/flags.h"
#include "bench/result/fleet.h"
#include "bench/result/result_json.h"
#include "bench/stats/statistics.h"
#include "bench/text/lines.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr std::size_t kLongestLabel = 40;

bool is_named_alike(const EvaluatedDevice& a, const EvaluatedDevice& b) {
  const bool may_be_one = a.machine == b.machine || a.machine.empty() || b.machine.empty();
  return a.label == b.label && a.predicted == b.predicted && a.framework == b.framework && may_be_one;
}

bool share_a_point(const EvaluatedDevice& a, const EvaluatedDevice& b) {
  return std::ranges::any_of(a.curves, [&](const Curve& curve) {
    const Curve* const other = b.in(curve.dtype);
    return other != nullptr && std::ranges::any_of(curve.points, [&](const CurvePoint& point) {
             return other->at(point.batch) != nullptr;
           });
  });
}

// The data sheet is found by the driver's name, which two sizes of a card may share.
bool is_of_this_card(const Json& datasheet, const DeviceInfo& device) {
  constexpr double kOtherSize = 0.15;
  const std::optional<double> sold = positive_member(datasheet, "memory_bytes");
  return datasheet.is_object() &&
         (!sold || device.memory_bytes <= 0 ||
          std::abs(static_cast<double>(device.memory_bytes) / *sold - 1) <= kOtherSize);
}

void add_keys(EvaluatedDevice& device, const Json& datasheet) {
  if (std::string id = text_member(datasheet, "id"); !id.empty()) {
    device.keys.push_back(std::move(id));
  }
  for (const char* const list : {"aliases", "names"}) {
    const auto found = datasheet.find(list);
    for (const Json& name : found != datasheet.end() && found->is_array() ? *found : Json::array()) {
      if (name.is_string()) {
        device.keys.push_back(printable(name.get<std::string>()));
      }
    }
  }
}

// An older data sheet does not tell, but its names do.
bool peer_access_of(const Json& datasheet, const Json& bus) {
  const auto told = bus.find("peer_access");
  if (told != bus.end() && told->is_boolean()) {
    return told->get<bool>();
  }
  std::vector<std::string> names;
  for (const Json& name : datasheet.value("names", Json::array())) {
    names.push_back(name.is_string() ? name.get<std::string>() : "");
  }
  const double capability = positive_member(datasheet, "compute_capability").value_or(0);
  return reaches_peers(names, static_cast<int>(capability));
}

void add_datasheet(EvaluatedDevice& device, const Json& datasheet) {
  add_keys(device, datasheet);
  device.tdp_w = positive_member(datasheet, "power_w");
  const Json bus = datasheet.value("pcie", Json::object());
  if (!bus.empty()) {
    device.peer_access = peer_access_of(datasheet, bus);
  }
  const auto generation = positive_member(bus, "generation");
  const auto lanes = positive_member(bus, "lanes");
  if (generation && lanes) {
    device.bus_bytes_per_s =
        pcie_bytes_per_s(static_cast<std::int64_t>(*generation), static_cast<std::int64_t>(*lanes));
  }
}

EvaluatedDevice device_without_curves(const EvaluatedFile& file, const Json& datasheet) {
  const ResultDocument& document = file.document;
  const RunContext& context = document.context;
  EvaluatedDevice device;
  device.name = printable(context.device.name);
  device.predicted = is_predicted(document);
  device.machine = device.predicted ? "" : context.machine;
  device.is_cpu = context.device.kind == "cpu";
  device.framework = "bench";
  if (device.predicted && !document.points.empty()) {
    const std::string of = text_member(document.points.front().prediction.model, "framework");
    device.framework = of.empty() ? "pytorch" : of;
  }
  const std::string id = text_member(datasheet, "id");
  device.label = !id.empty()        ? id
                 : device.predicted ? printable(context.device.id)
                                    : cut(short_name(device.name), kLongestLabel);
  device.keys = {printable(context.device.id), device.name};
  if (datasheet.is_object()) {
    add_datasheet(device, datasheet);
  }
  const std::int64_t free = context.device.available_bytes;
  device.usable_bytes = device.predicted && document.sweep.memory_cap_bytes
                            ? *document.sweep.memory_cap_bytes
                            : (free > 0 ? free : context.device.memory_bytes);
  device.files = {file.path};
  return device;
}

void add_caveat(EvaluatedDevice& device, const std::string& caveat) {
  constexpr std::size_t kLongest = 300;
  std::string added = printable(caveat, kLongest);
  if (std::ranges::count(device.caveats, added) == 0) {
    device.caveats.push_back(std::move(added));
  }
}

void add_caveats(EvaluatedDevice& device, const ResultDocument& document) {
  for (const std::string& caveat : caveats_of(document)) {
    add_caveat(device, caveat);
  }
  const auto above = std::ranges::count_if(measured_points(document),
                                           [](const Point& point) { return has_flag(point, kAbovePeak); });
  if (above > 0) {
    device.caveats.push_back(fmt::format("{} of {} points lie above the device's peak and prove nothing",
                                         above, measured_points(document).size()));
  }
}

[[noreturn]] void refuse_without_points(const EvaluatedFile& file) {
  const bool are_above = std::ranges::any_of(file.document.points, [](const Point& point) {
    return point.is_timed() && has_flag(point, kAbovePeak);
  });
  throw UsageError(
      are_above ? fmt::format(
                      "{}: all points lie above the device's peak and prove nothing; run the sweep again on "
                      "an idle machine",
                      file.path)
                : fmt::format("{}: the result holds no measured or predicted point; give one that does",
                              file.path));
}

// The range of nine machines holds 80 % of all on average, that of fewer less.
EvaluatedDevice fleet_device(const Pool& machines, const std::string& path) {
  EvaluatedDevice device = evaluated_device({.path = path, .document = machines.document()});
  for (Curve& curve : device.curves) {
    for (const ResultDocument* const one : machines.documents) {
      take_largest(curve, one->findings);
    }
    for (CurvePoint& point : curve.points) {
      if (point.interval) {
        const double step = point.per_s * point.step.step_ns;
        point.step.interval80_ns = {step / point.interval->high, step / point.interval->low};
        point.step.deviation = log_deviation(*point.interval, kNormal80);
      }
    }
  }
  device.machines = static_cast<std::int64_t>(machines.times.machines.size());
  device.caveats.push_back(
      fmt::format("{} machines; the figures are the median machine's, their intervals reach from the slowest "
                  "machine to the fastest",
                  device.machines));
  std::ranges::move(machines.times.outliers_in_words(), std::back_inserter(device.caveats));
  return device;
}

// Options that leave the work as it is go; a file is told by its graph.
void drop_ways(EvaluatedTask& task, const std::optional<WorkloadFile>& file) {
  for (const char* const how : {"launch", "in-place"}) {
    task.options.erase(how);
  }
  if (file) {
    task.options["graph"] = file->hash;
  }
}

EvaluatedTask task_of(const EvaluatedFile& file) {
  const SweepDescription& sweep = file.document.sweep;
  if (sweep.name != "batch") {
    throw UsageError(fmt::format(
        "{}: this is a result of the {} sweep; bench evaluate reads results of the batch sweep, and "
        "one of the workers sweep for the host",
        file.path, quote(sweep.name)));
  }
  EvaluatedTask task{.workload = sweep.workload, .mode = sweep.mode, .options = sweep.workload_options};
  if (task.mode.empty()) {
    const std::vector<Point>& points = file.document.points;
    task.mode = points.empty() ? "" : text_member(points.front().params, "mode");
  }
  drop_ways(task, file.document.context.workload_file);
  return task;
}

void require_same(const EvaluatedTask& task, const std::string& path, const EvaluatedTask& first,
                  const std::string& first_path) {
  const auto refuse = [&](std::string_view what, const std::string& is, const std::string& was) {
    throw UsageError(
        fmt::format("{}: the {} is {}, but {} has {}; give results of one workload, in one mode and with the "
                    "same options",
                    path, what, quote(is), first_path, quote(was)));
  };
  if (task.workload != first.workload) {
    refuse("workload", task.workload, first.workload);
  }
  if (task.mode != first.mode) {
    refuse("mode", task.mode, first.mode);
  }
  for (const auto& [name, value] : task.options) {
    const auto other = first.options.find(name);
    if (other != first.options.end() && other->second != value) {
      refuse(printable(name), value, other->second);
    }
  }
}

// Tells apart what shares a label: where one is predicted, by framework, else by number.
void make_labels_unique(std::vector<EvaluatedDevice>& devices) {
  std::vector<std::string> labels;
  for (const EvaluatedDevice& device : devices) {
    const auto alike = [&](const EvaluatedDevice& other) { return other.label == device.label; };
    const bool mixed = std::ranges::any_of(devices, [&](const EvaluatedDevice& other) {
      return alike(other) && other.predicted != device.predicted;
    });
    const bool frameworks = std::ranges::any_of(devices, [&](const EvaluatedDevice& other) {
      return alike(other) && other.framework != device.framework;
    });
    labels.push_back(mixed ? fmt::format("{} ({})", device.label, device.predicted ? "predicted" : "measured")
                     : frameworks ? fmt::format("{} ({})", device.label, device.framework)
                                  : device.label);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto same =
        std::ranges::count(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i), labels[i]);
    devices[i].label = same == 0 ? labels[i] : fmt::format("{} #{}", labels[i], same + 1);
  }
}

}  // namespace

const Curve* EvaluatedDevice::in(const std::string& dtype) const {
  const auto found = std::ranges::find(curves, dtype, &Curve::dtype);
  return found == curves.end() ? nullptr : &*found;
}

bool EvaluatedDevice::is_called(std::string_view word) const {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  const auto is_it = [&](std::string_view known) {
    return std::ranges::equal(known, word, {}, lower, lower);
  };
  return is_it(label) || std::ranges::any_of(keys, is_it);
}

EvaluatedDevice evaluated_device(const EvaluatedFile& file) {
  const ResultDocument& document = file.document;
  const Json datasheet = is_of_this_card(document.context.datasheet, document.context.device)
                             ? document.context.datasheet
                             : Json();
  EvaluatedDevice device = device_without_curves(file, datasheet);
  device.curves = evaluated_curves(document, datasheet);
  if (device.curves.empty()) {
    refuse_without_points(file);
  }
  add_caveats(device, document);
  return device;
}

std::vector<EvaluatedDevice> pooled_devices(const std::vector<EvaluatedFile>& files) {
  std::vector<const ResultDocument*> documents;
  std::map<const ResultDocument*, const EvaluatedFile*> file_of;
  for (const EvaluatedFile& file : files) {
    documents.push_back(&file.document);
    file_of[&file.document] = &file;
    if (file.document.points.empty()) {
      refuse_without_points(file);
    }
  }
  std::vector<EvaluatedDevice> devices;
  for (const Pool& machines : pool(documents)) {
    const EvaluatedFile& first = *file_of.at(machines.documents.front());
    devices.push_back(machines.is_fleet() ? fleet_device(machines, first.path) : evaluated_device(first));
    for (std::size_t i = 1; i < machines.documents.size(); ++i) {
      devices.back().files.push_back(file_of.at(machines.documents[i])->path);
    }
  }
  return devices;
}

EvaluatedTask modelled_task(const WorkloadType& workload, const WorkloadSpec& spec) {
  EvaluatedTask task{.workload = workload.name, .mode = spec.mode, .options = {}};
  for (const CommandOption& option : workload.options) {
    const auto given = spec.options.find(option.name);
    task.options[option.name] = given == spec.options.end() ? option.default_value : given->second;
  }
  drop_ways(task, workload.file);
  return task;
}

EvaluatedDevice modelled_device(const GpuModel& model, std::vector<Curve> curves) {
  const Gpu& gpu = model.gpu();
  const Json datasheet = written_value(gpu);
  const std::string name = printable(display_name(gpu));
  EvaluatedDevice device{.label = gpu.id,
                         .name = name,
                         .predicted = true,
                         .framework = std::string(name_of(model.framework())),
                         .keys = {gpu.id, name},
                         .usable_bytes = model.usable_bytes(),
                         .curves = std::move(curves),
                         .files = {"--gpu " + gpu.id}};
  add_datasheet(device, datasheet);
  for (Curve& curve : device.curves) {
    set_peak(curve, {}, datasheet);
    for (const CurvePoint& point : curve.points) {
      for (const std::string& caveat : point.step.caveats) {
        add_caveat(device, caveat);
      }
    }
  }
  return device;
}

EvaluatedDevices evaluated_devices(const std::vector<EvaluatedFile>& files, EvaluatedDevices predicted) {
  EvaluatedDevices evaluated;
  std::string first;  // path
  const auto add_task = [&](const EvaluatedTask& task, const std::string& path) {
    if (first.empty()) {
      evaluated.task = task;
      first = path;
    } else {
      require_same(task, path, evaluated.task, first);
    }
  };
  for (const EvaluatedFile& file : files) {
    add_task(task_of(file), file.path);
  }
  std::vector<EvaluatedDevice> devices = pooled_devices(files);
  for (EvaluatedDevice& device : predicted.devices) {
    add_task(predicted.task, device.files.front());
    devices.push_back(std::move(device));
  }
  for (EvaluatedDevice& device : devices) {
    const auto same = std::ranges::find_if(evaluated.devices, [&](const EvaluatedDevice& other) {
      return is_named_alike(device, other) && !share_a_point(device, other);
    });
    if (same == evaluated.devices.end()) {
      evaluated.devices.push_back(std::move(device));
      continue;
    }
    for (Curve& curve : device.curves) {
      const auto known = std::ranges::find(same->curves, curve.dtype, &Curve::dtype);
      if (known == same->curves.end()) {
        same->curves.push_back(std::move(curve));
      } else {
        known->points.insert(known->points.end(), curve.points.begin(), curve.points.end());
        std::ranges::sort(known->points, {}, &CurvePoint::batch);
      }
    }
    same->usable_bytes = std::min(same->usable_bytes, device.usable_bytes);
    same->files.insert(same->files.end(), device.files.begin(), device.files.end());
    same->caveats.insert(same->caveats.end(), device.caveats.begin(), device.caveats.end());
  }
  for (EvaluatedDevice& device : evaluated.devices) {
    std::ranges::stable_sort(device.curves, {}, [](const Curve& curve) { return dtype_rank(curve.dtype); });
    for (Curve& curve : device.curves) {
      complete_curve(curve, device.usable_bytes);
    }
  }
  make_labels_unique(evaluated.devices);
  return evaluated;
}

}  // namespace bench
