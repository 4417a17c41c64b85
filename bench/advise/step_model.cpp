#include "bench/advise/step_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/evaluate/evaluated_cards.h"
#include "bench/evaluate/host_limit.h"
#include "bench/registry.h"
#include "bench/result/finding.h"
#include "bench/result/result_json.h"
#include "bench/stats/memory_line.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr double kUnknownDeviation = 0.05;  // of a time without an interval
constexpr double kLeastDeviation = 0.01;    // of any time
// Of the time that work on the host's cores takes, from run to run: measured over six runs of one loader, on
// two cores of a shared machine. Cores that nobody shares vary less.
constexpr double kRunDeviation = 0.06;

double known_deviation(const CurvePoint& point) {
  const double deviation = deviation_of(point);
  return std::max(kLeastDeviation, deviation > 0 ? deviation : kUnknownDeviation);
}

// What starting an operation takes at most: no operation of a kernels result takes less, where its start is
// part of its time.
double launch_ns(const ResultDocument* kernels) {
  double least = 20e3;  // far beyond what any device here takes, but below work on weights
  for (const Point& point : kernels == nullptr ? std::span<const Point>() : measured_points(*kernels)) {
    if (point.work.launches > 0 && point.stats.median_ns > 0) {
      least = std::min(least, point.stats.median_ns / static_cast<double>(point.work.launches));
    }
  }
  return least;
}

void check_same_machine(const EvaluatedFile& first, const EvaluatedFile& other) {
  const std::string& a = first.document.context.host.cpu;
  const std::string& b = other.document.context.host.cpu;
  if (a != b) {
    throw UsageError(fmt::format(
        "{}: it was measured on a host with {}, but {} on one with {}; give results of one machine",
        other.path, quote(b), first.path, quote(a)));
  }
}

}  // namespace

const std::vector<std::string>& advising_sweeps() {
  static const std::vector<std::string> names{"batch", "memory", "transfer", "workers", "kernels"};
  return names;
}

std::string published_scaling_in_words() {
  return fmt::format(
      "scaling efficiency {:.0f} to {:.0f} %, median {:.0f} %: 66 published pairs of {} and {} cards "
      "(NVIDIA/DeepLearningExamples)",
      100 * kPublishedEfficiency.low, 100 * kPublishedEfficiency.high, 100 * kPublishedMedian,
      kFewestPublished, kMostPublished);
}

double ModelledStep::deviation() const {
  return combined_deviation({device_deviation, loading_deviation, run_deviation, exchange_deviation});
}

void StepModel::join_cards(CardsLink link, LinkCatalogue catalogue) {
  link.require_kind(crosses_bus_ ? "cuda" : "cpu");
  link_ = device_ ? link.of_cards(linked_card(*device_)) : std::move(link);
  catalogue_ = std::move(catalogue);
}

