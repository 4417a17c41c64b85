#include "bench/advise/measured_advice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/change_words.h"
#include "bench/measure/memory_line.h"
#include "bench/measure/quote.h"
#include "bench/measure/saturation.h"
#include "bench/measure/units.h"
#include "bench/run/result_file.h"

namespace bench {
namespace {

constexpr double kZ90 = 1.645;
constexpr double kWorthIt = 1.03;   // times as fast: what a change has to bring
constexpr double kCounts = 0.05;    // of a step: what is worth a name
constexpr double kNearBest = 0.98;  // of the best throughput: where fewer workers, or a smaller batch, do

struct Option {
  TrainingSettings settings;
  ModelledStep step;

  double sample_ns() const {
    return step.parts.step_ns / static_cast<double>(settings.batch * settings.cards);
  }
  double computing_ns() const {
    return step.parts.computing_ns / static_cast<double>(settings.batch * settings.cards);
  }
};

class Adviser {
 public:
  Adviser(const StepModel& model, const TrainingSettings& current)
      : model_(model), now_{.settings = current, .step = model.at(current)} {}

  Advice advice() {
    Advice advice;
    advice.subject = fmt::format("{}, {} in {} at batch {} on {}", printable(model_.task().workload),
                                 model_.task().mode == "infer" ? "inference" : "training",
                                 now_.settings.dtype, now_.settings.batch, device_name());
    advice.basis = basis();
    advice.current = now_.settings;
    advice.step_ns = now_.step.parts.step_ns;
    advice.budget = budget();
    find_changes();
    diagnose(advice);
    for (const Option& option : paying_) {
      advice.changes.push_back(change_to(option));
    }
    for (const Option& option : singles_) {
      if (!pays(option)) {
        advice.tried.push_back(change_to(option));
      }
    }
    advice.tables.push_back(what_was_tried());
    ask(advice);
    return advice;
  }

 private:
  std::string device_name() const {
    return model_.device() != nullptr ? model_.device()->name
                                      : std::string("the device of the workers result");
  }

  std::string basis() const {
    std::vector<std::string> from;
    for (const char* const sweep : {"batch", "memory", "transfer", "workers", "kernels"}) {
      if (!model_.file_of(sweep).empty()) {
        from.emplace_back(sweep);
      }
    }
    return fmt::format(
        "{} {}; combined by simulation",
        model_.predicted() ? "device predicted, host measured:" : "measured:", fmt::join(from, ", "));
  }

  std::vector<BudgetPart> budget() const {
    const LoadedStep& parts = now_.step.parts;
    std::vector<BudgetPart> budget{{"computing", parts.computing_ns - now_.step.launching_ns},
                                   {"launching", now_.step.launching_ns},
                                   {"copying", parts.copying_ns},
                                   {"waiting for data", parts.waiting_ns},
                                   {"between steps", parts.handover_ns}};
    std::erase_if(budget, [&](const BudgetPart& part) { return part.ns < 0.001 * parts.step_ns; });
    return budget;
  }

  Option option(const TrainingSettings& settings) const {
    return {.settings = settings, .step = model_.at(settings)};
  }

  // --- changes

  // The fewest workers near the best.
  std::optional<Option> best_workers(TrainingSettings settings) const {
    if (model_.loading() == nullptr) {
      return std::nullopt;
    }
    constexpr std::int64_t kMost = 32;
    const auto cores = static_cast<std::int64_t>(std::ceil(model_.loading()->cores()));
    std::vector<Option> tried;
    for (std::int64_t workers = 0; workers <= std::min(kMost, 2 * cores + 2);
         workers += workers < 8 ? 1 : 4) {
      settings.workers = workers;
      tried.push_back(option(settings));
    }
    const auto fastest = std::ranges::min_element(tried, {}, &Option::sample_ns);
    return *std::ranges::find_if(
        tried, [&](const Option& one) { return one.sample_ns() * kNearBest <= fastest->sample_ns(); });
  }

