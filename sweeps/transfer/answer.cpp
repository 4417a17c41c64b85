#include "sweeps/transfer/answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/model/links.h"
#include "bench/result/finding.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

const SizePoint* fastest_one_way(const std::vector<CopySeries>& all) {
  const SizePoint* best = nullptr;
  for (const CopySeries& series : all) {
    for (const SizePoint& point : series.points) {
      if (series.direction != "both" && (best == nullptr || point.bytes_per_s() > best->bytes_per_s())) {
        best = &point;
      }
    }
  }
  return best;
}

Bus bus_of(const TransferEvidence& evidence) {
  Bus bus{.pcie = evidence.document.context.detail("pcie"),
          .is_of_data_sheet = is_predicted(evidence.document),
          .is_crossed = evidence.state.crosses_bus,
          .fastest = fastest_one_way(evidence.series)};
  if (bus.is_of_data_sheet || bus.is_crossed) {
    bus.bytes_per_s = pcie_bytes_per_s(bus.pcie);
  }
  return bus;
}

std::vector<InputCopy> input_copies(const ResultDocument& document, const Bus& bus) {
  std::vector<InputCopy> inputs;
  for (const Point& step : modelled_points(document)) {
    const auto params = read_params(step.params);
    if (!params || !step.is_timed()) {
      continue;
    }
    InputCopy& input = inputs.emplace_back(
        InputCopy{.params = *params, .step = &step, .bytes = step.memory.by_category[MemoryCategory::input]});
    if (bus.bytes_per_s) {
      input.least_ns = static_cast<double>(input.bytes) / *bus.bytes_per_s * 1e9;
      input.share = *input.least_ns / step.step_ns().value;
    }
  }
  for (const UnmeasuredPoint& step : document.unmeasured) {
    if (const auto params = bus.is_of_data_sheet ? read_params(step.params) : std::nullopt) {
      inputs.push_back({.params = *params, .refusal = step.reason});
    }
  }
  return inputs;
}

std::optional<Crossover> crossover_of(const TransferEvidence& evidence, const std::string& direction,
                                      const std::string& kind) {
  const CopySeries* const pageable = find_series(evidence.series, direction + "/pageable");
  const CopySeries* const other = find_series(evidence.series, direction + "/" + kind);
  const auto largest = largest_of_both(other, pageable);
  if (!largest) {
    return std::nullopt;  // never compared
  }
  return Crossover{.direction = direction,
                   .kind = kind,
                   .largest = *largest,
                   .faster_from = faster_from(other->points, pageable->points),
                   .slower_from = faster_from(pageable->points, other->points),
                   .models_cross_at = other->curve && pageable->curve
                                          ? crossing(*other->curve, *pageable->curve)
                                          : std::nullopt};
}

// Why the host cannot lock this much; empty where it can.
std::string why_not_pinned(const TransferEvidence& evidence, double bytes) {
  const auto host_bytes = static_cast<double>(evidence.document.context.host.memory_bytes);
  if (host_bytes > 0 && bytes > host_bytes) {
    return fmt::format("does not fit: the host has {}", size_text(host_bytes));
  }
  for (const PinningCost& cost : evidence.state.pinning) {  // growing
    if (!cost.unsupported.empty() && static_cast<double>(cost.bytes) <= bytes) {
      return fmt::format("is refused here: {}", cost.unsupported);
    }
  }
  return {};
}

// The memory that the loader's buffers and a staging ring lock for this batch.
LockedBytes locked_bytes(const TransferEvidence& evidence, const StepStudy& study) {
  const auto batches =
      static_cast<double>(std::max<std::int64_t>(1, evidence.state.workers * evidence.state.prefetch));
  const double pinned = batches * static_cast<double>(study.bytes);
  return {.pinned = pinned,
          .staged = static_cast<double>(staging_ring_bytes(study.bytes)),
          .pinned_refusal = why_not_pinned(evidence, pinned)};
}

