#include "bench/commands/setup.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/host/system_state.h"
#include "bench/host/user_folders.h"
#include "bench/modelled.h"
#include "bench/registry.h"
#include "bench/run/context.h"
#include "bench/run/gpu_files.h"
#include "bench/run/session.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

constexpr double kDefaultCapShare = 0.8;  // of the memory free at start

void refuse_option_of_other_mode(const CommandOption& option, const std::vector<std::string>& values,
                                 const std::vector<std::string>& modes) {
  if (!option.mode.empty() && std::ranges::find(modes, option.mode) == modes.end()) {
    throw UsageError(fmt::format("--{}: {} was given, but belongs to --mode {}; give that with it",
                                 option.name, quote(fmt::format("{}", fmt::join(values, ","))), option.mode));
  }
}

void add_workload_options(SweepRequest& request, const Options& options) {
  for (const CommandOption& option : request.workload->options) {
    const auto given = options.workload_options.find(option.name);
    if (given != options.workload_options.end()) {
      refuse_option_of_other_mode(option, given->second, request.modes);
      request.given_options.insert(option.name);
      request.workload_options[option.name] = given->second;
    } else {
      request.workload_options[option.name] = {option.default_value};
    }
  }
}

void add_sweep_options(SweepRequest& request, const Options& options, const SweepType& sweep) {
  for (const CommandOption& option : sweep.options) {
    const auto given = options.sweep_options.find(option.name);
    if (given != options.sweep_options.end()) {
      request.given_sweep_options.insert(option.name);
    }
    request.sweep_options[option.name] =
        given == options.sweep_options.end() ? option.default_value : given->second;
  }
}

// The kind of devices that are not here, where it has one of this name; nullptr: it has not.
const ModelledDevices* modelled_kind(const std::string& id) {
  const auto& kinds = registry<ModelledDevices>().entries();
  return kinds.empty() || !names_gpu(id) ? nullptr : kinds.front().get();
}

// "; or the id of a GPU that is not here (the closest are t4, p4; all: bench --list --gpus)"; empty: there
// are none.
std::string modelled_in_words(const std::string& id) {
  const std::vector<std::string> ids = gpu_catalogue().closest(id);
  if (ids.empty()) {
    return "";
  }
  const bool names_one_here = id.find(':') != std::string::npos;  // cuda:9 is like no id of the catalogue
  return fmt::format("; or the id of a GPU that is not here ({}bench --list --gpus)",
                     names_one_here ? "" : fmt::format("the closest are {}; all: ", fmt::join(ids, ", ")));
}

void refuse_options_of_modelled_devices(const Options& options) {
  constexpr const char* kAdvice = "give the id of a GPU that is not here with --device (bench --list --gpus)";
  if (options.framework) {
    throw UsageError(fmt::format("--framework: {} was given, but {} is measured and not predicted; {}",
                                 quote(name_of(*options.framework)), options.device, kAdvice));
  }
  if (options.cast_whole) {
    throw UsageError(
        fmt::format("--dtype: 'half' was given, which is PyTorch's model cast whole, but {} is measured; {}",
                    options.device, kAdvice));
  }
}

// A cap of a card's own size means the card, of whose memory the driver keeps a part: 8GB and 8GiB of an RTX
// 3070 as no cap at all. Throws UsageError for more than a card that is not here holds.
std::int64_t of_card(std::int64_t cap, const DeviceInfo& device, bool is_modelled) {
  constexpr double kDecimal = 1e9 / (1 << 30);  // a card of 8 GiB is sold as one of 8 GB
  const auto whole = static_cast<double>(device.memory_bytes);
  const auto asked = static_cast<double>(cap);
  if (!is_modelled) {
    return cap;
  }
  if (asked < kDecimal * whole) {
    return std::min(cap, device.available_bytes);
  }
  if (asked > whole) {
    throw UsageError(fmt::format("--memory-cap: {} was given, but {} holds {}; give less", format_bytes(cap),
                                 device.id, format_bytes(device.available_bytes)));
  }
  return device.available_bytes;
}

