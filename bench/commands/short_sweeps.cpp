#include "bench/commands/short_sweeps.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "bench/cli/progress.h"
#include "bench/clock.h"
#include "bench/commands/sweep_process.h"
#include "bench/host/interrupt.h"
#include "bench/run/run_budget.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct ShortSweep {
  std::string name;
  double share;                    // of the time budget
  std::vector<std::string> words;  // of its own
};

std::vector<ShortSweep> plan(const ShortSweeps& sweeps) {
  const std::int64_t batch = sweeps.current.batch;
  std::vector<std::string> own{"--mode", "train"};
  ShortSweep curve{.name = "batch", .share = 0.45, .words = own};
  ShortSweep loader{.name = "workers", .share = 0.45, .words = own};
  if (batch > 0) {
    std::set<std::int64_t> batches{std::max<std::int64_t>(1, batch / 2), batch, 2 * batch, 4 * batch};
    std::string list;
    for (const std::int64_t one : batches) {
      list += fmt::format("{}{}", list.empty() ? "" : ",", one);
    }
    curve.words.insert(curve.words.end(), {"--batch", list});
    loader.words.insert(loader.words.end(), {"--batch", std::to_string(batch)});
  }
  loader.words.insert(loader.words.end(), {"--dtype", sweeps.current.dtype});
  return {curve, loader, {.name = "transfer", .share = 0.1, .words = {}}};
}

}  // namespace

std::vector<std::string> run_short_sweeps(const ShortSweeps& sweeps) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const Clock& clock = steady_clock();
  const RunBudget budget(clock, clock.now(), sweeps.time_budget);
  Progress bar(std::cerr, ::isatty(STDERR_FILENO) == 1, terminal_width());
  std::vector<std::string> files;
  for (const ShortSweep& sweep : plan(sweeps)) {
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
    stop_if_interrupted("sweeps were done");
    files.push_back(*file);
  }
  return files;
}

}  // namespace bench