  // The smallest batch near the best that fits safely. `by`: a time of a sample.
  std::optional<Option> best_batch(TrainingSettings settings, double (Option::*by)() const) const {
    const auto safe = model_.safe_batch(settings.dtype);
    std::vector<Option> tried;
    for (const std::int64_t batch : model_.batches(settings.dtype)) {
      if (!safe || batch <= *safe) {
        settings.batch = batch;
        tried.push_back(option(with_same_effective_batch(settings)));
      }
    }
    if (tried.empty()) {
      return std::nullopt;
    }
    const auto fastest = std::ranges::min_element(tried, {}, by);
    return *std::ranges::find_if(
        tried, [&](const Option& one) { return (one.*by)() * kNearBest <= ((*fastest).*by)(); });
  }

  bool is_training() const { return model_.task().mode != "infer"; }

  // In training fewer accumulations where the batch grows, so that the optimizer sees what it saw.
  TrainingSettings with_same_effective_batch(TrainingSettings settings) const {
    if (!is_training()) {
      return settings;
    }
    const std::int64_t effective = now_.settings.batch * now_.settings.accumulate;
    settings.accumulate = std::max<std::int64_t>(1, effective / settings.batch);
    return settings;
  }

  void find_changes() {
    const TrainingSettings& current = now_.settings;
    if (const auto workers = best_workers(current)) {
      singles_.push_back(*workers);
    }
    if (model_.loading() != nullptr && current.workers > 0) {
      TrainingSettings settings = current;
      settings.prefetch = 2 * current.prefetch;
      singles_.push_back(option(settings));
    }
    if (model_.crosses_bus() && model_.knows_copies()) {
      TrainingSettings settings = current;
      settings.pin = !current.pin;
      singles_.push_back(option(settings));
    }
    if (const auto batch = best_batch(current, &Option::sample_ns)) {
      singles_.push_back(*batch);
    }
    for (const std::string& dtype : model_.dtypes()) {
      TrainingSettings settings = current;
      settings.dtype = dtype;
      const auto batches = model_.batches(dtype);
      if (dtype != current.dtype && current.batch >= batches.front() && current.batch <= batches.back()) {
        singles_.push_back(option(settings));
      }
    }
    std::erase_if(singles_, [&](const Option& one) { return one.settings == current; });
    all_ = best_of_all();
    std::vector<Option> candidates = singles_;
    if (std::ranges::none_of(candidates, [&](const Option& one) { return one.settings == all_.settings; })) {
      candidates.push_back(all_);
    }
    std::ranges::stable_sort(candidates, {}, &Option::sample_ns);
    constexpr std::size_t kMost = 5;
    for (const Option& one : candidates) {
      if (pays(one) && paying_.size() < kMost) {
        paying_.push_back(one);
      }
    }
  }

  // Each dtype with its best batch and the workers that feed it; the fastest a sample. A dtype or a batch
  // that brings nothing stays as it is.
  Option best_of_all() const {
    Option best = now_;
    const auto better = [&](const std::optional<Option>& one) {
      if (one && best.sample_ns() > kWorthIt * one->sample_ns()) {
        best = *one;
      }
    };
    better(best_workers(now_.settings));
    for (const std::string& dtype : model_.dtypes()) {
      const auto batches = model_.batches(dtype);
      TrainingSettings settings = best.settings;
      settings.dtype = dtype;
      settings.pin = settings.pin || (model_.crosses_bus() && model_.knows_copies() &&
                                      model_.copy_rate(true) > model_.copy_rate(false));
      if (now_.settings.batch >= batches.front() && now_.settings.batch <= batches.back()) {
        settings.batch = now_.settings.batch;
        better(best_workers(settings));
      }
      // By the device alone: the workers that feed it come after it.
      if (const auto batch = best_batch(settings, &Option::computing_ns)) {
        better(batch);
        better(best_workers(batch->settings));
      }
    }
    return best;
  }

  Estimate speedup(const Option& then) const {
    const double value = now_.sample_ns() / then.sample_ns();
    const bool same_point =
        then.settings.batch == now_.settings.batch && then.settings.dtype == now_.settings.dtype;
    // Both use one measured time of the device: its error cancels in the ratio.
    const double device = same_point ? std::abs(now_.step.device_deviation - then.step.device_deviation)
                                     : std::hypot(now_.step.device_deviation, then.step.device_deviation);
    const double deviation = std::hypot(device, now_.step.loading_deviation, then.step.loading_deviation);
    return {.value = value,
            .ci95 = Interval{.low = value * std::exp(-kZ90 * deviation),
                             .high = value * std::exp(kZ90 * deviation)}};
  }

