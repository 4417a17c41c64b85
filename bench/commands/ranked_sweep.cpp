#include "bench/commands/ranked_sweep.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/resume.h"
#include "bench/commands/setup.h"
#include "bench/error.h"
#include "bench/host/cpu_usage.h"
#include "bench/host/process_memory.h"
#include "bench/registry.h"
#include "bench/run/rank_consistency.h"
#include "bench/run/rank_processes.h"
#include "bench/sweep.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Throws the UsageError of the first rank that has one, on every rank.
void require_on_all(RankGroup& ranks, const std::function<void()>& body) {
  std::string own;
  try {
    body();
  } catch (const UsageError& error) {
    own = error.what();
  }
  const std::vector<std::string> all = texts_of(ranks, own);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) {
      end_together(ranks);
      throw UsageError(rank == 0 ? all[rank] : fmt::format("rank {}: {}", rank, all[rank]));
    }
  }
}

std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  return {argv + 1, argv + argc};
}

RankWatchSettings watch_settings(const Options& options) {
  RankWatchSettings settings;
  if (const auto given = options.sweep_options.find("rank-timeout"); given != options.sweep_options.end()) {
    settings.timeout = parse_duration("--rank-timeout", given->second);
  }
  return settings;
}

// By which each rank's memory grew as it joined, from what this one held before; empty where a rank's system
// does not tell.
std::vector<std::int64_t> growth_of(RankGroup& joined, const std::optional<std::int64_t>& held) {
  const auto holds = own_memory_bytes();  // all have joined
  const bool known = held && holds;
  std::vector<std::int64_t> grown;
  for (const std::string& text :
       texts_of(joined, known ? std::to_string(std::max<std::int64_t>(0, *holds - *held)) : "")) {
    if (text.empty()) {
      return {};
    }
    grown.push_back(std::stoll(text));
  }
  return grown;
}

// Of the other ranks whose processes this one can see.
std::vector<std::int64_t> processes_beside(const std::vector<RankPlace>& places, int rank) {
  const RankPlace& own = places[static_cast<std::size_t>(rank)];
  std::vector<std::int64_t> processes;
  for (const RankPlace& place : places) {
    if (place.host == own.host && place.namespace_id == own.namespace_id && place.process != own.process) {
      processes.push_back(place.process);
    }
  }
  return processes;
}

// The ranks that joined, which have the same build, command line and library. Every rank makes the same calls
// here, whether its command line was accepted or not. `held`: own_memory_bytes() before it joined.
std::unique_ptr<WatchedRanks> watched(std::unique_ptr<RankGroup> joined, RankWatchSettings settings,
                                      const std::vector<std::string>& arguments,
                                      const std::optional<std::int64_t>& held) {
  require_consistent(*joined, {build_fact()});
  std::vector<RankPlace> places = places_of(*joined);
  count_as_own(processes_beside(places, joined->rank()));
  std::vector<std::int64_t> grown = growth_of(*joined, held);
  std::unique_ptr<RankHeartbeat> heartbeat = RankHeartbeat::connect(*joined, places);
  auto ranks = std::make_unique<WatchedRanks>(std::move(joined), std::move(places), std::move(settings),
                                              std::move(grown), std::move(heartbeat));
  std::vector<RankFact> facts = library_facts(*ranks);
  facts.insert(facts.begin(), command_line_fact(arguments));
  require_consistent(*ranks, facts);
  return ranks;
}

// Where no group can be joined, ranks cannot be compared.
void require_consistent_without_sweep(const RankLaunch& launch, const std::vector<std::string>& arguments) {
  std::unique_ptr<RankGroup> joined;
  try {
    joined = join_launched(launch, RankWatchSettings().timeout);
  } catch (const UsageError&) {
    return;
  }
  end_together(*watched(std::move(joined), {}, arguments, std::nullopt));
}

// The devices that `--device ID` may mean where each rank takes one: of the kind that is asked for, or of the
// best one, those that can be used.
std::vector<std::string> devices_to_share(const std::string& id) {
  const DeviceKind* best = nullptr;
  std::vector<std::string> best_ids;
  for (const auto& kind : registry<DeviceKind>().entries()) {
    if (id != "auto" && id != kind->name) {
      continue;
    }
    std::vector<std::string> ids;
    for (const DeviceKind::Listing& listing : kind->list()) {
      if (listing.missing.empty()) {
        ids.push_back(listing.id);
      }
    }
    if (!ids.empty() && (best == nullptr || kind->preference > best->preference)) {
      best = kind.get();
      best_ids = std::move(ids);
    }
  }
  return best_ids;
}

