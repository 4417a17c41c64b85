// Is the trainer starved, by whom, how many workers would feed it, and does the host hold them?
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/observed_parts.h"

namespace bench {
namespace {

// What hiding the wait brings at most, with the span that the readings' last digits leave.
std::string bound_in_words(const Observed& observed) {
  const double compute = *hidden_step_s(observed);
  const double by = observed.step_rounding_s + observed.data_rounding_s;
  const double low = (*observed.step_s + observed.step_rounding_s) / (compute + by);
  const double high =
      compute > by ? (*observed.step_s - observed.step_rounding_s) / (compute - by) : INFINITY;
  const std::string bound =
      fmt::format("at most {:.2f}× by hiding all of the wait ({} / {})", *observed.step_s / compute,
                  seconds_in_words(*observed.step_s), seconds_in_words(compute));
  constexpr double kWide = 1.05;
  return high / low < kWide ? bound
         : std::isinf(high)
             ? fmt::format("{}; {:.2f}× or more by the readings' last digits", bound, low)
             : fmt::format("{}; {:.2f} to {:.2f}× by the readings' last digits", bound, low, high);
}

// Whether more workers than the fastest count that was timed are faster still.
void ask_for_more_workers(const Observed& observed, const TimedRun& fastest, Advice& advice) {
  const std::vector<TimedRun> timed = timed_workers(observed);
  const auto law = loading_law(observed);
  if (!law || fastest.count != timed.back().count || !trainer_waits(fastest, timed)) {
    return;
  }
  const std::int64_t more = 2 * fastest.count;
  const double then = std::max(hidden_step_s(observed).value_or(0), law->at(static_cast<double>(more)));
  if (then < kRunsAsFast * fastest.step_s) {
    advice.missing.push_back(fmt::format(
        "workers_tried of {} workers (step_ms, data_ms): {} + {} / workers, as the counts that were "
        "read load, makes it {} at the least",
        more, seconds_in_words(law->serial), seconds_in_words(law->parallel), seconds_in_words(then)));
  }
}

// What a count of workers rests on that was not timed.
std::vector<std::string> evidence_of(const Observed& observed, std::int64_t workers) {
  const std::int64_t now = observed.settings.workers;
  const std::int64_t cards = observed.settings.cards;
  const double compute = *observed.step_s - *observed.data_s;
  std::vector<std::string> evidence{bound_in_words(observed)};
  const ReadLoading loader(observed);
  const std::int64_t enough = loader.keep_up(loader.facts().compute_ns);
  if (observed.host_cores && workers < enough && workers == static_cast<std::int64_t>(loader.facts().cores)) {
    evidence.push_back(fmt::format("{} would keep up; {} have a core each", enough * cards, workers * cards));
  }
  if (now > 0 && observed.host_cores) {
    evidence.push_back(fmt::format("{} of the host's {} cores load now", now * cards, *observed.host_cores));
  }
  // A wait of "0.2 s" may be one of 0.25.
  const double least_compute = compute - observed.step_rounding_s - observed.data_rounding_s;
  const std::int64_t most =
      least_compute > 0 ? std::min(static_cast<std::int64_t>(loader.facts().cores),
                                   loader.keep_up(loader.facts().compute_ns * least_compute / compute))
                        : workers;
  if (now > 0 && most > workers) {
    evidence.push_back(fmt::format("{} to {} workers, by the readings' last digits", workers, most));
  }
  if (const auto law = loading_law(observed)) {
    evidence.push_back(fmt::format("{} + {} / workers a batch, as the counts that were read load",
                                   seconds_in_words(law->serial), seconds_in_words(law->parallel)));
  } else if (now > 0) {
    const std::string every =
        fmt::format("load{} a batch every {}", now == 1 ? "s" : "", seconds_in_words(*observed.step_s));
    evidence.push_back(now == 1 ? "1 worker " + every
                                : fmt::format("{} workers {}, so that one takes {} for a batch", now, every,
                                              seconds_in_words(*observed.step_s * static_cast<double>(now))));
  }
  if (observed.proposed && observed.proposed->data_s && *observed.proposed->data_s < *observed.data_s) {
    const double proposed = compute + *observed.proposed->data_s;
    evidence.push_back(
        fmt::format("a wait of {}, as proposed, would be {:.2f}×: workers load while the card computes, so a "
                    "load that takes less than {} leaves no wait",
                    seconds_in_words(*observed.proposed->data_s), *observed.step_s / proposed,
                    seconds_in_words(compute)));
  }
  return evidence;
}

std::string timed_in_words(const Observed& observed) {
  std::vector<std::string> times;
  for (const TimedRun& one : timed_workers(observed)) {
    times.push_back(fmt::format("{} with {}", seconds_in_words(one.step_s), one.count));
  }
  return fmt::format("steps as they were read: {}", fmt::join(times, ", "));
}

constexpr double kFullCores = 0.9;  // of their time

void advise_workers(const ReadStep& read, Advice& advice) {
  const Observed& observed = read.observed;
  const auto faster = faster_workers(observed);
  if (faster) {
    ask_for_more_workers(observed, *faster, advice);
  }
  if (!accumulation_s(observed) || (!faster && more_bring_nothing(observed))) {
    return;  // what is missing for the one is asked for
  }
  if (!faster && *observed.data_s >= *observed.step_s) {
    advice.missing.emplace_back("step_ms of a whole step: the wait for data leaves no time to compute");
    return;
  }
  if (!observed.has_workers) {
    advice.missing.emplace_back("workers: how many load now; from their times follows how many keep up");
    return;
  }
  const std::int64_t now = observed.settings.workers;
  const std::int64_t cards = observed.settings.cards;
  const StepOption* const found = read.paying(&TrainingSettings::workers);
  if (found == nullptr) {
    if (now > 0 && observed.host_cores && !decoding_is_excluded(observed)) {
      advice.warnings.push_back(fmt::format(
          "The {} workers of {} have the host's {} cores already: more of them bring nothing{}.", now * cards,
          cards == 1 ? "the card" : fmt::format("{} cards", cards), *observed.host_cores,
          now * cards > *observed.host_cores
              ? fmt::format("; {} each may load as fast", workers_with_cores(observed))
              : ""));
    }
    return;
  }
  if (!faster && observed.host_cpu.value_or(0) >= kFullCores) {
    advice.warnings.push_back(fmt::format(
        "The host's cores are {:.0f} % busy: more than {} workers a card would take them from each other.",
        100 * *observed.host_cpu, now));
    return;
  }
  StepOption then = *found;
  const std::int64_t workers = then.settings.workers;
  constexpr std::int64_t kFewProcesses = 8;  // any host of a card has as many cores
  if (!faster && !observed.host_cores && workers * cards > kFewProcesses) {
    advice.missing.push_back(fmt::format(
        "host_cores: hiding the wait takes {} loading processes, and each wants a core", workers * cards));
    return;
  }
  if (read.model.host_memory() > 0 && then.step.host_bytes > read.model.host_memory()) {
    advice.warnings.push_back(
        fmt::format("{} to hide the wait would take {} of host memory, and {} is free.",
                    workers == 1 ? "A worker a card" : fmt::format("{} workers a card", workers),
                    gib_in_words(then.step.host_bytes - read.now.step.host_bytes),
                    gib_in_words(*room_on_host(observed))));
    return;
  }
  then.settings.pin = then.settings.pin || !faster;
  Change change = change_to(read.model, read.now, then);
  if (!observed.worker_memory) {
    change.costs.push_back(fmt::format("host memory of {} worker{} a card: not read (worker_memory_mib)",
                                       workers, workers == 1 ? "" : "s"));
  }
  if (faster) {
    change.evidence = {timed_in_words(observed)};
  } else {
    change.costs.emplace_back(
        "no gain where the storage or the way to the training process limits the loader");
    change.evidence = evidence_of(observed, workers);
  }
  advice.changes.push_back(std::move(change));
}

bool slower_than_each_other(const WorkersTried& one, const Observed& observed) {
  return std::ranges::any_of(observed.workers_tried, [&](const WorkersTried& other) {
    return one.slower_than_workers == other.workers && other.slower_than_workers == one.workers;
  });
}

void compare_workers_tried(const Observed& observed, Advice& advice) {
  const std::vector<TimedRun> timed = timed_workers(observed);
  const auto fastest = fastest_workers(timed);
  AdviceTable table{.question = "How many workers?", .table = {.rows = {{"workers", "reading", "follows"}}}};
  for (const WorkersTried& tried : observed.workers_tried) {
    const auto zeros = std::ranges::count(tried.utilisation, 0.0);
    const std::string reading =
        tried.step_s
            ? fmt::format(
                  "step {}{}", seconds_in_words(*tried.step_s),
                  tried.data_s ? fmt::format(", of which {} wait", seconds_in_words(*tried.data_s)) : "")
        : !tried.utilisation.empty()
            ? fmt::format("utilisation {} to {} %, 0 in {} of {}", std::ranges::min(tried.utilisation),
                          std::ranges::max(tried.utilisation), zeros, tried.utilisation.size())
        : tried.slower_than_workers ? fmt::format("slower than {}", *tried.slower_than_workers)
        : tried.idle_rarely         ? "zeros of utilisation mostly vanish"
        : tried.idle_often          ? "utilisation is often zero"
                                    : "–";
    const bool starved = zeros > 0 || tried.idle_often;
    const std::string follows =
        starved                                     ? "starved: the card runs out of work"
        : slower_than_each_other(tried, observed)   ? "–"
        : tried.slower_than_workers > tried.workers ? "too few: more load faster"
        : tried.slower_than_workers                 ? "too many: they compete for cores or storage"
        : tried.idle_rarely                         ? "enough, or nearly"
        : !tried.step_s || timed.size() < 2         ? "–"
        : tried.workers == fastest->count
            ? "fastest"
            : fmt::format("{:.2f} times the fastest", *tried.step_s / fastest->step_s);
    table.table.rows.push_back({tried.workers, reading, follows});
    if (tried.slower_than_workers < tried.workers && slower_than_each_other(tried, observed)) {
      advice.contradictions.push_back(
          fmt::format("{} workers are read as slower than {}, and {} as slower "
                      "than {}.",
                      tried.workers, *tried.slower_than_workers, *tried.slower_than_workers, tried.workers));
    }
  }
  const std::int64_t most = std::ranges::max(observed.workers_tried, {}, &WorkersTried::workers).workers;
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count < most; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(most);
  const std::string network = observed.stand_in.empty() ? "--onnx FILE" : "--workload " + observed.stand_in;
  table.notes = {
      timed.size() > 1
          ? fmt::format("{} worker{} made the fastest step that was read, {}.", fastest->count,
                        fastest->count == 1 ? "" : "s", seconds_in_words(fastest->step_s))
          : "Readings of utilisation do not place the knee, the count from which more workers bring nothing.",
      fmt::format("Measure: bench --sweep workers {} --mode {} --data DIR --workers {}", network,
                  observed.mode, fmt::join(counts, ",")),
      fmt::format("Memory by batch: bench --sweep memory {} --mode {}{}{}", network, observed.mode,
                  observed.batches_tried.empty() ? "" : " --batch ", fmt::join(observed.batches_tried, ",")),
      fmt::format("Pinning: bench --sweep transfer {} --mode {}", network, observed.mode),
      fmt::format("Mixed precision: bench --sweep batch {} --mode {} --dtype fp32,fp16", network,
                  observed.mode)};
  if (!observed.stand_in.empty()) {
    table.notes.push_back(
        fmt::format("{} is a stand-in: give your own network with --onnx FILE.", observed.stand_in));
  }
  advice.tables.push_back(std::move(table));
}

void note_utilisation(const Observed& observed, Advice& advice) {
  const auto& cards = observed.utilisation;
  if (cards.size() > 1) {
    const auto [low, high] = std::ranges::minmax(cards);
    constexpr double kUnbalanced = 20;  // percent
    if (high - low >= kUnbalanced) {
      advice.warnings.push_back(
          fmt::format("The cards are unbalanced, {:.0f} and {:.0f} %: in data-parallel training the faster "
                      "card waits for the slower one in every step.",
                      high, low));
    }
  }
  const auto& range = observed.utilisation_range;
  for (std::size_t i = 0; !range.empty() && i < cards.size(); ++i) {
    if (cards[i] < range.front() || cards[i] > range.back()) {
      advice.contradictions.push_back(fmt::format(
          "Utilisation of card {} is {:.0f} %, outside utilisation_range_percent, {:.0f} to {:.0f} %.", i,
          cards[i], range.front(), range.back()));
    }
  }
  const bool full = (!cards.empty() && std::ranges::min(cards) >= 95) ||
                    (!observed.utilisation_range.empty() && observed.utilisation_range.front() >= 95);
  if (full) {
    advice.warnings.emplace_back(
        "Utilisation near 100 % says that a kernel ran at some moment of each interval; it shows neither how "
        "much of the card a kernel fills nor waits shorter than the interval.");
  }
}

// The busiest card's idle share, where waiting for data explains less than half of it.
std::optional<double> idle_without_waiting(const Observed& observed, double waiting) {
  const auto& read = observed.utilisation.empty() ? observed.utilisation_range : observed.utilisation;
  constexpr double kTells = 0.2;  // a reading of utilisation is coarse
  const double idle = read.empty() ? 0 : 1 - std::ranges::max(read) / 100;
  return idle - waiting > std::max(kTells, waiting) ? std::optional(idle) : std::nullopt;
}

// Only its processes and the host's cores are known.
NamedBottleneck crowded_host(const Observed& observed, Advice& advice) {
  if (!observed.host_cpu) {
    ask_for_host_cpu(observed, advice.missing);
  }
  return {
      Bottleneck::undecided,
      fmt::format("{} × {} workers and the training itself are {} processes on {} cores{}, which may keep "
                  "the cards from getting work. Try {} a card: it may be as fast, or faster.",
                  observed.settings.cards == 1 ? "1 card" : fmt::format("{} cards", observed.settings.cards),
                  observed.settings.workers, processes_of(observed), *observed.host_cores,
                  observed.host_cpu ? fmt::format(", {:.0f} % busy", 100 * *observed.host_cpu) : "",
                  workers_with_cores(observed))};
}

}  // namespace

std::optional<NamedBottleneck> advise_loading(const ReadStep& read, Advice& advice) {
  const Observed& observed = read.observed;
  note_utilisation(observed, advice);
  if (!observed.workers_tried.empty()) {
    compare_workers_tried(observed, advice);
  }
  const auto faster = faster_workers(observed);
  if (observed.step_s && (observed.data_s || faster)) {
    const double share = observed.data_s.value_or(0) / *observed.step_s;
    if (share >= kCounts || faster) {
      advise_workers(read, advice);
    }
    if (const auto idle = idle_without_waiting(observed, share); idle && observed.data_s) {
      advice.missing.emplace_back(
          "a profile of one step (torch.profiler): whether the host starts operations too slowly, or does "
          "other work between them");
      return NamedBottleneck{Bottleneck::undecided,
                             fmt::format("{}, but the card idles {:.0f} % of the time: something else than "
                                         "the loader keeps it from computing.",
                                         wait_in_words(observed), 100 * *idle)};
    }
    return diagnose(read.model, read.now, read.found.singles, read.found.paying, advice.missing);
  }
  for (const WorkersTried& tried : observed.workers_tried) {
    if (tried.workers == observed.settings.workers && std::ranges::count(tried.utilisation, 0.0) > 0 &&
        std::ranges::any_of(observed.workers_tried, &WorkersTried::idle_rarely)) {
      return NamedBottleneck{Bottleneck::loader,
                             fmt::format("Utilisation falls to 0 with {} worker{} and mostly not with more: "
                                         "the loader starves the card.",
                                         tried.workers, tried.workers == 1 ? "" : "s")};
    }
  }
  return is_crowded(observed) && observed.host_cpu.value_or(1) >= kBusyCores
             ? std::optional(crowded_host(observed, advice))
             : std::nullopt;
}

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
