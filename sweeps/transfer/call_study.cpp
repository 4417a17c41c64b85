#include <ctime>

#include <fmt/format.h>

#include "bench/error.h"
#include "sweeps/transfer/model.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfCalls = 0.04;  // of what is left of the time budget

double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// How long a copy holds the thread that asks for it.
class CallStudy {
 public:
  explicit CallStudy(const TransferStudies& studies) : studies_(studies) {}

  void run() {
    Json rows = Json::array();
    const double end_ns = studies_.sweep.left_ns() * (1 - kShareOfCalls);
    for (const HostKind kind : {HostKind::pinned, HostKind::pageable}) {
      for (const CopyDirection direction : {CopyDirection::to_device, CopyDirection::to_host}) {
        for (const std::int64_t bytes :
             {std::int64_t{4} << 10, std::int64_t{256} << 10, std::int64_t{16} << 20}) {
          if (studies_.sweep.interrupted() || (studies_.sweep.left_ns() < end_ns && !rows.empty())) {
            break;
          }
          studies_.sweep.report(fmt::format("how long a copy of {} B holds the host", bytes));
          try {
            rows.push_back(call_of(kind, direction, bytes));
          } catch (const Unsupported&) {  // the points say why
          } catch (const OutOfMemory&) {
          }
        }
      }
    }
    studies_.noted()["calls"] = std::move(rows);
    studies_.sweep.save();
  }

 private:
  Json call_of(HostKind kind, CopyDirection direction, std::int64_t bytes) {
    constexpr std::size_t kTimes = 9;
    const Buffer buffer = studies_.sweep.device.allocate(bytes, MemoryCategory::input);
    const auto host = studies_.transfers.host_memory({.kind = kind, .bytes = bytes, .node = studies_.node()});
    const auto queue = studies_.transfers.copy_queue();
    const bool up = direction == CopyDirection::to_device;
    const Copy copy{.direction = direction,
                    .host = kind,
                    .to = up ? buffer.data() : host->data(),
                    .from = up ? host->data() : buffer.data(),
                    .bytes = bytes};
    std::vector<double> returns;
    std::vector<double> done;
    std::vector<double> cpu;
    for (std::size_t i = 0; i <= kTimes; ++i) {
      studies_.transfers.evict(copy.from, bytes);
      studies_.transfers.evict(copy.to, bytes);
      const double cpu_start = thread_cpu_ns();
      const auto start = Clock::now();
      queue->start(copy);
      const double returned = since_ns(start);
      queue->wait();
      const double ended = since_ns(start);
      if (i > 0) {  // the first touches pages and wakes the device up
        returns.push_back(returned);
        done.push_back(ended);
        cpu.push_back(thread_cpu_ns() - cpu_start);
      }
    }
    const Json held = time_of(returns, studies_.sweep.request.seed);
    const Json ended = time_of(done, studies_.sweep.request.seed);
    return {{"direction", up ? "h2d" : "d2h"},
            {"host_memory", kind == HostKind::pinned ? "pinned" : "pageable"},
            {"bytes", bytes},
            {"returns_ns", held["median_ns"]},
            {"returns_ci95_ns", held["ci95_ns"]},
            {"done_ns", ended["median_ns"]},
            {"done_ci95_ns", ended["ci95_ns"]},
            {"cpu_ns", *median_of(cpu)}};
  }

  const TransferStudies& studies_;
};

}  // namespace

void study_calls(const TransferStudies& studies) {
  CallStudy(studies).run();
}

}  // namespace bench::sweeps
