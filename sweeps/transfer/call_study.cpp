#include <ctime>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/statistics.h"
#include "bench/measure/units.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

constexpr double kShareOfCalls = 0.04;  // of what is left of the time budget
constexpr std::size_t kCalls = 9;

double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

CallTime call_time(const TransferStudy& study, HostKind kind, CopyDirection direction, std::int64_t bytes) {
  const Clock& clock = study.sweep.clock;
  const Buffer buffer = study.sweep.device.allocate(bytes, MemoryCategory::input);
  const auto host = study.transfers.host_memory(
      {.kind = kind, .bytes = bytes, .node = node_named(study.options.node, study.transfers)});
  const auto queue = study.transfers.copy_queue();
  const bool up = direction == CopyDirection::to_device;
  const Copy copy{.direction = direction,
                  .host = kind,
                  .to = up ? buffer.data() : host->data(),
                  .from = up ? host->data() : buffer.data(),
                  .bytes = bytes};
  std::vector<double> returns;
  std::vector<double> done;
  std::vector<double> cpu;
  for (std::size_t i = 0; i <= kCalls; ++i) {
    study.transfers.evict(copy.from, bytes);
    study.transfers.evict(copy.to, bytes);
    const double cpu_start = thread_cpu_ns();
    const auto start = clock.now();
    queue->start(copy);
    const double returned = clock.since_ns(start);
    queue->wait();
    const double ended = clock.since_ns(start);
    if (i > 0) {  // the first touches pages and wakes the device up
      returns.push_back(returned);
      done.push_back(ended);
      cpu.push_back(thread_cpu_ns() - cpu_start);
    }
  }
  return {.direction = up ? "h2d" : "d2h",
          .kind = kind == HostKind::pinned ? "pinned" : "pageable",
          .bytes = bytes,
          .returns_ns = median_estimate(returns, study.sweep.request.seed),
          .done_ns = median_estimate(done, study.sweep.request.seed),
          .cpu_ns = median(cpu)};
}

}  // namespace

std::vector<CallTime> study_calls(const TransferStudy& study) {
  std::vector<CallTime> calls;
  const double end_ns = study.sweep.left_ns() * (1 - kShareOfCalls);
  for (const HostKind kind : {HostKind::pinned, HostKind::pageable}) {
    for (const CopyDirection direction : {CopyDirection::to_device, CopyDirection::to_host}) {
      for (const std::int64_t bytes :
           {std::int64_t{4} << 10, std::int64_t{256} << 10, std::int64_t{16} << 20}) {
        if (study.sweep.interrupted() || (study.sweep.left_ns() < end_ns && !calls.empty())) {
          return calls;
        }
        study.sweep.report(fmt::format("how long a copy of {} holds its thread", format_bytes(bytes)));
        try {
          calls.push_back(call_time(study, kind, direction, bytes));
        } catch (const Unsupported&) {  // the points say why
        } catch (const OutOfMemory&) {
        }
      }
    }
  }
  return calls;
}

}  // namespace bench::sweeps
