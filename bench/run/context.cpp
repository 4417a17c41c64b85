#include "bench/run/context.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/run/gpu_files.h"
#include "bench_git.h"  // written by cmake/GitVersion.cmake

namespace bench {
namespace {

// "2026-03-01T12:34:56+01:00", as Google Benchmark writes it.
std::string iso_date(std::time_t time) {
  const std::string date = fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(time));
  // %z has no colon; ISO 8601's extended form does.
  return date.substr(0, date.size() - 2) + ":" + date.substr(date.size() - 2);
}

Json google_benchmark_context(const std::vector<std::string>& argv) {
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
#ifdef NDEBUG
  constexpr const char* kBuild = "release";
#else
  constexpr const char* kBuild = "debug";
#endif
  return {{"date", iso_date(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()))},
          {"host_name", benchmark::SystemInfo::Get().name},
          {"executable", argv.empty() ? "" : argv.front()},
          {"num_cpus", cpu.num_cpus},
          {"mhz_per_cpu", std::llround(cpu.cycles_per_second / 1e6)},
          {"cpu_scaling_enabled", cpu.scaling == benchmark::CPUInfo::ENABLED},
          {"caches", Json::array()},  // in its place; RunContext::caches fills it
          {"load_avg", cpu.load_avg},
          {"library_build_type", kBuild}};
}

bool is_software(const std::string& detail) {
  constexpr std::array<std::string_view, 5> kSoftware{"onednn", "driver", "cuda", "cudnn", "cublas"};
  return std::ranges::count(kSoftware, detail) > 0;
}

std::map<std::string, std::string> own_software() {
  std::map<std::string, std::string> software{{"bench", std::string(bench_version())}};
#if defined(__clang__)
  software["compiler"] =
      fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  software["compiler"] = fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  if (const std::string_view git(BENCH_GIT); !git.empty()) {
    software["git"] = git;
  }
  return software;
}

}  // namespace

std::map<std::string, std::string> software_of(const DeviceInfo& device) {
  std::map<std::string, std::string> software;
  for (const auto& [name, value] : device.details) {
    if (is_software(name)) {
      software[name] = value;
    }
  }
  return software;
}

Json datasheet_of(std::string_view name) {
  for (const Json& gpu : gpu_data_sheets().at("gpus")) {
    const Json names = gpu.value("names", Json::array());
    if (gpu.at("id") == name || std::ranges::any_of(names, [&](const Json& one) { return one == name; })) {
      return gpu;
    }
  }
  return nullptr;
}

std::string_view bench_version() {
  return BENCH_VERSION;
}

std::string build_name() {
  const std::string_view git(BENCH_GIT);
  return git.empty() ? std::string(bench_version()) : fmt::format("{} ({})", bench_version(), git);
}

RunContext make_context(const DeviceInfo& device, const HostInfo& host, const std::vector<std::string>& argv,
                        std::uint64_t seed) {
  RunContext context;
  context.google_benchmark = google_benchmark_context(argv);
  for (const auto& cache : benchmark::CPUInfo::Get().caches) {
    context.caches.push_back(
        {.type = cache.type, .level = cache.level, .size = cache.size, .num_sharing = cache.num_sharing});
  }
  context.device = device;
  context.software = own_software();
  for (const auto& [name, version] : software_of(device)) {
    context.software[name] = version;
    context.device.details.erase(name);
  }
  if (Json datasheet = datasheet_of(device.kind == "modelled" ? device.id : device.name);
      datasheet.is_object()) {
    context.datasheet = std::move(datasheet);
  }
  context.host = {.cpu = host.cpu,
                  .usable_cores = host.usable_cores,
                  .cpu_quota = host.cpu_quota,
                  .memory_bytes = host.memory_bytes};
  context.argv = argv;
  context.seed = seed;
  return context;
}

}  // namespace bench
