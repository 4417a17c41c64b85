#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "sweeps/transfer/model.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfPinning = 0.08;  // of what is left of the time budget
constexpr std::int64_t kSmallest = 64 << 10;
constexpr std::int64_t kLargest = std::int64_t{256} << 20;

// What making and freeing pinned memory takes, beside ordinary memory.
class PinningStudy {
 public:
  explicit PinningStudy(const TransferStudies& studies) : studies_(studies) {}

  void run() {
    Json rows = Json::array();
    const double end_ns = studies_.sweep.left_ns() * (1 - kShareOfPinning);
    const std::int64_t largest = std::min(kLargest, studies_.sweep.request.largest_cap());
    for (std::int64_t bytes = kSmallest; bytes <= largest; bytes *= 4) {
      if (studies_.sweep.interrupted() || (studies_.sweep.left_ns() < end_ns && !rows.empty())) {
        break;
      }
      studies_.sweep.report(fmt::format("what pinning {} B costs", bytes));
      rows.push_back(pinning_of(bytes));
    }
    studies_.noted()["pinning"] = std::move(rows);
    studies_.sweep.save();
  }

 private:
  struct Made {
    double made_ns = 0;
    double freed_ns = 0;
    std::int64_t taken_bytes = 0;
  };
  Made make_once(HostKind kind, std::int64_t bytes) {
    Made made;
    const std::int64_t before = studies_.transfers.host_bytes_used();
    auto start = Clock::now();
    auto memory = studies_.transfers.host_memory({.kind = kind, .bytes = bytes, .node = studies_.node()});
    made.made_ns = since_ns(start);
    made.taken_bytes = studies_.transfers.host_bytes_used() - before;
    start = Clock::now();
    memory.reset();
    made.freed_ns = since_ns(start);
    return made;
  }

  Json pinning_of(std::int64_t bytes) {
    constexpr int kTimes = 5;
    Json row = {{"bytes", bytes}};
    std::vector<double> pin;
    std::vector<double> unpin;
    std::vector<double> make;
    std::vector<double> free;
    std::vector<double> taken;
    try {
      for (int i = 0; i < kTimes; ++i) {  // in turns, so that a slow moment meets both
        const Made pinned = make_once(HostKind::pinned, bytes);
        const Made pageable = make_once(HostKind::pageable, bytes);
        pin.push_back(pinned.made_ns);
        unpin.push_back(pinned.freed_ns);
        taken.push_back(static_cast<double>(pinned.taken_bytes));
        make.push_back(pageable.made_ns);
        free.push_back(pageable.freed_ns);
      }
    } catch (const Unsupported& error) {
      row["unsupported"] = error.what();
      return row;
    } catch (const OutOfMemory& error) {
      row["unsupported"] = error.what();
      return row;
    }
    const Json pinned = time_of(pin, studies_.sweep.request.seed);
    row["pin_ns"] = pinned["median_ns"];
    row["pin_ci95_ns"] = pinned["ci95_ns"];
    row["unpin_ns"] = *median_of(unpin);
    row["pageable_ns"] = *median_of(make);
    row["free_ns"] = *median_of(free);
    row["taken_bytes"] = std::max<std::int64_t>(0, static_cast<std::int64_t>(*median_of(taken)));
    return row;
  }

  const TransferStudies& studies_;
};

}  // namespace

void study_pinning(const TransferStudies& studies) {
  PinningStudy(studies).run();
}

}  // namespace bench::sweeps