// A rank's own device: of several on its host those in their order.
Options options_of_rank(const Options& options, const WatchedRanks& ranks) {
  Options own = options;
  const std::vector<std::string> devices = devices_to_share(options.device);
  if (!devices.empty()) {
    const auto local = static_cast<std::size_t>(local_rank(ranks.places(), ranks.rank()));
    own.device = devices[local % devices.size()];
  }
  return own;
}

std::optional<RankLaunch> launch_of_several() {
  std::optional<RankLaunch> launch = current_launch();
  return launch && launch->size > 1 ? launch : std::nullopt;
}

}  // namespace

Options parse_rank_options(int argc, const char* const* argv) {
  const std::optional<RankLaunch> launch = launch_of_several();
  try {
    Options options = parse_options(argc, argv);
    const SweepType* const sweep = registry<SweepType>().find(options.sweep);
    if (launch && sweep != nullptr && !sweep->serve) {
      throw UsageError(
          fmt::format("--sweep {}: {} started {} processes, which would write one file; start one",
                      sweep->name, launch->launcher, launch->size));
    }
    if (sweep != nullptr && sweep->serve && options.text.empty()) {
      require_whole_launch([](const char* name) { return std::getenv(name); });
    }
    watch_settings(options);
    return options;
  } catch (const UsageError&) {
    if (launch) {
      require_consistent_without_sweep(*launch, arguments_of(argc, argv));
    }
    throw;
  }
}

std::optional<ExitCode> run_on_own_ranks(const Options& options, const std::vector<std::string>& argv) {
  const SweepType& sweep = *registry<SweepType>().find(options.sweep);
  if (!sweep.serve || launch_of_several() || only_plans(options)) {
    return std::nullopt;
  }
  const std::size_t devices = devices_to_share(options.device).size();
  return devices > 1 ? std::optional(run_ranks_here(argv, static_cast<int>(devices))) : std::nullopt;
}

std::unique_ptr<Device> open_rank_device(const Options& options, WatchedRanks* ranks) {
  if (ranks == nullptr) {
    return open_asked_device(options);
  }
  std::unique_ptr<Device> device = open_asked_device(options_of_rank(options, *ranks));
  if (!only_plans(options)) {
    ranks->use_device(*device);
  }
  return device;
}

std::unique_ptr<WatchedRanks> join_ranks(const Options& options, const std::vector<std::string>& argv,
                                         const Clock& clock) {
  const SweepType& sweep = *registry<SweepType>().find(options.sweep);
  if (!sweep.serve) {
    return nullptr;
  }
  const std::optional<RankLaunch> launch = launch_of_several();
  if (!launch) {
    if (only_plans(options)) {
      return nullptr;
    }
    if (devices_to_share(options.device).empty()) {
      open_asked_device(options);  // says why there is none
    }
    const LaunchAdvice advice = launch_advice();
    throw UsageError(fmt::format("--sweep {}: it needs two ranks or more; start it with: {} {}{}", sweep.name,
                                 advice.command, shell_command(argv),
                                 advice.reason.empty() ? "" : " (" + advice.reason + ")"));
  }
  const RankWatchSettings settings = watch_settings(options);
  const auto held = own_memory_bytes();
  auto ranks =
      watched(join_launched(*launch, settings.timeout), settings, {argv.begin() + 1, argv.end()}, held);
  std::vector<RankFact> facts;
  require_on_all(*ranks, [&] {  // opened again where it is used
    const std::unique_ptr<Device> device = open_asked_device(options_of_rank(options, *ranks));
    facts = device_facts(device->info());
    SweepRequest request = make_request(options, sweep, *device, clock, ranks.get());
    request.ranks = nullptr;  // it is only planned
    sweep.make(request, *device);
  });
  require_consistent(*ranks, facts);
  if (only_plans(options)) {
    end_together(*ranks);
  }
  return ranks;
}

void serve_first_rank(const Options& options, WatchedRanks& ranks, const Clock& clock) {
  if (only_plans(options)) {
    return;
  }
  const SweepType& sweep = *registry<SweepType>().find(options.sweep);
  const std::unique_ptr<Device> device = open_rank_device(options, &ranks);
  const SweepRequest request = make_request(options, sweep, *device, clock, &ranks);
  device->memory().set_cap(request.largest_cap());
  sweep.serve(request, *device);
}

}  // namespace bench
