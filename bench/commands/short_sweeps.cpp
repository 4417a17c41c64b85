#include "bench/commands/short_sweeps.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/progress.h"
#include "bench/cli/terminal.h"
#include "bench/clock.h"
#include "bench/commands/sweep_process.h"
#include "bench/host/interrupt.h"
#include "bench/result/result.h"
#include "bench/run/result_file.h"
#include "bench/run/run_budget.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct ShortSweep {
  std::string name;
  double share;                    // of the time budget
  std::vector<std::string> words;  // options of this sweep alone
};

ShortSweep batch_sweep(const ShortSweeps& sweeps) {
  ShortSweep sweep{.name = "batch", .share = 0.6, .words = {"--mode", "train"}};
  if (const std::int64_t batch = sweeps.current.batch; batch > 0) {
    // The smallest is measured first: with little time it must be the user's own.
    constexpr auto kShort = std::chrono::seconds(120);
    std::set<std::int64_t> batches{batch, 2 * batch, 4 * batch};
    if (sweeps.time_budget >= kShort) {
      batches.insert(std::max<std::int64_t>(1, batch / 2));
    }
    sweep.words.insert(sweep.words.end(), {"--batch", fmt::format("{}", fmt::join(batches, ","))});
  }
  return sweep;
}

// Those that the device, as the batch sweep found it, asks for. A step that takes long would leave the
// workers sweep too few of them: a short time takes its place, and the advice puts the measured step back.
std::vector<ShortSweep> other_sweeps(const ShortSweeps& sweeps, const ResultDocument& measured) {
  constexpr double kLongNs = 200e6;
  ShortSweep loader{
      .name = "workers", .share = 0.3, .words = {"--mode", "train", "--dtype", sweeps.current.dtype}};
  if (sweeps.current.batch > 0) {
    loader.words.insert(loader.words.end(), {"--batch", std::to_string(sweeps.current.batch)});
  }
  const bool takes_long = std::ranges::any_of(
      measured_points(measured), [](const Point& point) { return point.stats.median_ns > kLongNs; });
  if (takes_long) {
    loader.words.insert(loader.words.end(), {"--consumer", "20ms"});
  }
  std::vector<ShortSweep> others{loader};
  if (measured.context.device.kind != "cpu") {  // whose copies cross no bus
    others.push_back({.name = "transfer", .share = 0.1, .words = {}});
  }
  return others;
}

// What an interrupted sweep had written.
bool holds_a_result(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return std::any_of(begin(entries), end(entries),
                     [](const fs::directory_entry& entry) { return entry.path().extension() == ".json"; });
}

}  // namespace

std::vector<std::string> run_short_sweeps(const ShortSweeps& sweeps) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const Clock& clock = steady_clock();
  const RunBudget budget(clock, clock.now(), sweeps.time_budget);
  Progress bar(std::cerr, can_redraw(STDERR_FILENO), terminal_width(STDERR_FILENO));
  std::vector<std::string> files;
  const auto run = [&](const ShortSweep& sweep) {
    SweepProcess process{.who = "--sweep " + sweep.name,
                         .program = self,
                         .words = {"--sweep", sweep.name},
                         .environment = {},
                         .folder = sweeps.out / sweep.name};
    process.words.insert(process.words.end(), sweeps.workload.begin(), sweeps.workload.end());
    process.words.insert(process.words.end(), sweep.words.begin(), sweep.words.end());
    process.words.insert(process.words.end(),
                         {"--device", sweeps.device, "--time-budget",
                          fmt::format("{:.0f}s", sweep.share * budget.total_ns() / 1e9)});
    const auto file =
        run_sweep_process(process, clock, [&] { bar.update(budget.progress(sweep.name + " sweep")); });
    if (!file) {
      throw Interrupted(fmt::format("interrupted during the {} sweep; {} {}", sweep.name,
                                    files.empty() && !holds_a_result(process.folder)
                                        ? "nothing was measured; the sweep's output is in"
                                        : "what was measured is in",
                                    sweeps.out.string()));
    }
    files.push_back(*file);
  };
  run(batch_sweep(sweeps));
  for (const ShortSweep& sweep : other_sweeps(sweeps, read_result(files.front()))) {
    run(sweep);
  }
  return files;
}

}  // namespace bench
