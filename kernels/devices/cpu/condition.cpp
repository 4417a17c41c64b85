#include "kernels/devices/cpu/condition.h"

#include <charconv>

#include "bench/host/host_info.h"
#include "bench/host/text_file.h"

namespace bench::kernels {
namespace {

constexpr double kWaited = 0.05;       // of the time that passed
constexpr double kUsedByOthers = 0.1;  // cores; a window of 200 ms has ticks of 0.05

template <class Number>
std::optional<Number> number_after(std::string_view text, std::string_view key, std::string_view skipped) {
  std::size_t at = text.find(key);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) {
    return std::nullopt;
  }
  at = text.find_first_not_of(skipped, at + key.size());
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  Number value{};
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::filesystem::path find_cpu_stat() {
  constexpr std::size_t kAll = std::size_t{1} << 20;
  const std::string mounts = head_of("/proc/self/mountinfo", kAll);
  const std::string groups = head_of("/proc/self/cgroup", kAll);
  for (const std::string_view controller : {"", "cpu"}) {  // version 2, then version 1
    if (const auto mount = find_cgroup(mounts, groups, controller)) {
      auto path = mount->folder / "cpu.stat";
      if (throttled_periods(head_of(path))) {
        return path;
      }
    }
  }
  return {};
}

std::optional<double> clock_mhz() {
  if (const std::string khz = head_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
      !khz.empty()) {
    double value = 0;
    if (std::from_chars(khz.data(), khz.data() + khz.size(), value).ec == std::errc{} && value > 0) {
      return value / 1e3;
    }
  }
  return cpuinfo_mhz(head_of("/proc/cpuinfo"));
}

// The sum over all threads. It shrinks when a thread ends.
std::int64_t waited_by_all_threads() {
  std::int64_t sum = 0;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    sum += waited_ns(head_of(thread.path() / "schedstat", 128)).value_or(0);
  }
  return sum;
}

}  // namespace

std::optional<std::int64_t> throttled_periods(std::string_view cpu_stat) {
  return number_after<std::int64_t>(cpu_stat, "nr_throttled", " ");
}

std::optional<double> cpuinfo_mhz(std::string_view cpuinfo) {
  return number_after<double>(cpuinfo, "cpu MHz", " \t:");
}

std::optional<std::int64_t> waited_ns(std::string_view schedstat) {
  const std::size_t second = schedstat.find(' ');
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(schedstat.data() + second + 1, schedstat.data() + schedstat.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

bool waited_for_others(double share, const std::optional<CpuUsage>& usage, double cores) {
  return share > kWaited && (!usage || usage->others + cores * usage->stolen > kUsedByOthers);
}

CpuCondition::CpuCondition() : CpuCondition(find_cpu_stat()) {}

CpuCondition::CpuCondition(std::filesystem::path cpu_stat, const Clock& clock)
    : clock_(clock),
      cpu_stat_(std::move(cpu_stat)),
      throttled_(throttled_now()),
      waited_ns_(waited_by_all_threads()),
      read_at_(clock.now()),
      usage_(clock),
      cores_(online_cores()) {}

std::optional<std::int64_t> CpuCondition::throttled_now() const {
  return cpu_stat_.empty() ? std::nullopt : throttled_periods(head_of(cpu_stat_));
}

DeviceState CpuCondition::read() {
  DeviceState state;
  state.clock_mhz = clock_mhz();
  const auto now = throttled_now();
  if (now && throttled_ && *now > *throttled_) {
    state.throttle_reasons.emplace_back("cpu_quota");
  }
  throttled_ = now;

  const std::int64_t waited = waited_by_all_threads();
  const auto read_at = clock_.now();
  const std::chrono::duration<double, std::nano> passed = read_at - read_at_;
  const double share = static_cast<double>(waited - waited_ns_) / passed.count();
  if (waited_for_others(share, usage_.read(), cores_)) {
    state.throttle_reasons.emplace_back("cpu_contention");
  }
  waited_ns_ = waited;
  read_at_ = read_at;
  return state;
}

}  // namespace bench::kernels