  bool pays(const Option& then) const {
    const Estimate gain = speedup(then);
    return gain.value >= kWorthIt && gain.low() > 1;
  }

  Change change_to(const Option& then) const {
    Change change;
    change.what = changed_words(now_.settings, then.settings);
    change.setting = pytorch_setting(now_.settings, then.settings, model_.crosses_bus(), is_training());
    change.after = then.settings;
    change.step_ns = then.step.parts.step_ns;
    const double factor = std::exp(kZ90 * then.step.deviation());
    change.step90_ns = Interval{.low = change.step_ns / factor, .high = change.step_ns * factor};
    const Estimate gain = speedup(then);
    change.speedup = gain.value;
    change.speedup90 = gain.ci95;
    change.costs = costs_of(now_.settings, then.settings, bytes_of(now_), bytes_of(then), is_training());
    for (const char* const sweep : {"batch", "workers", "transfer"}) {
      const std::string& file = model_.file_of(sweep);
      const bool used = std::string(sweep) == "batch"     ? true
                        : std::string(sweep) == "workers" ? model_.loading() != nullptr
                                                          : then.settings.pin != now_.settings.pin;
      if (!file.empty() && used) {
        change.evidence.push_back(file);
      }
    }
    return change;
  }

  SettingBytes bytes_of(const Option& one) const {
    return {.device = one.step.device_bytes,
            .device_cap = model_.memory_cap(),
            .host = one.step.host_bytes,
            .host_cap = model_.host_memory()};
  }

  // --- diagnosis

  void diagnose(Advice& advice) const {
    const LoadedStep& parts = now_.step.parts;
    const auto share = [&](double ns) { return ns / parts.step_ns; };
    constexpr double kLaunchBound = 0.3;
    const std::string step = format_duration(parts.step_ns);
    if (now_.step.host_bytes > 0 && model_.host_memory() > 0 &&
        now_.step.host_bytes > 0.95 * model_.host_memory()) {
      advice.bottleneck = Bottleneck::host_memory;
      advice.reason =
          fmt::format("{} workers with {} batches each need {} of the host's {}.", now_.settings.workers,
                      now_.settings.prefetch, format_bytes(std::llround(now_.step.host_bytes)),
                      format_bytes(std::llround(model_.host_memory())));
      return;
    }
    if (model_.loading() != nullptr && model_.loading()->ran_out_of_memory(now_.settings)) {
      advice.bottleneck = Bottleneck::host_memory;
      advice.reason = fmt::format(
          "The host's memory did not hold the batches of {} workers when they were "
          "measured.",
          now_.settings.workers);
      return;
    }
    if (const auto near = memory_nearly_full()) {
      advice.bottleneck = Bottleneck::vram;
      advice.reason = *near;
      return;
    }
    // A short wait that no setting shortens is not what limits the step.
    const double worth_a_name = paying_.empty() ? 2 * kCounts : kCounts;
    if (share(parts.waiting_ns) >= worth_a_name && model_.loading() != nullptr) {
      name_the_wait(advice, share(parts.waiting_ns));
      return;
    }
    if (const double slowed = share(slowed_by_workers()); slowed >= kCounts && fewer_workers_pay()) {
      advice.bottleneck = Bottleneck::loader_cpu;
      advice.reason = fmt::format(
          "{} workers use the cores that compute: computing takes {} of a step of {}, and {} without them.",
          now_.settings.workers, format_duration(parts.computing_ns), step,
          format_duration(parts.computing_ns - slowed_by_workers()));
      return;
    }
    if (share(parts.copying_ns) >= kCounts) {
      advice.bottleneck = Bottleneck::bus;
      advice.reason = fmt::format("Copies to the device take {:.0f} % of a step of {}, not overlapped.",
                                  100 * share(parts.copying_ns), step);
      return;
    }
    if (share(now_.step.launching_ns) >= kLaunchBound) {
      advice.bottleneck = Bottleneck::launch;
      advice.reason =
          fmt::format("{:.0f} % of a step of {} goes into starting operations, whatever the batch.",
                      100 * share(now_.step.launching_ns), step);
      return;
    }
    if (const auto stopped = memory_stops_the_batch()) {
      advice.bottleneck = Bottleneck::vram;
      advice.reason = *stopped;
      return;
    }
    advice.bottleneck = paying_.empty() ? Bottleneck::none : Bottleneck::compute;
    advice.reason =
        fmt::format("Computing takes {:.0f} % of a step of {}{}.", 100 * share(parts.computing_ns), step,
                    paying_.empty() ? "; no setting that was measured brings more" : "");
  }

