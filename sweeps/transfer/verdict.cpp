#include "sweeps/transfer/verdict.h"

#include <algorithm>
#include <utility>

namespace bench::sweeps {
namespace {

constexpr double kWorthwhile = 0.01;  // of a step

Estimate estimate_of(const Json& row, const char* name) {
  const Json& time = row.at(name);
  return {.value = time.at("median_ns").get<double>(),
          .ci95 = Interval{time.at("ci95_ns").at(0).get<double>(), time.at("ci95_ns").at(1).get<double>()}};
}

double low_of(const Estimate& estimate) {
  return estimate.ci95 ? estimate.ci95->low : estimate.value;
}
double high_of(const Estimate& estimate) {
  return estimate.ci95 ? estimate.ci95->high : estimate.value;
}

bool apart(const Estimate& one, const Estimate& other) {
  return high_of(one) < low_of(other) || low_of(one) > high_of(other);
}

PinVerdict against(const KindSteps& pageable, const KindSteps& kind) {
  const Estimate& before = pageable.best();
  const Estimate& after = kind.best();
  PinVerdict verdict;
  verdict.with = kind.name;
  verdict.saved_ns = before.value - after.value;
  if (before.ci95 && after.ci95) {
    verdict.saved_ci95_ns =
        Interval{.low = before.ci95->low - after.ci95->high, .high = before.ci95->high - after.ci95->low};
  }
  verdict.share = verdict.saved_ns / before.value;
  verdict.apart = apart(before, after);
  verdict.verdict = verdict.apart && verdict.share >= kWorthwhile ? Verdict::pin : Verdict::dont;
  verdict.most_ns = high_of(pageable.copy_ns);
  verdict.copy_is_short = verdict.most_ns < kWorthwhile * before.value;
  verdict.open = !verdict.apart && !verdict.copy_is_short &&
                 high_of(before) - low_of(after) >= kWorthwhile * before.value;
  return verdict;
}

}  // namespace

const KindSteps* StepStudy::kind(const std::string& name) const {
  const auto at = std::ranges::find(kinds, name, &KindSteps::name);
  return at == kinds.end() || !at->unsupported.empty() ? nullptr : &*at;
}

std::vector<StepStudy> step_studies(const ResultDocument& document) {
  std::vector<StepStudy> studies;
  const Json transfer = document.sweep.is_object() ? document.sweep.value("transfer", Json()) : Json();
  if (!transfer.is_object() || !transfer.contains("steps")) {
    return studies;
  }
  for (const Json& row : transfer["steps"]) {
    StepStudy study;
    study.workload = row.at("workload").get<std::string>() + " " + row.at("mode").get<std::string>();
    study.dtype = row.value("dtype", "fp32");
    study.batch = row.at("batch").get<std::int64_t>();
    study.unsupported = row.value("unsupported", "");
    if (study.unsupported.empty()) {
      study.bytes = row.at("bytes").get<double>();
      study.compute_ns = estimate_of(row, "compute");
      for (const Json& kind : row.at("kinds")) {
        KindSteps steps;
        steps.name = kind.at("host_memory").get<std::string>();
        steps.unsupported = kind.value("unsupported", "");
        if (steps.unsupported.empty()) {
          steps.copy_ns = estimate_of(kind, "copy");
          steps.serial_ns = estimate_of(kind, "serial");
          steps.beside_ns = estimate_of(kind, "beside");
          steps.compute_beside_ns = estimate_of(kind, "compute_beside");
        }
        study.kinds.push_back(std::move(steps));
      }
    }
    studies.push_back(std::move(study));
  }
  return studies;
}

std::optional<Estimate> hidden_share(const StepStudy& study, const KindSteps& kind) {
  const double scatter = (high_of(kind.beside_ns) - low_of(kind.beside_ns) + high_of(study.compute_ns) -
                          low_of(study.compute_ns)) /
                         2;
  if (scatter > kind.copy_ns.value / 2) {
    return std::nullopt;
  }
  Estimate hidden{.value = 1 - (kind.beside_ns.value - study.compute_ns.value) / kind.copy_ns.value,
                  .ci95 = std::nullopt};
  if (kind.beside_ns.ci95 && study.compute_ns.ci95 && kind.copy_ns.ci95 && kind.copy_ns.ci95->low > 0) {
    const Interval& copy = *kind.copy_ns.ci95;
    const double least = kind.beside_ns.ci95->low - study.compute_ns.ci95->high;  // of the copy that shows
    const double most = kind.beside_ns.ci95->high - study.compute_ns.ci95->low;
    hidden.ci95 = Interval{.low = 1 - most / (most > 0 ? copy.low : copy.high),
                           .high = 1 - least / (least > 0 ? copy.high : copy.low)};
  }
  return hidden;
}

std::optional<double> slowdown(const StepStudy& study, const KindSteps& kind) {
  const bool slower = low_of(kind.compute_beside_ns) > high_of(study.compute_ns);
  const bool faster = high_of(kind.compute_beside_ns) < low_of(study.compute_ns);
  return slower || faster ? std::optional(kind.compute_beside_ns.value / study.compute_ns.value - 1)
                          : std::nullopt;
}

PinVerdict pin_verdict(const StepStudy& study, const LockedBytes& locked) {
  const KindSteps* const pageable = study.kind("pageable");
  const KindSteps* const pinned = study.kind("pinned");
  const KindSteps* const staged = study.kind("staged");
  if (pageable == nullptr || (pinned == nullptr && staged == nullptr)) {
    return {};
  }
  if (pinned == nullptr || staged == nullptr) {
    return against(*pageable, pinned != nullptr ? *pinned : *staged);
  }
  PinVerdict by_pinned = against(*pageable, *pinned);
  PinVerdict by_staged = against(*pageable, *staged);
  bool take_staged = by_staged.saved_ns > by_pinned.saved_ns;
  if (by_staged.verdict == Verdict::pin && !locked.pinned_possible) {
    take_staged = true;
  } else if (by_pinned.verdict != by_staged.verdict) {
    take_staged = by_staged.verdict == Verdict::pin;
  } else if (by_pinned.open != by_staged.open && by_pinned.verdict == Verdict::dont) {
    take_staged = by_staged.open;
  } else if (!apart(pinned->best(), staged->best())) {
    take_staged = locked.staged < locked.pinned;
    by_pinned.equals = staged->name;
    by_staged.equals = pinned->name;
  }
  return take_staged ? by_staged : by_pinned;
}

std::optional<double> cost_ns(const std::vector<std::pair<double, double>>& by_size, double bytes) {
  if (by_size.empty()) {
    return std::nullopt;
  }
  const auto above = std::ranges::find_if(by_size, [&](const auto& size) { return size.first >= bytes; });
  if (above == by_size.end()) {
    return by_size.back().second * bytes / by_size.back().first;
  }
  if (above == by_size.begin()) {
    return above->second;
  }
  const auto& [low, low_ns] = *(above - 1);
  const auto& [high, high_ns] = *above;
  return low_ns + (high_ns - low_ns) * (bytes - low) / (high - low);
}

}  // namespace bench::sweeps