StepModel::StepModel(const std::vector<EvaluatedFile>& files) {
  std::map<std::string, const EvaluatedFile*> by_sweep;
  for (const EvaluatedFile& file : files) {
    const std::string& sweep = file.document.sweep.name;
    if (std::ranges::count(advising_sweeps(), sweep) == 0) {
      throw UsageError(fmt::format(
          "{}: it is of the sweep {}; advice comes from results of {}, or from one of cards alone", file.path,
          quote(sweep), fmt::join(advising_sweeps(), ", ")));
    }
    if (const auto [at, is_new] = by_sweep.emplace(sweep, &file); !is_new) {
      throw UsageError(fmt::format("{}: a second {} result, after {}; give one {} result for each machine",
                                   file.path, sweep, at->second->path, sweep));
    }
    check_same_machine(files.front(), file);
    files_[sweep] = file.path;
  }
  if (!by_sweep.contains("batch") && !by_sweep.contains("workers")) {
    throw UsageError(
        "no result of the batch sweep and none of the workers sweep: one of them says what a step takes; run "
        "bench --sweep batch --mode train");
  }
  if (by_sweep.contains("batch")) {
    const EvaluatedFile& file = *by_sweep["batch"];
    EvaluatedDevices devices = evaluated_devices({file});
    task_ = devices.task;
    device_ = std::move(devices.devices.front());
    memory_cap_ = device_->usable_bytes;
    crosses_bus_ = file.document.context.device.kind != "cpu";
    const auto kernels = by_sweep.find("kernels");
    read_fixed_times(file.document, kernels == by_sweep.end() ? nullptr : &kernels->second->document);
  }
  if (by_sweep.contains("workers")) {
    const EvaluatedFile& file = *by_sweep["workers"];
    if (device_) {
      static_cast<void>(host_limit(file, task_));
    }
    const LoadingModelReader* const reader = registry<LoadingModelReader>().find("workers");
    if (reader == nullptr) {
      throw UsageError("this program was built without the workers sweep, which reads such results");
    }
    try {
      loading_ = reader->read(file.document, device_ && !crosses_bus_);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", file.path, error.what()));
    } catch (const Json::exception& error) {
      throw UsageError(
          fmt::format("{}: not a whole result of the workers sweep: {}", file.path, error.what()));
    }
    host_memory_ = static_cast<double>(file.document.context.host.memory_bytes);
    if (!device_) {
      task_.workload = loading_->facts().consumer;
      crosses_bus_ = file.document.context.device.kind != "cpu";
    }
  }
  if (by_sweep.contains("memory")) {
    const EvaluatedFile& file = *by_sweep["memory"];
    if (device_ && file.document.sweep.workload != task_.workload) {
      throw UsageError(fmt::format("{}: it is of {}, but {} of {}; give results of one network", file.path,
                                   quote(file.document.sweep.workload), files_["batch"],
                                   quote(task_.workload)));
    }
    const auto limits = file.document.sweep.state.find("limits");
    const auto optimizer = task_.options.find("optimizer");
    for (const Json& limit :
         limits != file.document.sweep.state.end() && limits->is_array() ? *limits : Json::array()) {
      if (!limit.is_object()) {
        continue;
      }
      const Json params = limit.value("params", Json::object());
      const bool matches = text_member(params, "mode") == task_.mode &&
                           (task_.mode != "train" || optimizer == task_.options.end() ||
                            text_member(params, "optimizer") == optimizer->second);
      const auto largest = positive_member(limit, "largest_batch");
      const auto safe = positive_member(limit, "safe_batch");
      if (matches && largest && safe) {
        limits_[text_member(params, "dtype")] = {.safe = static_cast<std::int64_t>(*safe),
                                                 .largest = static_cast<std::int64_t>(*largest)};
      }
    }
    if (file.document.sweep.memory_cap_bytes) {
      memory_cap_ = *file.document.sweep.memory_cap_bytes;
    }
  }
  if (by_sweep.contains("transfer")) {
    const ResultDocument& document = by_sweep["transfer"]->document;
    const auto pinned = find_value(document.findings, "model/h2d/pinned");
    const auto pageable = find_value(document.findings, "model/h2d/pageable");
    if (document.context.device.kind != "cpu" && pinned && pageable) {
      pinned_bytes_per_s_ = *pinned;
      pageable_bytes_per_s_ = *pageable;
    }
  }
}

StepModel::StepModel(std::unique_ptr<LoadingModel> loading, std::string mode, double host_memory)
    : loading_(std::move(loading)), crosses_bus_(true), host_memory_(host_memory) {
  task_.mode = std::move(mode);
}

