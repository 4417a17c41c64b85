#include "bench/host/cpu_usage.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/host/text_file.h"

namespace bench {
namespace {

constexpr std::chrono::milliseconds kWindow{200};

std::vector<std::int64_t>& other_own_processes() {
  static std::vector<std::int64_t> processes;
  return processes;
}

}  // namespace

void count_as_own(std::vector<std::int64_t> processes) {
  other_own_processes() = std::move(processes);
}

// The two numbers are fields 14 and 15, utime and stime, in clock ticks (proc_pid_stat(5)). They are counted
// from the last bracket: field 2 is the program's name in brackets, which may hold spaces and brackets.
double process_seconds(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) {
    return 0;
  }
  std::istringstream words{std::string(stat.substr(name_end + 1))};
  std::string skipped;
  for (int i = 0; i < 11; ++i) {
    words >> skipped;
  }
  std::int64_t user = 0;
  std::int64_t system = 0;
  return words >> user >> system
             ? static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK))
             : 0;
}

double online_cores() {
  return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::optional<CoreTicks> core_ticks(std::string_view stat) {
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  words >> name;
  // user, nice, system, idle, iowait, irq, softirq, steal; guests' are part of the first two.
  constexpr std::size_t kIdle = 3;
  constexpr std::size_t kWaiting = 4;
  constexpr std::size_t kStolen = 7;
  CoreTicks ticks;
  std::size_t at = 0;
  for (std::int64_t value = 0; at <= kStolen && words >> value; ++at) {
    ticks.all += value;
    ticks.busy += at == kIdle || at == kWaiting ? 0 : value;
    ticks.stolen += at == kStolen ? value : 0;
  }
  return name == "cpu" && at > kWaiting ? std::optional(ticks) : std::nullopt;
}

std::optional<CpuTimes> cpu_times_now(const Clock& clock) {
  const auto ticks = core_ticks(head_of("/proc/stat", 512));
  if (!ticks) {
    return std::nullopt;
  }
  CpuTimes times{
      .ticks = *ticks, .own_s = static_cast<double>(std::clock()) / CLOCKS_PER_SEC, .at = clock.now()};
  for (const std::int64_t process : other_own_processes()) {
    times.own_s += process_seconds(head_of("/proc/" + std::to_string(process) + "/stat", 512));
  }
  return times;
}

std::optional<CpuUsage> usage_between(const CpuTimes& before, const CpuTimes& after, double cores) {
  const auto all = static_cast<double>(after.ticks.all - before.ticks.all);
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  if (!(all > 0) || !(seconds > 0)) {
    return std::nullopt;
  }
  const auto stolen = static_cast<double>(after.ticks.stolen - before.ticks.stolen);
  const double running = static_cast<double>(after.ticks.busy - before.ticks.busy) - stolen;
  const double own = (after.own_s - before.own_s) / seconds;
  return CpuUsage{.stolen = std::clamp(stolen / all, 0.0, 1.0),
                  .others = std::max(0.0, cores * running / all - own)};
}

CpuUsageWatch::CpuUsageWatch(const Clock& clock)
    : CpuUsageWatch([&clock] { return cpu_times_now(clock); }, online_cores()) {}

CpuUsageWatch::CpuUsageWatch(Reader reader, double cores)
    : reader_(std::move(reader)), cores_(cores), since_(reader_()) {}

std::optional<CpuUsage> CpuUsageWatch::read() {
  const std::optional<CpuTimes> now = reader_();
  if (!now || !since_) {
    since_ = now;
    return last_;
  }
  if (now->at - since_->at >= kWindow) {
    if (const auto usage = usage_between(*since_, *now, cores_)) {
      last_ = usage;
      since_ = now;
    }
  }
  return last_;
}

std::optional<double> load_average(std::string_view loadavg) {
  double value = 0;
  const auto [end, error] = std::from_chars(loadavg.data(), loadavg.data() + loadavg.size(), value);
  return error == std::errc{} && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> load_average() {
  return load_average(head_of("/proc/loadavg", 128));
}

double other_cpu_usage(std::chrono::milliseconds slept, const Clock& clock) {
  const auto before = cpu_times_now(clock);
  clock.sleep_until(clock.now() + slept);
  const auto after = cpu_times_now(clock);
  const double cores = online_cores();
  const auto usage = before && after ? usage_between(*before, *after, cores) : std::nullopt;
  return usage ? usage->others + cores * usage->stolen : 0;
}

bool others_want_cores(int usable_cores, const Clock& clock) {
  constexpr double kLeftToOthers = 0.25;  // cores
  const double others = other_cpu_usage(std::chrono::milliseconds(330), clock);
  return online_cores() - others < usable_cores - kLeftToOthers;
}

bool others_want_cores(const CpuTimes& before, const CpuTimes& after, int usable_cores,
                       double left_to_others) {
  const double cores = online_cores();
  const auto usage = usage_between(before, after, cores);
  return usage && cores - usage->others - cores * usage->stolen < usable_cores - left_to_others;
}

}  // namespace bench