  // Who makes the device wait. Other programs on the cores that the workers need make a loader slow that is
  // not.
  void name_the_wait(Advice& advice, double waiting) const {
    const LoadedStep& parts = now_.step.parts;
    const LoadingModel& loading = *model_.loading();
    const std::string step = format_duration(parts.step_ns);
    const double threads =
        std::min(loading.cores(), std::max(1.0, static_cast<double>(now_.settings.workers)));
    const double taken = std::clamp((threads + loading.other_cores() - loading.cores()) / threads, 0.0, 1.0);
    const Bottleneck limit = model_.loading_limit(now_.settings);
    advice.bottleneck = limit == Bottleneck::compute ? Bottleneck::loader_cpu : limit;
    const double undisturbed = (1 - taken) * (parts.step_ns - parts.copying_ns);
    if (advice.bottleneck == Bottleneck::loader_cpu && undisturbed * (1 - kCounts) < parts.computing_ns) {
      advice.bottleneck = Bottleneck::undecided;
      advice.reason = fmt::format(
          "The device waits {:.0f} % of a step of {}, but other programs kept {:.1f} of {:g} cores busy "
          "while "
          "the loader was measured, which may be all of it.",
          100 * waiting, step, loading.other_cores(), loading.cores());
      advice.missing.emplace_back("the loader on an idle machine: bench --sweep workers");
      return;
    }
    const double device_rate = static_cast<double>(now_.settings.batch) / parts.computing_ns * 1e9;
    advice.reason = fmt::format(
        "With {} worker{} the device waits {:.0f} % of a step of {}; one worker loads {:.3g} samples/s, the "
        "device takes {:.3g}.",
        now_.settings.workers, now_.settings.workers == 1 ? "" : "s", 100 * waiting, step,
        loading.samples_per_s_of_a_worker(), device_rate);
  }

  // Time that computing takes longer than alone.
  double slowed_by_workers() const {
    return model_.loading() == nullptr || now_.settings.workers == 0
               ? 0
               : std::max(0.0, now_.step.parts.computing_ns - now_.step.device_ns);
  }

  bool fewer_workers_pay() const {
    return std::ranges::any_of(paying_, [&](const Option& one) {
      return one.settings.workers < now_.settings.workers && one.settings.batch == now_.settings.batch;
    });
  }

  std::optional<std::string> memory_nearly_full() const {
    if (now_.step.device_bytes > 0 && model_.memory_cap() > 0 &&
        static_cast<double>(now_.step.device_bytes) > 0.95 * static_cast<double>(model_.memory_cap())) {
      return fmt::format(
          "The step takes {} of {}; above 95 % a longer sequence or another algorithm ends it.",
          format_bytes(now_.step.device_bytes), format_bytes(model_.memory_cap()));
    }
    return std::nullopt;
  }

  // A larger batch would bring something, and does not fit safely; one that does brings nothing.
  std::optional<std::string> memory_stops_the_batch() const {
    const auto safe = model_.safe_batch(now_.settings.dtype);
    const bool larger_pays = std::ranges::any_of(
        paying_, [&](const Option& one) { return one.settings.batch > now_.settings.batch; });
    const std::int64_t twice = 2 * now_.settings.batch;
    const auto gain = gain_of_twice_the_batch();
    if (!safe || larger_pays || twice <= *safe || !gain || *gain < kCounts) {
      return std::nullopt;
    }
    return fmt::format("Batch {} would take {:.0f} % less time a sample, and {} fit safely into {}.", twice,
                       100 * *gain, *safe, format_bytes(model_.memory_cap()));
  }