// Of the fixed part of a step, moving the weights is no launching, and what is more than all its operations
// take to start is work on the weights.
void StepModel::read_fixed_times(const ResultDocument& batches, const ResultDocument* kernels) {
  for (const Curve& curve : device_->curves) {
    const Finding* const fixed = find_finding(batches.findings, "t0", curve.dtype);
    if (fixed == nullptr || !fixed->value || !fixed->ci95 || !(fixed->ci95->low > 0)) {
      continue;
    }
    Work work;
    for (const Point& point : measured_points(batches)) {
      if (text_member(point.params, "dtype") == curve.dtype) {
        work.launches = std::max(work.launches, point.work.launches);
        work.fixed_bytes = std::max(work.fixed_bytes, point.work.fixed_bytes);
      }
    }
    const auto dtype = parse_dtype(curve.dtype);
    const auto peaks = dtype ? batches.context.peaks.find(*dtype) : batches.context.peaks.end();
    const auto measured =
        kernels == nullptr ? std::nullopt : find_value(kernels->findings, "memory_bandwidth");
    const double bytes_per_s = measured                               ? *measured
                               : peaks != batches.context.peaks.end() ? peaks->second.bytes_per_s
                                                                      : 0;
    const double weights_ns = bytes_per_s > 0 ? work.fixed_bytes / bytes_per_s * 1e9 : 0;
    const double starting_ns =
        work.launches > 0 ? static_cast<double>(work.launches) * launch_ns(kernels) : fixed->value.value();
    fixed_[curve.dtype] = {.ns = *fixed->value,
                           .launching_ns = std::clamp(*fixed->value - weights_ns, 0.0, starting_ns)};
  }
}

const std::string& StepModel::file_of(const std::string& sweep) const {
  static const std::string none;
  const auto found = files_.find(sweep);
  return found == files_.end() ? none : found->second;
}

std::vector<std::string> StepModel::dtypes() const {
  std::vector<std::string> names;
  if (device_) {
    for (const Curve& curve : device_->curves) {
      names.push_back(curve.dtype);
    }
  } else {
    names.push_back(loading_->facts().measured.dtype);
  }
  return names;
}

std::vector<std::int64_t> StepModel::batches(const std::string& dtype) const {
  std::vector<std::int64_t> batches;
  if (device_) {
    for (const CurvePoint& point : device_->in(dtype)->points) {
      batches.push_back(point.batch);
    }
  } else {
    batches.push_back(loading_->facts().measured.batch);
  }
  return batches;
}

std::optional<std::int64_t> StepModel::safe_batch(const std::string& dtype) const {
  if (const auto limit = limits_.find(dtype); limit != limits_.end()) {
    return limit->second.safe;
  }
  // By the points alone: 90 % of the largest is below 90 % of the cap, memory being fixed + slope · batch.
  const auto largest = largest_batch(dtype);
  return largest ? std::optional(static_cast<std::int64_t>(kSafeShare * static_cast<double>(*largest)))
                 : std::nullopt;
}

std::optional<std::int64_t> StepModel::largest_batch(const std::string& dtype) const {
  if (const auto limit = limits_.find(dtype); limit != limits_.end()) {
    return limit->second.largest;
  }
  return device_ ? device_->in(dtype)->largest : std::nullopt;
}

StepModel::DeviceStep StepModel::one_card(const TrainingSettings& settings) const {
  if (!device_) {
    const TrainingSettings measured = loading_->facts().measured;
    if (settings.batch != measured.batch || settings.dtype != measured.dtype) {
      throw UsageError(
          fmt::format("--current batch={},dtype={}: {} was measured at batch {} in {}, and no result of the "
                      "batch sweep is "
                      "given; add one",
                      settings.batch, settings.dtype, files_.at("workers"), measured.batch, measured.dtype));
    }
    return {.ns = loading_->facts().compute_ns,
            .deviation = loading_->facts().is_simulated ? kLeastDeviation : 0,
            .bytes = 0};
  }
  const Curve* const curve = device_->in(settings.dtype);
  if (curve == nullptr) {
    throw UsageError(fmt::format("--current dtype={}: {} holds {}; measure it with --dtype {}",
                                 settings.dtype, files_.at("batch"), fmt::join(dtypes(), ", "),
                                 settings.dtype));
  }
  const auto ns = [](const CurvePoint& point) {
    return static_cast<double>(point.batch) * 1e9 / point.per_s;
  };
  if (const CurvePoint* const point = curve->at(settings.batch)) {
    return {.ns = ns(*point),
            .deviation = known_deviation(*point),
            .bytes = point->bytes,
            .gpu_ns = point->step.gpu_ns,
            .host_ns = point->step.host_ns};
  }
  const auto above = std::ranges::find_if(
      curve->points, [&](const CurvePoint& point) { return point.batch > settings.batch; });
  if (above == curve->points.begin() || above == curve->points.end()) {
    throw UsageError(
        fmt::format("--current batch={}: {} holds batches {} to {} in {}; measure it with --batch {}",
                    settings.batch, files_.at("batch"), curve->points.front().batch,
                    curve->points.back().batch, settings.dtype, settings.batch));
  }
  const CurvePoint& below = *std::prev(above);
  const double part =
      static_cast<double>(settings.batch - below.batch) / static_cast<double>(above->batch - below.batch);
  return {.ns = std::lerp(ns(below), ns(*above), part),
          .deviation = std::max(known_deviation(below), known_deviation(*above)),
          .bytes = std::llround(
              std::lerp(static_cast<double>(below.bytes), static_cast<double>(above->bytes), part)),
          .gpu_ns = std::lerp(below.step.gpu_ns, above->step.gpu_ns, part),
          .host_ns = std::lerp(below.step.host_ns, above->step.host_ns, part)};
}

