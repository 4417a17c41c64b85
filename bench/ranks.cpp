#include "bench/ranks.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/device.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

std::optional<int> number_in(const LaunchVariables& environment, const std::string& variable) {
  const char* const text = environment(variable.c_str());
  if (text == nullptr) {
    return std::nullopt;
  }
  const std::string_view digits = text;
  int number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc{} && read.ptr == digits.data() + digits.size() && number >= 0
             ? std::optional(number)
             : std::nullopt;
}

std::optional<RankLaunch> launch_by(const LaunchVariables& environment, const std::string& rank_variable,
                                    const std::string& size_variable, RankLaunch launch) {
  const auto rank = number_in(environment, rank_variable);
  const auto size = number_in(environment, size_variable);
  if (!rank || !size || *rank >= *size) {
    return std::nullopt;
  }
  launch.rank = *rank;
  launch.size = *size;
  return launch;
}

// "Open MPI (apt-get install libopenmpi-dev openmpi-bin)".
std::string installable_engines() {
  std::vector<std::string> engines;
  for (const auto& engine : registry<RankEngine>().entries()) {
    if (!engine->control_only) {
      engines.push_back(fmt::format("{} (apt-get install {})", engine->title, engine->packages));
    }
  }
  return engines.empty() ? "an MPI" : fmt::format("{}", fmt::join(engines, " or "));
}

const RankEngine* usable_engine(const std::string& name) {
  for (const auto& engine : registry<RankEngine>().entries()) {
    if ((name.empty() ? !engine->control_only : engine->name == name) && engine->missing().empty()) {
      return engine.get();
    }
  }
  return nullptr;
}

// "0 1 5": the affinity mask.
std::string usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cores;
  for (int core = 0; ::sched_getaffinity(0, sizeof(mask), &mask) == 0 && core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) {
      cores.push_back(core);
    }
  }
  return fmt::format("{}", fmt::join(cores, " "));
}

}  // namespace

void end_together(RankGroup& group) {
  group.expect_ends();
  group.barrier();  // no rank ends before all expect it
}

std::vector<std::string> texts_of(RankGroup& group, const std::string& own) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto gather = [&](const void* from, void* to, std::size_t bytes) {
    group.gather(from, to, static_cast<std::int64_t>(bytes));
  };
  const std::uint64_t length = own.size();
  std::vector<std::uint64_t> lengths(ranks);
  gather(&length, lengths.data(), sizeof(length));
  const std::size_t longest = std::max<std::size_t>(1, std::ranges::max(lengths));
  std::string padded = own;
  padded.resize(longest);
  std::string all(ranks * longest, '\0');
  gather(padded.data(), all.data(), longest);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    texts.push_back(all.substr(rank * longest, lengths[rank]));
  }
  return texts;
}

std::vector<RankPlace> places_of(RankGroup& group) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  struct stat info {};
  const auto name_space = ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
  const std::vector<std::string> hosts = texts_of(group, host.data());
  const std::vector<std::string> processes = texts_of(group, std::to_string(::getpid()));
  const std::vector<std::string> spaces = texts_of(group, std::to_string(name_space));
  const std::vector<std::string> cores = texts_of(group, usable_cores());
  std::vector<RankPlace> places;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    std::istringstream numbers(cores[rank]);
    places.push_back({.host = hosts[rank],
                      .process = std::stoll(processes[rank]),
                      .namespace_id = std::stoll(spaces[rank]),
                      .cores = {std::istream_iterator<int>(numbers), std::istream_iterator<int>()}});
  }
  return places;
}

int local_rank(const std::vector<RankPlace>& places, int rank) {
  const auto own = places.begin() + rank;
  return static_cast<int>(
      std::count_if(places.begin(), own, [&](const RankPlace& place) { return place.host == own->host; }));
}

int ranks_on_host(const std::vector<RankPlace>& places, int rank) {
  const std::string& host = places.at(static_cast<std::size_t>(rank)).host;
  return static_cast<int>(std::ranges::count(places, host, &RankPlace::host));
}

std::vector<std::string> hosts_of(const std::vector<RankPlace>& places) {
  std::vector<std::string> hosts;
  for (const RankPlace& place : places) {
    if (std::ranges::find(hosts, place.host) == hosts.end()) {
      hosts.push_back(place.host);
    }
  }
  return hosts;
}