  // As measured, where so large a batch fits at all; else by the fixed part of a step: the fit's, or that of
  // the line through this batch and half of it. None where noise leaves it open.
  std::optional<double> gain_of_twice_the_batch() const {
    const std::vector<std::int64_t> batches = model_.batches(now_.settings.dtype);
    const auto measured = [&](std::int64_t batch) { return std::ranges::count(batches, batch) > 0; };
    TrainingSettings settings = now_.settings;
    settings.batch = 2 * now_.settings.batch;
    if (measured(settings.batch)) {
      const Estimate times = speedup(option(settings));
      return times.low() > 1 ? std::optional(1 - 1 / times.value) : std::nullopt;
    }
    if (now_.step.fixed_ns > 0) {
      return now_.step.fixed_ns / 2 / now_.step.parts.step_ns;
    }
    settings.batch = now_.settings.batch / 2;
    if (!measured(settings.batch) || now_.settings.batch % 2 != 0) {
      return std::nullopt;
    }
    const ModelledStep half = model_.at(settings);
    const double fixed = 2 * half.device_ns - now_.step.device_ns;
    const double error = kZ90 * std::hypot(2 * half.device_ns * half.device_deviation,
                                           now_.step.device_ns * now_.step.device_deviation);
    return fixed > error ? std::optional(fixed / 2 / now_.step.parts.step_ns) : std::nullopt;
  }

  AdviceTable what_was_tried() const {
    AdviceTable table;
    table.question = "What was tried, by simulation of the step";
    table.table.rows = {{"change", "step", "a sample", "times as fast (90 %)", "pays"}};
    table.table.right = {false, true, true, true, false};
    const auto row = [&](const std::string& what, const Option& one) {
      const Estimate gain = speedup(one);
      table.table.rows.push_back(
          {what, format_duration(one.step.parts.step_ns), format_duration(one.sample_ns()),
           one.settings == now_.settings
               ? ""
               : fmt::format("{:.2f} ({:.2f}–{:.2f})", gain.value, gain.low(), gain.high()),
           one.settings == now_.settings ? ""
           : pays(one)                   ? "yes"
                                         : "no"});
    };
    row("as it is", now_);
    for (const Option& one : singles_) {
      row(changed_words(now_.settings, one.settings), one);
    }
    if (all_.settings != now_.settings &&
        std::ranges::none_of(singles_, [&](const Option& one) { return one.settings == all_.settings; })) {
      row(changed_words(now_.settings, all_.settings), all_);
    }
    return table;
  }

  void ask(Advice& advice) const {
    if (model_.loading() == nullptr) {
      advice.missing.emplace_back("the loader: bench --sweep workers (here loading counts as hidden)");
    }
    if (model_.device() == nullptr) {
      advice.missing.emplace_back("other batches and dtypes: bench --sweep batch --mode train");
    }
    if (model_.crosses_bus() && !model_.knows_copies()) {
      advice.missing.emplace_back("whether pinning pays: bench --sweep transfer");
    }
    if (model_.loading() != nullptr && model_.device() != nullptr && !model_.crosses_bus() &&
        !model_.loading()->measured_on_cores()) {
      advice.warnings.emplace_back(
          "Workers and device share the host's cores, in equal parts by assumption; bench --sweep workers "
          "with the "
          "network as its consumer measures it.");
    }
    if (now_.settings.accumulate > 1) {
      advice.warnings.emplace_back(
          "A step here is one accumulation with its update; the other accumulations save the update.");
    }
  }

  const StepModel& model_;
  Option now_;
  std::vector<Option> singles_{};  // one setting changed each
  Option all_{};                   // the best of all together
  std::vector<Option> paying_{};
};

}  // namespace

Advice advice_from(const StepModel& model, TrainingSettings current) {
  std::optional<std::string> assumed;
  if (current.batch == 0) {
    const auto batches = model.batches(model.dtypes().front());
    current.batch = model.loading() != nullptr ? model.loading()->measured().batch : batches.front();
    if (model.loading() != nullptr && model.device() != nullptr) {
      current.batch = std::clamp(current.batch, batches.front(), batches.back());
    }
    assumed = fmt::format("The batch was not given: {} is assumed; give --current batch=…", current.batch);
  }
  Advice advice = Adviser(model, current).advice();
  if (assumed) {
    advice.warnings.push_back(*assumed);
  }
  return advice;
}

Advice advice_from_results(const std::vector<std::string>& paths, const TrainingSettings& current) {
  std::vector<AdviceFile> files;
  for (const std::string& path : paths) {
    constexpr std::size_t kLongestPath = 4096;
    files.push_back(
        {.path = printable(path, kLongestPath), .json = read_json(path), .document = read_result(path)});
  }
  return advice_from(StepModel(files), current);
}

}  // namespace bench
