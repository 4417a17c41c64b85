// How many loader workers does it take to feed the device, and what is to blame where none is enough?
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/workers/findings.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/other_result.h"
#include "sweeps/workers/page_cache.h"
#include "sweeps/workers/plan.h"
#include "sweeps/workers/session.h"
#include "sweeps/workers/tables.h"
#include "sweeps/workers/what_if.h"

namespace bench::sweeps {
namespace {

Json noted(const std::vector<LoaderDemand>& demands) {
  Json json = Json::array();
  for (const LoaderDemand& demand : demands) {
    json.push_back({{"name", demand.name}, {"images_per_s", demand.images_per_s}, {"source", demand.source}});
  }
  return json;
}

// What is known before anything runs; the data may not have been made yet.
void note_loader(const SweepRequest& request, Device& device, ResultDocument& document) {
  const WorkersOptions options = workers_options(request, device);
  const Json& host = document.context["host"];
  document.sweep["loader"] = {
      {"cores", host.value("usable_cores", 1)},
      {"cores_why", "affinity mask and cgroup quota"},
      {"data", options.data},
      {"page_cache", options.cold ? "cold" : "as found"},
      {"storage", options.storage ? Json{{"bytes_per_s", options.storage->bytes_per_s},
                                         {"latency_ns", options.storage->latency_ns}}
                                  : Json(nullptr)},
      {"consumer", options.consumer.name},
      {"consumer_device", options.consumer.workload == nullptr ? "none" : device.info().id},
      {"consumer_on_cores", options.consumer.workload != nullptr && device.host_accessible()},
      {"batch", options.batch},
      {"dtype", bench::name_of(options.dtype)},
      {"slot_bytes", options.batch * options.transform.sample_bytes()},
      {"pinned", options.staging == HostKind::pinned},
      {"demands", noted(options.demands)},
      {"gpus", options.gpus}};
}

// What the run has found of the data.
void note_data(Session& session, ResultDocument& document) {
  constexpr std::size_t kMostNamed = 100;
  constexpr std::int64_t kMostAsked = 100'000;  // images whose size is asked for
  try {
    const loader::Dataset& data = session.data();
    const std::int64_t asked = std::min(data.size(), kMostAsked);
    double bytes = 0;
    for (std::int64_t i = 0; i < asked; ++i) {
      bytes += static_cast<double>(data.encoded_bytes(i));
    }
    Json& loader = document.sweep["loader"];
    loader["images"] = data.size();
    loader["nice"] = session.nice.wanted;
    if (session.nice.busy_elsewhere > 0) {
      loader["busy_elsewhere"] = session.nice.busy_elsewhere;
    }
    loader["mean_encoded_bytes"] = bytes / static_cast<double>(asked);
    if (!session.cold) {
      loader.update(page_cache_found(document, bytes / static_cast<double>(asked)));
    } else if (const Session::Forgetting forgetting = session.forgetting(); forgetting.refused > 0) {
      loader["still_cached"] = {
          {"reads", forgetting.refused}, {"of", forgetting.asked}, {"reason", forgetting.reason}};
    }
    loader["bad_files"] = Json::array();
    for (const auto& [number, reason] : session.bad.all()) {
      if (loader["bad_files"].size() < kMostNamed) {
        loader["bad_files"].push_back({{"file", data.name(number)}, {"reason", reason}});
      }
    }
  } catch (const Unsupported&) {
    // Each point says so.
  }
}

// From an earlier result's profile alone.
void simulate(const SweepRequest& request, const Device& device, ResultDocument& document) {
  const WorkersOptions options = workers_options(request, device);
  if (options.profile == "none") {
    throw UsageError(
        "--simulate: needs the profile of an earlier run; give --profile FILE, a result of --sweep workers");
  }
  for (const char* const name : {"data", "element", "layout", "staging", "nice", "cold"}) {
    if (request.given_sweep_options.contains(name)) {
      throw UsageError(
          fmt::format("--{}: has no place beside --simulate, which takes it from the profile", name));
    }
  }
  if (!request.batches.empty()) {
    throw UsageError("--batch: has no place beside --simulate, which takes it from the profile");
  }
  if (options.orders.size() > 1) {
    throw UsageError("--order: --simulate takes one value");
  }
  WhatIf what_if;
  if (request.sweep_options.at("workers") != "auto") {
    what_if.workers = options.workers;
  }
  if (options.cores) {
    what_if.cores = static_cast<int>(*options.cores);
  }
  if (request.given_sweep_options.contains("prefetch")) {
    what_if.prefetch = options.prefetch;
  }
  if (request.given_sweep_options.contains("order")) {
    what_if.order = name_of(options.orders.front());
  }
  what_if.gpus = static_cast<int>(options.gpus);
  for (const LoaderDemand& demand : options.demands) {
    what_if.demands.push_back(
        {.name = demand.name, .images_per_s = demand.images_per_s, .source = demand.source});
  }
  what_if.seed = request.seed;
  if (request.given_sweep_options.contains("consumer")) {
    if (options.consumer.workload != nullptr) {
      throw UsageError(
          fmt::format("--consumer: {} was given, and --simulate runs no network; accepted with it: a time a "
                      "step such as 40ms, or a batch sweep's result file",
                      quote(request.sweep_options.at("consumer"))));
    }
    what_if.consumer = options.consumer.name;
  }
  if (options.storage) {
    what_if.storage = simulator::Storage{.bytes_per_s = options.storage->bytes_per_s,
                                         .latency_ns = static_cast<double>(options.storage->latency_ns)};
  }
  const Json earlier = json_in("--profile", options.profile);
  const auto naming_the_profile = [&](const auto& uses_it) {
    try {
      return uses_it();
    } catch (const std::domain_error&) {
      throw UsageError(
          fmt::format("--profile: {}: its numbers lead beyond all bounds", quote(options.profile)));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--profile: {}: {}", quote(options.profile), error.what()));
    }
  };
  const Profile profile = naming_the_profile([&] { return read_profile(earlier); });
  if (request.given_sweep_options.contains("consumer")) {
    const auto& elsewhere = options.consumer.elsewhere;
    what_if.step_ns =
        elsewhere ? static_cast<std::int64_t>(elsewhere->step_ns(profile.batch)) : options.consumer.step_ns;
  }
  naming_the_profile([&] {
    simulate_profile(profile, what_if, document);
    to_json(document);
  });
}

const Registration<Sweep> registered{Sweep{
    .name = "workers",
    .question = "How many loader workers feed the device, and what is to blame where none is enough?",
    .default_workload = "resnet18",
    .options = workers_command_options(),
    .label =
        [](const SweepRequest& request) {
          const std::string& consumer = request.sweep_options.at("consumer");
          std::error_code error;
          const bool is_file = std::filesystem::is_regular_file(consumer, error);
          std::string name = consumer == "workload" ? request.workload->name
                             : is_file              ? std::filesystem::path(consumer).stem().string()
                                                    : consumer;
          if (!simulates(request)) {
            return name;
          }
          const std::string profile =
              std::filesystem::path(request.sweep_options.at("profile")).stem().string();
          return fmt::format("simulated-{}", profile.starts_with("workers-") ? profile.substr(8) : profile);
        },
    .plan = plan_workers,
    .predict =
        [](const SweepRequest& request, const SweepPlan& /*plan*/, Device& device, ResultDocument& document) {
          simulates(request) ? simulate(request, device, document) : note_loader(request, device, document);
        },
    .prove =
        [](SweepStudy& study) {
          note_data(session_of(study.plan), study.document);
          note_simulation(study.document);
        },
    .findings = workers_findings,
    .tables = workers_tables}};

}  // namespace
}  // namespace bench::sweeps