// Gradients are exchanged once for all accumulations.
StepModel::DeviceStep StepModel::device_step(const TrainingSettings& settings) const {
  DeviceStep step = one_card(settings);
  if (settings.cards == 1 || !link_ || !device_ || task_.mode != "train") {
    return step;
  }
  const Curve& curve = *device_->in(settings.dtype);
  const auto near = std::ranges::find_if(
      curve.points, [&](const CurvePoint& point) { return point.batch >= settings.batch; });
  if (!near->timeline) {
    throw UsageError(
        fmt::format("--link: {} has no times of its gradients at batch {}; measure it again with "
                    "this version",
                    files_.at("batch"), near->batch));
  }
  CurvePoint one = *near;
  one.step.step_ns = step.ns;
  one.accumulate = settings.accumulate;
  if (one.batch != settings.batch) {
    one.batch = settings.batch;
    one.two_ranks.reset();
  }
  std::vector<CardsLoss> losses;
  const CardsStep several =
      cards_step(one, settings.dtype, !crosses_bus_, settings.cards, *link_, catalogue_, losses);
  const double longer = several.quoted_ns() / several.replay.step_ns;
  const double exposed = several.replay.exposed_ns / static_cast<double>(settings.accumulate);
  step.exchanging_ns = (step.ns + exposed) * longer - step.ns;
  step.ns += step.exchanging_ns;
  step.gpu_ns += step.exchanging_ns;
  step.exchange_deviation = several.added_deviation;
  step.loss = losses.empty() ? std::nullopt : std::optional(losses.front());
  step.is_bound = several.at_least;
  return step;
}

// As it was measured, times the ratio of the two kinds of memory.
std::optional<double> StepModel::copy_ns(const TrainingSettings& settings) const {
  if (!knows_copies() || !device_) {
    return std::nullopt;
  }
  const Curve* const curve = device_->in(settings.dtype);
  const double bytes = curve != nullptr ? curve->points.front().input_bytes_per_sample : 0;
  if (!(bytes > 0)) {
    return std::nullopt;
  }
  return bytes * static_cast<double>(settings.batch) / copy_rate(settings.pin) * 1e9;
}

void StepModel::check(const TrainingSettings& settings) const {
  if (settings.accumulate > 1 && task_.mode == "infer") {
    throw UsageError(fmt::format("--current accumulate={}: {} is of inference, which accumulates nothing",
                                 settings.accumulate, files_.at("batch")));
  }
  if (settings.cards > 1 && device_ && !crosses_bus_ && !link_) {
    throw UsageError(
        fmt::format("--current cards={}: {} was measured on the host's processor, which is one device; give "
                    "--link, for instance --link eth-10g, to count each card as a separate host",
                    settings.cards, files_.at("batch")));
  }
  constexpr std::int64_t kMostCards = 16;
  const std::int64_t cards = cards_of_a_host(settings);
  if (cards > kMostCards) {
    throw UsageError(
        fmt::format("cards: {} were given for one host; accepted: at most {} of a host, and "
                    "more on several with two links, as --link nvlink3,ib-4x100g",
                    cards, kMostCards));
  }
  if (settings.workers * cards > kMostWorkers || settings.prefetch > kMostWorkers) {
    throw UsageError(
        fmt::format("--current workers={},prefetch={},cards={}: accepted: {} workers in all, and a "
                    "prefetch of {}, at most",
                    settings.workers, settings.prefetch, settings.cards, kMostWorkers, kMostWorkers));
  }
}