// Nothing is measured there.
void refuse_options_of_measuring(const Options& options) {
  const BenchmarkFlags& flags = options.benchmark;
  const char* const given = options.resume          ? "--resume"
                            : !flags.out.empty()    ? "--benchmark_out"
                            : !flags.format.empty() ? "--benchmark_format"
                            : flags.repetitions > 0 ? "--benchmark_repetitions"
                                                    : nullptr;
  if (given != nullptr) {
    throw UsageError(
        fmt::format("{}: it was given, but belongs to measured points, and {} is not here; leave "
                    "it out",
                    given, options.device));
  }
}

}  // namespace

bool only_plans(const Options& options) {
  return options.dry_run || options.benchmark.list_tests;
}

std::optional<std::filesystem::path> choices_file() {
  const std::optional<std::filesystem::path> folder = cache_folder();
  return folder ? std::optional(*folder / "autotune.json") : std::nullopt;
}

std::unique_ptr<Device> open_device(const std::string& id,
                                    const std::optional<std::filesystem::path>& choices,
                                    const std::string& also_accepted) {
  const DeviceKind* best = nullptr;
  std::string best_id;
  std::string usable = "auto";
  std::string missing;
  // Other tools' names: of the first GPU, and gpu:1.
  const bool first_gpu = id == "gpu" || id == "cuda";
  const std::string name = id.starts_with("gpu:") ? "cuda" + id.substr(3) : id;
  for (const auto& kind : registry<DeviceKind>().entries()) {
    for (const DeviceKind::Listing& listing : kind->list()) {
      if (!listing.missing.empty()) {
        missing += fmt::format("; {} cannot be used here: {}", listing.id, listing.missing);
        if (listing.id == name || (listing.id == "cuda" && (first_gpu || name != id))) {
          throw UsageError(fmt::format("--device: {} cannot be used here: {}", quote(id), listing.missing));
        }
        continue;
      }
      usable += fmt::format(", {}", listing.id);
      const bool wanted = id == "auto" ? best == nullptr || kind->preference > best->preference
                          : first_gpu  ? listing.id == "cuda:0"
                                       : listing.id == name;
      if (wanted) {
        best = kind.get();
        best_id = listing.id;
      }
    }
  }
  if (best == nullptr) {
    throw UsageError(fmt::format("--device: there is no device {} here; accepted: {}{}{}", quote(id), usable,
                                 missing, also_accepted));
  }
  std::unique_ptr<Device> device = best->open(best_id);
  if (choices) {
    device->keep_choices(*choices);
  }
  return device;
}

std::unique_ptr<Device> open_asked_device(const Options& options) {
  if (const ModelledDevices* const kind = modelled_kind(options.device)) {
    refuse_options_of_measuring(options);
    return kind->open(options.device, {.framework = options.framework.value_or(Framework::pytorch),
                                       .cast_whole = options.cast_whole});
  }
  auto device = open_device(options.device, options.cache ? choices_file() : std::nullopt,
                            modelled_in_words(options.device));
  refuse_options_of_modelled_devices(options);
  return device;
}

std::unique_ptr<Device> open_planned_device(const std::string& id) {
  const ModelledDevices* const kind = modelled_kind(id);
  return kind != nullptr ? kind->open(id, {}) : open_device(id, std::nullopt, modelled_in_words(id));
}

