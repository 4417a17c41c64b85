// Does the host have memory and cores for what feeds the cards?
#include <fmt/format.h>

#include "bench/advise/observed_parts.h"

namespace bench {

std::optional<double> room_on_host(const Observed& observed) {
  return observed.host_memory && observed.host_memory_used
             ? std::optional(*observed.host_memory - *observed.host_memory_used)
             : std::nullopt;
}

std::optional<NamedBottleneck> advise_host(const ReadStep& read, Advice& advice) {
  const Observed& observed = read.observed;
  std::optional<NamedBottleneck> named;
  constexpr double kFull = 0.9;
  const bool full = observed.host_memory && observed.host_memory_used &&
                    *observed.host_memory_used > kFull * *observed.host_memory;
  std::string reason;
  if (full) {
    reason = fmt::format("host memory is {} full, {} of {}",
                         share_in_words(*observed.host_memory_used / *observed.host_memory),
                         gib_in_words(*observed.host_memory_used), gib_in_words(*observed.host_memory));
    named = {Bottleneck::host_memory, "Free it first: " + reason + "."};
  }
  // Pages that lie in swap while memory is free were put there earlier, and nothing needs them.
  constexpr double kRoomy = 0.8;
  const auto room = room_on_host(observed);
  const bool roomy = room && *room > (1 - kRoomy) * *observed.host_memory;
  if (observed.swap_used.value_or(0) > 0 && roomy) {
    advice.warnings.push_back(
        fmt::format("{} lie in swap, with {} of host memory free: harmless, unless the system swaps now (si "
                    "and so of vmstat).",
                    gib_in_words(*observed.swap_used), gib_in_words(*room)));
  } else if (observed.swap_used.value_or(0) > 0) {
    named = {Bottleneck::swap,
             fmt::format("{} lie in swap{}: free host memory before anything that takes more of it.",
                         gib_in_words(*observed.swap_used), full ? ", and " + reason : "")};
  }
  // Programs that compute spend a few percent in the kernel; threads that wait for each other most of it.
  constexpr double kBusy = 0.9;
  constexpr double kContended = 0.25;
  if (!named && observed.host_cpu.value_or(0) >= kBusy && observed.host_system.value_or(0) >= kContended) {
    named = {Bottleneck::host,
             fmt::format("The host's cores are {:.0f} % busy, {:.0f} % in the kernel: processes and their "
                         "threads contend for the cores. Set OMP_NUM_THREADS=1, torch.set_num_threads(1) and "
                         "cv2.setNumThreads(0) in the workers, or take fewer.",
                         100 * *observed.host_cpu, 100 * *observed.host_system)};
  }
  if (!room || !observed.proposed || observed.proposed->workers.value_or(0) <= observed.settings.workers) {
    return named;
  }
  TrainingSettings then = observed.settings;
  then.workers = *observed.proposed->workers;
  const std::int64_t more = then.workers - observed.settings.workers;  // a card
  AdviceTable table{.question = fmt::format("Does the host hold {} workers?", then.workers)};
  const auto at_most = [&](std::int64_t of) {
    return fmt::format("{:.0f} MiB", *room / static_cast<double>(of) / 0x1p20);
  };
  const bool several = then.cards > 1;
  table.notes.push_back(fmt::format(
      "{} is free; {} workers{}{}: at most {} each{}.", gib_in_words(*room), then.workers,
      several ? fmt::format(" for each of {} cards are {} processes", then.cards, then.workers * then.cards)
              : "",
      more == then.workers ? "" : fmt::format(", {} more than now", more * then.cards),
      at_most(more * then.cards), several ? fmt::format(" ({} alone: {})", more, at_most(more)) : ""));
  if (observed.worker_memory) {
    const double needed = read.model.loading()->host_bytes(then);
    table.notes.push_back(fmt::format("They need {}: {}.", gib_in_words(needed),
                                      needed <= read.model.host_memory()
                                          ? "it fits"
                                          : gib_in_words(needed - read.model.host_memory()) + " short"));
  } else {
    advice.missing.emplace_back(
        "worker_memory_mib: proportional set size (Pss in /proc/PID/smaps_rollup) of one loader worker");
    table.notes.emplace_back(
        "What one worker takes was not read; a copy of the data set in each is the usual cause.");
  }
  advice.tables.push_back(std::move(table));
  return named;
}

}  // namespace bench
