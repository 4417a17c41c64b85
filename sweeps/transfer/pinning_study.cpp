#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/statistics.h"
#include "bench/measure/units.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

constexpr double kShareOfPinning = 0.08;  // of what is left of the time budget
constexpr std::int64_t kSmallest = 64 << 10;
constexpr std::int64_t kLargest = std::int64_t{256} << 20;
constexpr int kTimes = 5;

struct Made {
  double made_ns = 0;
  double freed_ns = 0;
  std::int64_t taken_bytes = 0;
};

Made make_and_free(const TransferStudy& study, HostKind kind, std::int64_t bytes) {
  const Clock& clock = study.sweep.clock;
  Made made;
  const std::int64_t before = study.transfers.host_bytes_used();
  auto start = clock.now();
  auto memory = study.transfers.host_memory(
      {.kind = kind, .bytes = bytes, .node = node_named(study.options.node, study.transfers)});
  made.made_ns = clock.since_ns(start);
  made.taken_bytes = study.transfers.host_bytes_used() - before;
  start = clock.now();
  memory.reset();
  made.freed_ns = clock.since_ns(start);
  return made;
}

PinningCost pinning_cost(const TransferStudy& study, std::int64_t bytes) {
  PinningCost cost{.bytes = bytes};
  std::vector<double> pin;
  std::vector<double> unpin;
  std::vector<double> make;
  std::vector<double> free;
  std::vector<double> taken;
  try {
    for (int i = 0; i < kTimes; ++i) {  // in turns, so that a slow moment meets both
      const Made pinned = make_and_free(study, HostKind::pinned, bytes);
      const Made pageable = make_and_free(study, HostKind::pageable, bytes);
      pin.push_back(pinned.made_ns);
      unpin.push_back(pinned.freed_ns);
      taken.push_back(static_cast<double>(pinned.taken_bytes));
      make.push_back(pageable.made_ns);
      free.push_back(pageable.freed_ns);
    }
  } catch (const Unsupported& error) {
    cost.unsupported = error.what();
    return cost;
  } catch (const OutOfMemory& error) {
    cost.unsupported = error.what();
    return cost;
  }
  cost.pin_ns = median_estimate(pin, study.sweep.request.seed);
  cost.unpin_ns = median(unpin);
  cost.pageable_ns = median(make);
  cost.free_ns = median(free);
  cost.taken_bytes = std::max<std::int64_t>(0, static_cast<std::int64_t>(median(taken)));
  return cost;
}

}  // namespace

std::vector<PinningCost> study_pinning(const TransferStudy& study) {
  std::vector<PinningCost> costs;
  const double end_ns = study.sweep.left_ns() * (1 - kShareOfPinning);
  const std::int64_t largest = std::min(kLargest, study.sweep.request.largest_cap());
  for (std::int64_t bytes = kSmallest; bytes <= largest; bytes *= 4) {
    if (study.sweep.interrupted() || (study.sweep.left_ns() < end_ns && !costs.empty())) {
      break;
    }
    study.sweep.report(fmt::format("pinning {}", format_bytes(bytes)));
    costs.push_back(pinning_cost(study, bytes));
  }
  return costs;
}

}  // namespace bench::sweeps