StepsAnswer steps_answer(const TransferEvidence& evidence, const StepStudy& study) {
  StepsAnswer answer{.study = &study};
  if (!study.unsupported.empty()) {
    return answer;
  }
  answer.locked = locked_bytes(evidence, study);
  answer.verdict = pin_verdict(study, answer.locked);
  if (answer.locked.pinned_refusal.empty()) {
    answer.pinning_ns = pinning_cost_ns(evidence.state.pinning, answer.locked.pinned);
  }
  for (const KindSteps& kind : study.kinds) {
    if (kind.unsupported.empty()) {
      answer.overlaps.push_back(
          {.kind = &kind, .hidden = hidden_share(study, kind), .slower = slowdown(study, kind)});
    }
  }
  return answer;
}

std::optional<PinnedMemory> pinning_of(const std::vector<PinningCost>& costs) {
  PinnedMemory pinning;
  for (const PinningCost& cost : costs) {  // growing
    if (cost.unsupported.empty()) {
      pinning.largest = &cost;
    } else if (pinning.refused.empty()) {
      pinning.refused = cost.unsupported;
    }
  }
  return pinning.largest == nullptr && pinning.refused.empty() ? std::nullopt : std::optional(pinning);
}

std::optional<HeldThread> held_thread(const std::vector<CallTime>& calls) {
  std::optional<HeldThread> held;
  for (const CallTime& one : calls) {
    for (const CallTime& other : calls) {  // the largest size that both have is last
      if (one.direction == "h2d" && other.direction == "h2d" && one.bytes == other.bytes &&
          one.kind == "pinned" && other.kind == "pageable") {
        held = {.pinned = &one, .pageable = &other};
      }
    }
  }
  return held;
}

void take_model(const Finding& model, SizeCurve& curve) {
  curve.latency_ns.value = model.details.value("latency_ns", curve.latency_ns.value);
  curve.bytes_per_s.reset();
  if (model.value) {  // of both ways at once, the bytes of both
    curve.bytes_per_s =
        scaled({.value = *model.value, .ci95 = model.ci95}, 1 / model.details.value("moved_per_byte", 1.0));
  }
}

TransferEvidence stored_evidence(const ResultDocument& document) {
  TransferEvidence evidence(document, transfer_state_in(document));
  for (CopySeries& series : evidence.series) {
    const Finding* const model = find_finding(document.findings, series.model_name());
    if (model != nullptr && model->details.is_object() && series.curve) {
      take_model(*model, *series.curve);
    }
  }
  return evidence;
}

}  // namespace

StoredTransfer::StoredTransfer(const ResultDocument& document)
    : evidence(stored_evidence(document)), answer(answer_of(evidence)) {
  for (Crossover& crossover : answer.crossovers) {
    if (const Finding* const found = find_finding(document.findings, crossover.finding_name())) {
      crossover.faster_from = found->value;
    }
  }
}

std::string InputCopy::finding_name() const {
  return fmt::format("input/batch:{}", params.batch);
}

std::string Crossover::finding_name() const {
  return fmt::format("crossover/{}/{}", direction, kind);
}

std::string StepsAnswer::finding_name() const {
  return fmt::format("pin/batch:{}", study->batch);
}

std::string StepsAnswer::overlap_name(const Overlap& overlap) const {
  return fmt::format("overlap/{}/batch:{}", overlap.kind->name, study->batch);
}

const Crossover* TransferAnswer::crossover(const std::string& direction, const std::string& kind) const {
  const auto at = std::ranges::find_if(
      crossovers, [&](const Crossover& one) { return one.direction == direction && one.kind == kind; });
  return at == crossovers.end() ? nullptr : &*at;
}

TransferAnswer answer_of(const TransferEvidence& evidence) {
  TransferAnswer answer{.bus = bus_of(evidence),
                        .pinning = pinning_of(evidence.state.pinning),
                        .held = held_thread(evidence.state.calls)};
  answer.inputs = input_copies(evidence.document, answer.bus);
  for (const StepStudy& study : evidence.state.steps) {
    answer.steps.push_back(steps_answer(evidence, study));
  }
  for (const char* const direction : {"h2d", "d2h"}) {
    for (const char* const kind : {"pinned", "staged"}) {
      if (auto crossover = crossover_of(evidence, direction, kind)) {
        answer.crossovers.push_back(*std::move(crossover));
      }
    }
  }
  return answer;
}

}  // namespace bench::sweeps
