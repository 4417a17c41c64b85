#include "bench/advise/read_loading.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/advise/observed_parts.h"

namespace bench {

std::string wait_in_words(const Observed& observed) {
  return fmt::format("{} of a step of {} ({}) wait for data", seconds_in_words(*observed.data_s),
                     seconds_in_words(*observed.step_s), share_in_words(*observed.data_s / *observed.step_s));
}

std::string faster_in_words(const Observed& observed, const TimedWorkers& faster) {
  const std::int64_t now = observed.settings.workers;
  return fmt::format("with {} worker{} a step took {}: {} {}", faster.workers, faster.workers == 1 ? "" : "s",
                     seconds_in_words(faster.step_s), now,
                     faster.workers > now ? (now == 1 ? "is too few" : "are too few")
                                          : "are too many, which compete for cores or storage");
}

ReadLoading::ReadLoading(const Observed& observed)
    : observed_(observed),
      settings_(observed.settings),
      step_ns_(1e9 * accumulation_s(observed).value_or(*observed.step_s)) {
  settings_.batch = std::max<std::int64_t>(1, settings_.batch);
  const double waiting_ns = step_ns_ * observed.data_s.value_or(0) / *observed.step_s;
  // The law is of the step that was given.
  const auto law = loading_law(observed);
  const double scale = step_ns_ / *observed.step_s;
  law_ = law                      ? LoadingLaw{scale * law->serial, scale * law->parallel}
         : settings_.workers == 0 ? LoadingLaw{0, waiting_ns}
                                  : LoadingLaw{0, step_ns_ * static_cast<double>(settings_.workers)};
  facts_ = {.measured = settings_,
            .compute_ns = step_ns_ - waiting_ns,
            .most_workers = settings_.workers,
            .samples_per_s_of_a_worker = 1e9 * static_cast<double>(settings_.batch) / law_.at(1),
            .is_simulated = false};
  cores_ =
      observed.host_cores ? std::max<std::int64_t>(1, *observed.host_cores / settings_.cards) : keep_up();
  facts_.cores = static_cast<double>(cores_);
}

std::int64_t ReadLoading::keep_up(double compute_ns) const {
  constexpr double kMost = 1e6;
  // Where the serial part is longer: those that come near it.
  const double left = std::max(compute_ns, law_.serial / kNearBest) - law_.serial;
  return static_cast<std::int64_t>(std::min(kMost, std::ceil(law_.parallel / std::max(1.0, left) - 1e-9)));
}

LoadedStep ReadLoading::step(const TrainingSettings& settings, double compute_ns,
                             std::optional<double> /*copy_ns*/) const {
  const auto loaders = static_cast<double>(std::min(settings.workers, cores_));
  LoadedStep step{.step_ns = step_ns_, .computing_ns = compute_ns};
  if (settings.workers != settings_.workers) {
    step.step_ns = settings.workers == 0 ? compute_ns + law_.at(1) : std::max(compute_ns, law_.at(loaders));
    step.at_least = true;
  }
  step.waiting_ns = step.step_ns - compute_ns;
  return step;
}

Bottleneck ReadLoading::limit(const TrainingSettings& /*settings*/, double /*compute_ns*/,
                              std::optional<double> /*copy_ns*/) const {
  return is_slower_storage(observed_) ? Bottleneck::storage : Bottleneck::loader;
}

std::string ReadLoading::reason_to_wait(std::vector<std::string>& missing) const {
  const std::string times = wait_in_words(observed_);
  if (is_slower_storage(observed_)) {
    return fmt::format(
        "{}; the same run waited {} earlier and computed as long. Decoding has not changed: "
        "the page cache, or the storage, gave the files faster then.",
        times, seconds_in_words(*observed_.earlier_run->data_s));
  }
  if (const auto faster = faster_workers(observed_)) {
    return fmt::format("{}; {}.", times, faster_in_words(observed_, *faster));
  }
  const bool decoding_excluded = decoding_is_excluded(observed_);
  missing.push_back(fmt::format(
      "data_ms of a few hundred steps, run twice in a row: the second time the files come from the page "
      "cache, and if the wait is as long, {}the way to the training process takes it",
      decoding_excluded ? "" : "decoding or "));
  if (decoding_excluded) {
    return fmt::format(
        "{}. {:.1f} of the host's {} cores are busy, with {} process{} that load: storage, the way to the "
        "training process or the workers' start limits, not decoding.",
        times, *observed_.host_cpu * static_cast<double>(*observed_.host_cores), *observed_.host_cores,
        loaders_of(observed_), loaders_of(observed_) == 1 ? "" : "es");
  }
  if (const auto none = workers_that_bring_nothing(observed_)) {
    return fmt::format(
        "{}. {} workers load no faster than {} ({} and {} a step): storage or the way to the "
        "training process limits, not their number.",
        times, none->second.workers, none->first.workers, seconds_in_words(none->second.step_s),
        seconds_in_words(none->first.step_s));
  }
  return fmt::format(
      "{}{}; decoding, storage and transport are not told apart.", times,
      settings_.workers == 0 && observed_.has_workers ? ", loaded by the training process itself" : "");
}

double ReadLoading::host_bytes(const TrainingSettings& settings) const {
  return observed_.worker_memory.value_or(0) * static_cast<double>(settings.workers * settings.cards);
}

StepModel model_of(const Observed& observed) {
  const auto room = room_on_host(observed);
  auto loading = std::make_unique<ReadLoading>(observed);
  const double host_memory =
      room && observed.worker_memory ? *room + loading->host_bytes(observed.settings) : 0;
  return {std::move(loading), observed.mode, host_memory};
}

StepOption step_as_read(const Observed& observed, const StepModel& model) {
  TrainingSettings settings = observed.settings;
  settings.batch = std::max<std::int64_t>(1, settings.batch);
  return step_option(model, settings);
}

}  // namespace bench