ModelledStep StepModel::at(const TrainingSettings& settings) const {
  const DeviceStep device = device_step(settings);
  ModelledStep step;
  step.device_ns = device.ns;
  step.device_bytes = device.bytes;
  step.device_deviation = device.deviation;
  step.exchange_deviation = device.exchange_deviation;
  step.loss = device.loss;
  step.is_bound = device.is_bound;
  const TrainingSettings hosted = on_a_host(settings);
  const bool computes_on_cores =
      device_ ? !crosses_bus_ : loading_ != nullptr && loading_->facts().measured_on_cores;
  step.run_deviation = computes_on_cores ? kRunDeviation : 0;
  if (!loading_) {
    const double copy = copy_ns(settings).value_or(0);
    step.parts = {.step_ns = std::max(device.ns, copy), .computing_ns = device.ns};
    step.parts.copying_ns = step.parts.step_ns - device.ns;
  } else {
    step.parts = loading_->step(hosted, device.ns, copy_ns(settings));
    step.host_bytes = loading_->host_bytes(hosted);
    if (const auto scaled = scalings_.find(settings.cards); scaled != scalings_.end()) {
      const auto& [likely, efficiency] = scaled->second;
      step.read90_ns = Interval{step.parts.step_ns / efficiency.high, step.parts.step_ns / efficiency.low};
      step.exchanging_ns = step.parts.step_ns / likely - step.parts.step_ns;
      step.parts.step_ns += step.exchanging_ns;
      step.parts.computing_ns += step.exchanging_ns;
    }
    if (is_read()) {
      return step;
    }
    const double others = 1 - step.parts.computing_ns / step.parts.step_ns;
    step.device_deviation *= 1 - std::min(1.0, others);
    // Loading that is hidden hardly matters; the simulation's error counts as far as the device waits. Other
    // batches than the measured one are scaled.
    constexpr double kHidden = 0.25;
    constexpr double kNearlyHidden = 0.5;  // a slower run is no longer hidden
    constexpr double kScaled = 0.03;
    const double ratio =
        static_cast<double>(settings.batch) / static_cast<double>(loading_->facts().measured.batch);
    const double model =
        combined_deviation({loading_->facts().error.value_or(kUnknownDeviation), kScaled * std::log2(ratio)});
    step.loading_deviation = step.parts.measured_deviation
                                 ? std::max(kLeastDeviation, *step.parts.measured_deviation)
                                 : std::max(kLeastDeviation, model) * std::min(1.0, kHidden + others);
    step.run_deviation = std::max(step.run_deviation, kRunDeviation * std::min(1.0, kNearlyHidden + others));
  }
  step.exchanging_ns = std::min(device.exchanging_ns, step.parts.computing_ns);
  if (const auto fixed = fixed_.find(settings.dtype); fixed != fixed_.end()) {
    step.fixed_ns = std::min(fixed->second.ns, step.parts.computing_ns);
    step.launching_ns = std::min(fixed->second.launching_ns, step.fixed_ns);
  }
  step.host_ns = device.host_ns;
  if (device.host_ns > 0) {  // what the card's work does not hide of it
    step.launching_ns = std::clamp(device.ns - device.gpu_ns, 0.0, step.parts.computing_ns);
  }
  return step;
}

Bottleneck StepModel::loading_limit(const TrainingSettings& settings) const {
  return loading_->limit(on_a_host(settings), device_step(settings).ns, copy_ns(settings));
}

}  // namespace bench