SweepRequest make_request(const Options& options, const SweepType& sweep, const Device& device,
                          const Clock& clock, WatchedRanks* ranks) {
  SweepRequest request(clock);
  if (ranks != nullptr) {
    request.ranks = only_plans(options) ? nullptr : ranks;
    request.places = ranks->places();
    request.joining_bytes = ranks->joining_bytes();
  } else if (sweep.serve) {
    request.places.resize(2);  // two ranks on this host are planned
  }
  const bool of_file = options.file_workload != nullptr;
  request.workload = of_file ? options.file_workload.get()
                             : registry<WorkloadType>().find(options.workload.empty() ? sweep.default_workload
                                                                                      : options.workload);
  request.workloads = options.workload.empty() && !of_file && sweep.covers ? covered_workloads(sweep)
                                                                           : std::vector{request.workload};
  const std::vector<std::string>& modes = request.workload->modes;
  request.modes = !options.modes.empty()       ? options.modes
                  : sweep.takes_lists          ? modes
                  : sweep.default_mode.empty() ? std::vector{modes.front()}
                                               : std::vector{sweep.default_mode};
  request.modes_given = !options.modes.empty();
  request.dtypes = options.dtypes;
  request.batches = options.batches;
  add_workload_options(request, options);
  add_sweep_options(request, options, sweep);
  request.seed = options.seed;
  request.memory_caps = options.memory_caps;
  if (request.memory_caps.empty()) {
    const double share = device.model() == nullptr ? kDefaultCapShare : 1;
    request.memory_caps.push_back(
        static_cast<std::int64_t>(share * static_cast<double>(device.info().available_bytes)));
  }
  for (std::int64_t& cap : request.memory_caps) {
    cap = of_card(cap, device.info(), device.model() != nullptr);
  }
  if (sweep.serve && device.host_accessible()) {  // the ranks of a host share its memory
    for (std::int64_t& cap : request.memory_caps) {
      cap /= ranks_on_host(request.places, ranks == nullptr ? 0 : ranks->rank());
    }
  }
  request.label = request.workloads.size() == 1 ? request.workload->name : "all";
  if (sweep.complete) {
    sweep.complete(request);
  }
  return request;
}

RunSettings run_settings(const Options& options, const SweepRequest& request, const SweepPlan& plan,
                         Clock::time_point started) {
  RunSettings settings;
  settings.time_budget = options.time_budget;
  settings.started = started;
  settings.memory_cap = request.largest_cap();
  settings.seed = options.seed;
  settings.rounds = plan.rounds;
  if (options.benchmark.repetitions > 0) {  // fewer than the least cannot tell the spread between rounds
    const std::int64_t rounds = std::max(settings.least_rounds, options.benchmark.repetitions);
    settings.least_rounds = rounds;
    settings.wanted_rounds = rounds;
    settings.rounds.when_growing = std::max(settings.rounds.when_growing, rounds);
    settings.rounds.at_most = rounds;
  }
  return settings;
}

ResultDocument start_document(const SweepType& sweep, const SweepRequest& request, const SweepPlan& plan,
                              const Device& device, const Options& options,
                              const std::vector<std::string>& argv) {
  const bool one_workload = request.workloads.size() == 1;
  ResultDocument document;
  document.context = make_context(device.info(), host_info(), argv, options.seed);
  if (request.ranks != nullptr) {
    document.context.software.merge(request.ranks->software());
  }
  begin_session(document, system_state());
  document.context.workload_file = request.workload->file;
  document.sweep.name = sweep.name;
  document.sweep.question = sweep.question;
  document.sweep.workload = request.label;
  document.sweep.mode = one_workload ? fmt::format("{}", fmt::join(request.modes, ",")) : "all";
  if (one_workload) {  // of several, each point has its own in its params
    for (const auto& [name, values] : request.workload_options) {
      document.sweep.workload_options[name] = fmt::format("{}", fmt::join(values, ","));
    }
  }
  document.sweep.memory_cap_bytes = request.largest_cap();
  document.sweep.time_budget_ns = options.time_budget.count();
  document.sweep.axes = plan.axes;
  if (!sweep.options.empty()) {
    document.sweep.sweep_options = request.sweep_options;
  }
  if (request.memory_caps.size() > 1) {
    document.sweep.memory_caps_bytes = request.memory_caps;
  }
  return document;
}

}  // namespace bench
