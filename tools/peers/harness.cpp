// What the harness itself costs, as one JSON line: a sample's overhead, a large result file, and a copy of
// the CPU device beside copies that do nothing else.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "bench/measure/result.h"
#include "bench/registry.h"
#include "bench/run/result_file.h"
#include "bench/run/visit.h"
#include "bench/transfers.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Nothing : public bench::Workload {
 public:
  void step() override {}
  bench::Verification verify() override { return {.passed = true, .detail = ""}; }
  bench::Work work() const override { return {}; }
};

// Wall time of a visit to a workload that does nothing, per sample: clock reads, bookkeeping and Google
// Benchmark's loop. The least of several visits: everything above it is other processes.
double ns_per_sample() {
  constexpr std::int64_t kSamples = 100'000;
  const auto device = bench::registry<bench::DeviceKind>().find("cpu")->open("cpu");
  Nothing nothing;
  double least = 0;
  for (int visit = 0; visit < 20; ++visit) {
    const auto start = Clock::now();
    bench::run_visit("nothing", nothing, *device, kSamples);
    const double each = seconds_since(start) * 1e9 / static_cast<double>(kSamples);
    least = visit == 0 ? each : std::min(least, each);
  }
  return least;
}

// Two independent ways to copy as fast as a core can: the C library's, and a loop of 32-byte stores that go
// past the caches where the processor has them.
#ifdef __x86_64__
[[gnu::target("avx")]] void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at + 128 <= bytes; at += 128) {
    _mm_prefetch(from + at + 512, _MM_HINT_NTA);
    const auto* const source = reinterpret_cast<const __m256i*>(from + at);
    auto* const target = reinterpret_cast<__m256i*>(to + at);
    _mm_prefetch(from + at + 576, _MM_HINT_NTA);
    const __m256i a = _mm256_loadu_si256(source);
    const __m256i b = _mm256_loadu_si256(source + 1);
    const __m256i c = _mm256_loadu_si256(source + 2);
    const __m256i d = _mm256_loadu_si256(source + 3);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
    _mm256_stream_si256(target + 2, c);
    _mm256_stream_si256(target + 3, d);
  }
  _mm_sfence();
}
bool has_stream_copy() {
  return __builtin_cpu_supports("avx") != 0;
}
#else
void stream_copy(std::byte*, const std::byte*, std::int64_t) {}
bool has_stream_copy() {
  return false;
}
#endif

void library_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The CPU device's copy of ordinary memory, beyond all caches, over the faster of the two: medians of turns
// that take place one after the other in the same run.
double copy_time_over_tuned() {
  constexpr std::int64_t kBytes = std::int64_t{256} << 20;
  constexpr std::size_t kTurns = 18;
  const auto device = bench::registry<bench::DeviceKind>().find("cpu")->open("cpu");
  bench::Transfers& transfers = *bench::transfers_of(*device);
  const bench::Buffer buffer = device->allocate(kBytes, bench::MemoryCategory::input);
  const auto host = transfers.host_memory({.kind = bench::HostKind::pageable, .bytes = kBytes});
  const std::vector<bench::Copy> copy{{.to = buffer.data(), .from = host->data(), .bytes = kBytes}};
  std::vector<double> ours;
  std::vector<double> library;
  std::vector<double> stream;
  const auto timed = [](std::vector<double>& times, const auto& action) {
    const auto start = Clock::now();
    action();
    times.push_back(seconds_since(start));
  };
  const std::array<std::function<void()>, 3> contestants{
      [&] { timed(ours, [&] { transfers.copy(copy); }); },
      [&] { timed(library, [&] { library_copy(buffer.data(), host->data(), kBytes); }); },
      [&] {
        if (has_stream_copy()) {
          timed(stream, [&] { stream_copy(buffer.data(), host->data(), kBytes); });
        }
      }};
  for (std::size_t turn = 0; turn < kTurns; ++turn) {  // each follows each of the others as often
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      contestants[(turn % 2 == 0 ? turn + i : turn + contestants.size() - i) % contestants.size()]();
    }
  }
  const double best = stream.empty() ? median(library) : std::min(median(library), median(stream));
  return median(ours) / best;
}

bench::ResultDocument large_document(std::int64_t points) {
  bench::ResultDocument document;
  document.sweep = {
      {"name", "batch"}, {"question", "?"}, {"workload", "nothing"}, {"axes", bench::Json::object()}};
  document.context = {{"date", "2000-01-01T00:00:00+00:00"}};
  for (std::int64_t i = 1; i <= points; ++i) {
    bench::MeasuredPoint point;
    point.name = "batch/nothing/infer/fp32/batch:" + std::to_string(i);
    point.params = {{"batch", i}, {"dtype", "fp32"}};
    // What a point of a real sweep holds: three rounds of some tens of samples.
    for (std::int64_t sample = 0; sample < 60; ++sample) {
      point.samples_ns.push_back(1'000'000 + (i * 7919 + sample * 104'729) % 50'000);
    }
    point.round_sizes = {20, 20, 20};
    point.items_per_step = static_cast<double>(i);
    point.stats = {.median_ns = 1'025'000,
                   .p05_ns = 1e6,
                   .p95_ns = 1.05e6,
                   .cv = 0.01,
                   .ci95_ns = {1.02e6, 1.03e6},
                   .rounds = 3};
    point.work = {{"flops", 1e9}, {"fixed_bytes", 1e6}, {"sample_bytes", 1e6}, {"launches", 50}};
    point.verification = {{"error", 1e-7}, {"tolerance", 1e-5}, {"detail", "all rows"}};
    document.benchmarks.push_back(std::move(point));
  }
  return document;
}

}  // namespace

int main() {
  try {
    const double overhead = ns_per_sample();
    const double copying = copy_time_over_tuned();

    constexpr std::int64_t kPoints = 10'000;
    const bench::ResultDocument document = large_document(kPoints);
    const auto folder =
        std::filesystem::temp_directory_path() / ("bench-harness-" + std::to_string(getpid()));
    double write_s = 0;
    double read_s = 0;
    std::size_t read = 0;
    std::uintmax_t bytes = 0;
    {
      bench::ResultFile file(folder, "batch", "nothing", "cpu");
      file.check_writable();
      const auto write_start = Clock::now();
      file.write(document);
      write_s = seconds_since(write_start);
      bytes = std::filesystem::file_size(file.path());
      const auto read_start = Clock::now();
      read = bench::read_result(file.path()).benchmarks.size();
      read_s = seconds_since(read_start);
    }
    std::filesystem::remove_all(folder);
    if (read != static_cast<std::size_t>(kPoints)) {
      throw std::runtime_error("the file came back with another number of points");
    }
    std::cout << bench::Json{{"ns_per_sample", overhead}, {"copy_time_over_tuned", copying},
                             {"file_points", kPoints},    {"file_bytes", bytes},
                             {"file_write_s", write_s},   {"file_read_s", read_s}}
              << '\n';
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_harness: %s\n", error.what());
    return 1;
  }
  return 0;
}