std::optional<RankLaunch> launch_of(const LaunchVariables& environment) {
  std::vector<RankLaunch> launches;
  const auto add = [&](const std::string& rank, const std::string& size, RankLaunch named) {
    if (auto launch = launch_by(environment, rank, size, std::move(named))) {
      launches.push_back(*std::move(launch));
    }
  };
  for (const auto& engine : registry<RankEngine>().entries()) {
    add(engine->rank_variable, engine->size_variable,
        {.launcher = "the mpirun of " + engine->title, .engine = engine->name});
  }
  add("RANK", "WORLD_SIZE", {.launcher = "torchrun", .engine = "tcp"});
  const auto managed = std::ranges::find_if(registry<RankEngine>().entries(), [&](const auto& engine) {
    return !engine->manager_variable.empty() && environment(engine->manager_variable.c_str()) != nullptr;
  });
  add("SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
      {.launcher = "srun",
       .engine = managed == registry<RankEngine>().entries().end() ? "" : (*managed)->name});
  const auto several =
      std::ranges::find_if(launches, [](const RankLaunch& launch) { return launch.size > 1; });
  return several != launches.end() ? std::optional(*several)
         : launches.empty()        ? std::nullopt
                                   : std::optional(launches.front());
}

std::optional<RankLaunch> current_launch() {
  return launch_of([](const char* name) { return std::getenv(name); });
}

void require_whole_launch(const LaunchVariables& environment) {
  if (const auto launch = launch_of(environment); launch && launch->size > 1) {
    return;
  }
  for (const auto& engine : registry<RankEngine>().entries()) {
    const std::string& rank = engine->rank_variable;
    const std::string& size = engine->size_variable;
    const char* const given_rank = environment(rank.c_str());
    const char* const given_size = environment(size.c_str());
    if ((given_rank == nullptr && given_size == nullptr) || launch_by(environment, rank, size, {})) {
      continue;
    }
    const std::string given =
        given_rank == nullptr ? fmt::format("{}: {} was given without {}", size, quote(given_size), rank)
        : given_size == nullptr
            ? fmt::format("{}: {} was given without {}", rank, quote(given_rank), size)
            : fmt::format("{}: {} was given with {} {}", rank, quote(given_rank), size, quote(given_size));
    throw UsageError(
        fmt::format("{}; accepted: both, the rank from 0 to one less than the size, as {} sets them; start "
                    "the ranks with it, or "
                    "unset both variables",
                    given, engine->launcher));
  }
}

std::unique_ptr<RankGroup> device_group(RankGroup& control, Device& device) {
  const DeviceInfo& info = device.info();
  if (device.host_accessible()) {
    if (control.carries_host_memory()) {
      return nullptr;
    }
    const LaunchAdvice advice = launch_advice();
    throw UsageError(
        fmt::format("--device: {} needs an MPI, for the ranks were started without one: use {}{}", info.id,
                    advice.command, advice.reason.empty() ? "" : " (" + advice.reason + ")"));
  }
  const DeviceCollectives* const library = registry<DeviceCollectives>().find(info.kind);
  if (library == nullptr) {
    throw UsageError(fmt::format(
        "--device: ranks exchange data between devices such as {} by NCCL, which was not found when this "
        "program was built; install it (pip install nvidia-nccl-cu13) and build again",
        info.id));
  }
  return library->connect(control, device);
}

std::unique_ptr<RankGroup> join_launched(const RankLaunch& launch, std::chrono::nanoseconds timeout) {
  const RankEngine* const engine = usable_engine(launch.engine);
  if (engine == nullptr) {
    const RankEngine* const own = registry<RankEngine>().find(launch.engine);
    const RankEngine* const other = usable_engine("");
    throw UsageError(fmt::format("{} started {} ranks, but {}; {}", launch.launcher, launch.size,
                                 own != nullptr ? own->missing() : "this program was built without MPI",
                                 other != nullptr
                                     ? fmt::format("use {}", other->launcher)
                                     : fmt::format("install {} and build again", installable_engines())));
  }
  std::unique_ptr<RankGroup> group = engine->join(timeout);
  if (group->size() != launch.size) {
    throw UsageError(fmt::format(
        "{} started {} ranks, but {} sees {}: each would run alone; use {}{}", launch.launcher, launch.size,
        engine->title, group->size(), engine->launcher,
        launch.launcher == "srun" ? ", or srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)" : ""));
  }
  return group;
}

LaunchAdvice launch_advice() {
  if (const RankEngine* const engine = usable_engine("")) {
    return {.command = engine->launcher + " -n 2", .reason = ""};
  }
  return {.command = "mpirun -n 2",
          .reason = fmt::format("this program was built without MPI: install {} and build again",
                                installable_engines())};
}

}  // namespace bench
