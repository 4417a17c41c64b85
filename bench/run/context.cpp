#include "bench/run/context.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/run/catalogue.h"
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
  Json caches = Json::array();
  for (const auto& cache : cpu.caches) {
    caches.push_back({{"type", cache.type},
                      {"level", cache.level},
                      {"size", cache.size},
                      {"num_sharing", cache.num_sharing}});
  }
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
          {"caches", caches},
          {"load_avg", cpu.load_avg},
          {"library_build_type", kBuild}};
}

bool is_software(const std::string& detail) {
  constexpr std::array<std::string_view, 5> kSoftware{"onednn", "driver", "cuda", "cudnn", "cublas"};
  return std::ranges::count(kSoftware, detail) > 0;
}

// A detail that is named after its unit is a number; "clocks.sm_mhz" is one of the group "clocks".
Json detail_json(const std::string& name, const std::string& value) {
  constexpr std::array<std::string_view, 3> kUnits{"_bytes", "_w", "_mhz"};
  const bool counts = std::ranges::any_of(
      kUnits, [&](std::string_view unit) { return std::string_view(name).ends_with(unit); });
  Json number = counts ? Json::parse(value, nullptr, false) : Json();
  return number.is_number() ? number : Json(value);
}

Json device_json(const DeviceInfo& device) {
  Json json{{"id", device.id},
            {"kind", device.kind},
            {"name", device.name},
            {"memory_bytes", device.memory_bytes},
            {"available_bytes", device.available_bytes},
            {"compute_units", device.compute_units}};
  for (const auto& [name, value] : device.details) {
    if (is_software(name)) {
      continue;
    }
    const std::size_t dot = name.find('.');
    Json& at = dot == std::string::npos ? json[name] : json[name.substr(0, dot)][name.substr(dot + 1)];
    at = detail_json(name, value);
  }
  if (Json datasheet = datasheet_of(device.name, catalogue_path()); datasheet.is_object()) {
    json["datasheet"] = std::move(datasheet);
  }
  return json;
}

Json host_json(const HostInfo& host) {
  Json json{{"cpu", host.cpu}, {"usable_cores", host.usable_cores}, {"memory_bytes", host.memory_bytes}};
  if (host.cpu_quota) {
    json["cpu_quota"] = *host.cpu_quota;
  }
  return json;
}

Json software_json(const DeviceInfo& device) {
  Json json{{"bench", bench_version()}};
#if defined(__clang__)
  json["compiler"] = fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  json["compiler"] = fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  if (const std::string_view git(BENCH_GIT); !git.empty()) {
    json["git"] = git;
  }
  for (const auto& [name, value] : device.details) {
    if (is_software(name)) {
      json[name] = value;
    }
  }
  return json;
}

}  // namespace

std::string_view bench_version() {
  return BENCH_VERSION;
}

Json make_context(const DeviceInfo& device, const HostInfo& host, const std::vector<std::string>& argv,
                  std::uint64_t seed) {
  Json context = google_benchmark_context(argv);
  context["device"] = device_json(device);
  context["host"] = host_json(host);
  context["software"] = software_json(device);
  context["argv"] = argv;
  context["seed"] = seed;
  return context;
}

Json make_context(const DeviceInfo& device, const std::vector<std::string>& argv, std::uint64_t seed) {
  return make_context(device, host_info(), argv, seed);
}

}  // namespace bench
