#include "sweeps/kernels/findings.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/finding.h"
#include "bench/measure/flags.h"
#include "bench/measure/step_time.h"
#include "bench/measure/units.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {
namespace {

constexpr std::string_view kTensorCores = "tensor-cores";  // a mode of multiply-adds

std::string bytes_rate(const Estimate& rate) {
  return plus_minus_rate(rate.value, rate.ci95, "B/s");
}
std::string flops_rate(const Estimate& rate) {
  return plus_minus_rate(rate.value, rate.ci95, "FLOP/s");
}
std::string percent(const Estimate& share) {
  const auto ci95 =
      share.ci95 ? std::optional(Interval{100 * share.ci95->low, 100 * share.ci95->high}) : std::nullopt;
  return plus_minus(100 * share.value, ci95) + " %";
}

// "triad on 384 MiB".
std::string kernel_and_size(const KernelResult& point) {
  return fmt::format("{} on {}", point.mode, format_bytes(static_cast<std::int64_t>(point.bytes)));
}

// "triad on 384 MiB; 3 others may be as fast": those that the estimate counts.
std::string rivals_in_words(const RoofCeiling& ceiling) {
  const std::size_t rivals = ceiling.rivals.size();
  return rivals == 0 ? "" : fmt::format("; {} other{} may be as fast", rivals, rivals == 1 ? "" : "s");
}

std::vector<std::string> pooled_names(const RoofCeiling& ceiling) {
  std::vector<std::string> names{ceiling.name};
  names.insert(names.end(), ceiling.rivals.begin(), ceiling.rivals.end());
  return names;
}

// The roof is the best of several kernels and sizes; the evidence lists them all.
Finding claim_memory(const std::vector<KernelResult>& points, const RoofCeiling& memory, double cache_bytes) {
  Finding finding = finding_of("memory_bandwidth", "B/s");
  finding.set(memory.rate);
  for (const KernelResult& point : points) {
    if (!shows_memory(point, cache_bytes)) {
      continue;
    }
    finding.evidence.push_back(point.name);
    if (point.name == memory.name) {
      finding.claim = fmt::format("Memory delivers {}, read and written ({}, cold caches{}).",
                                  bytes_rate(memory.rate), kernel_and_size(point), rivals_in_words(memory));
    }
  }
  return finding;
}

Finding claim_data_sheet(const RoofCeiling& memory) {
  Finding finding = finding_of("memory_bandwidth", "B/s");
  finding.set(memory.rate);
  finding.claim = fmt::format("Memory delivers at most {} (data sheet).", bytes_rate(memory.rate));
  return finding;
}

// Why there is no roofline, and what to do.
std::string reason_for_no_memory(const ResultDocument& document, const std::vector<KernelResult>& points,
                                 const std::set<std::string>& references) {
  if (only_references_timed(document, references)) {
    return fmt::format("only the points that set it were timed [{}]", kGiveTime);
  }
  const KernelResult* largest = nullptr;  // cold
  for (const KernelResult& point : points) {
    if (point.is_stream() && point.cold && (largest == nullptr || point.bytes > largest->bytes)) {
      largest = &point;
    }
  }
  const double cache_bytes = last_cache_bytes(document.context);
  if (largest != nullptr && is_beyond_caches(largest->bytes, cache_bytes)) {
    return "the cold stream kernels ran above the device's peak [run on an idle machine]";
  }
  const auto is_stream = [](const std::string& name) { return name.starts_with("kernels/stream/"); };
  // One that would have shown it: one that lacked the time before others.
  const UnmeasuredPoint* missing = nullptr;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (is_stream(point.name) && (largest == nullptr || references.contains(point.name)) &&
        (missing == nullptr || point.status == "skipped")) {
      missing = &point;
    }
  }
  // The run may have ended before a reference point was even prepared.
  const bool left_out = std::ranges::any_of(references, [&](const std::string& name) {
    return is_stream(name) &&
           std::ranges::find(document.benchmarks, name, &MeasuredPoint::name) == document.benchmarks.end() &&
           std::ranges::find(document.unmeasured, name, &UnmeasuredPoint::name) == document.unmeasured.end();
  });
  if ((missing != nullptr && missing->status == "skipped") || left_out) {
    return fmt::format("the {} stream kernels were not timed [{}]", largest == nullptr ? "cold" : "largest",
                       kGiveTime);
  }
  if (missing != nullptr) {
    return fmt::format("the {}stream kernels are {}: {}", largest == nullptr ? "" : "largest ",
                       missing->status, missing->reason);
  }
  if (largest != nullptr) {
    return fmt::format(
        "cold arrays of {} are below {} [give more --elements]",
        format_bytes(static_cast<std::int64_t>(largest->bytes)),
        cache_bytes > 8 * 0x1p20
            ? fmt::format("twice the {} cache", format_bytes(static_cast<std::int64_t>(cache_bytes)))
            : "16.0 MiB");
  }
  return std::ranges::any_of(points, &KernelResult::is_stream)
             ? "no stream kernel ran with cold caches [leave out --benchmark_filter]"
             : "memory was not measured [run the sweep without --workload]";
}

// The fastest hot stream kernel, where a cache makes it faster than memory is.
std::optional<Finding> claim_caches(const std::vector<KernelResult>& points, const RoofCeiling& memory) {
  std::vector<const KernelResult*> hot;
  for (const KernelResult& point : points) {
    if (point.is_stream() && !point.cold) {
      hot.push_back(&point);
    }
  }
  const auto best = ceiling_of(hot, &KernelResult::bandwidth);
  if (!best || best->rate.value < 1.2 * memory.rate.value) {
    return std::nullopt;
  }
  Finding finding = finding_of("cache_bandwidth", "B/s", pooled_names(*best));
  finding.set(best->rate);
  finding.claim = fmt::format("Caches deliver {}, {:.1f} times as much as memory ({}{}).",
                              bytes_rate(best->rate), best->rate.value / memory.rate.value,
                              kernel_and_size(**std::ranges::find(hot, best->name, &KernelResult::name)),
                              rivals_in_words(*best));
  return finding;
}

// A short budget measures some of the points that set the roofline; the others may be faster.
std::optional<Finding> claim_incomplete(const ResultDocument& document,
                                        const std::set<std::string>& references) {
  std::vector<std::string> measured;
  std::vector<std::string> skipped;
  for (const MeasuredPoint& point : document.benchmarks) {
    if (references.contains(point.name)) {
      measured.push_back(point.name);
    }
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (references.contains(point.name) && point.status == "skipped") {
      skipped.push_back(point.name);
    }
  }
  if (skipped.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("roof_incomplete", "points", measured);
  finding.value = static_cast<double>(skipped.size());
  finding.claim = fmt::format(
      "{} of the {} reference points were not timed, so that the roofline may be too low or missing: {} "
      "[{}].",
      skipped.size(), measured.size() + skipped.size(), fmt::join(skipped, ", "), kGiveTime);
  return finding;
}

Finding claim_peak(const std::string& dtype, const RoofCeiling& peak) {
  Finding finding = finding_of("arithmetic_peak/" + dtype, "FLOP/s", pooled_names(peak));
  finding.set(peak.rate);
  finding.claim = fmt::format("{} arithmetic peaks at {} ({}{}).", dtype, flops_rate(peak.rate),
                              peak.name.substr(peak.name.find('/') + 1), rivals_in_words(peak));
  return finding;
}

Finding claim_ridge(const std::string& dtype, const Estimate& ridge, const RoofCeiling& peak,
                    const RoofCeiling& memory) {
  Finding finding = finding_of("ridge/" + dtype, "FLOP/B", {peak.name, memory.name});
  finding.set(ridge);
  finding.claim = fmt::format("Arithmetic, not memory, limits {} operations of more than {} FLOP/B.", dtype,
                              plus_minus(ridge.value, ridge.ci95));
  return finding;
}

// The best multiply-adds of each kind in one dtype.
std::optional<Finding> claim_tensor_cores(const std::string& dtype, const std::vector<KernelResult>& points,
                                          const RunContext& context) {
  const auto best = [&](std::string_view mode) {
    const KernelResult* found = nullptr;
    for (const KernelResult& point : points) {
      if (point.workload == "fma" && point.mode == mode && point.dtype == dtype && !point.above_peak &&
          (found == nullptr || point.rate().low() > found->rate().low())) {
        found = &point;
      }
    }
    return found;
  };
  const KernelResult* with = best(kTensorCores);
  const KernelResult* without = best("forward");
  if (with == nullptr || without == nullptr) {
    return std::nullopt;
  }
  const Estimate times =
      scaled(ratio_by_rounds(without->step_ns, without->rounds, with->step_ns, with->rounds),
             with->flops / without->flops);
  Finding finding = finding_of("tensor_cores/" + dtype, "1", {with->name, without->name});
  finding.set(times);
  // Its peak takes another instruction, which fma does not use.
  const bool has_wgmma = context.detail("compute_capability") == "9.0";
  finding.claim = fmt::format("Tensor cores do {} in {} by wmma, {} times as much as the ordinary units{}.",
                              flops_rate(with->rate()), dtype, plus_minus(times.value, times.ci95),
                              has_wgmma ? "; wgmma, which gemm uses, reaches more" : "");
  return finding;
}

// The label of a claim's points. Multiply-adds on tensor cores have a claim of their own.
std::string label_of(const KernelResult& point) {
  return point.mode == kTensorCores ? fmt::format("{}/{}/{}", point.workload, point.mode, point.dtype)
                                    : fmt::format("{}/{}", point.workload, point.dtype);
}

// A point's rate over min(peak, intensity · bandwidth), and what limits it.
struct Share {
  const KernelResult* point = nullptr;
  Estimate reached;
  bool by_memory = false;   // the lower roof is memory's
  bool is_ceiling = false;  // the peak is this point's own rate
  bool is_predicted = false;
  StepLimit limit = StepLimit::unknown;

  bool from_cache() const { return by_memory && reached.value > 1.05; }
  // Named only where it explains half of the time: a slow kernel is not reported as its roof, nor as a
  // launch.
  std::string_view limit_in_words() const {
    switch (limit) {
      case StepLimit::compute:
        return "limit: arithmetic";
      case StepLimit::memory:
        return "limit: memory";
      case StepLimit::launch:
        return "limit: its launch";
      case StepLimit::implementation:
      case StepLimit::unknown:
        break;
    }
    return "own implementation: below both roofs";
  }
  // "backward-data in-channels:64/batch:8 (limit: memory)"; the rest of the name is the label. Of a predicted
  // point no implementation is known.
  std::string place() const {
    const bool in_label = point->mode == "forward" || point->mode == kTensorCores;
    const auto sizes = point->name.find("/hot/");
    return fmt::format("{}{}{}", in_label ? "" : point->mode + " ",
                       sizes == std::string::npos ? point->name : point->name.substr(sizes + 5),
                       is_predicted ? "" : fmt::format(" ({})", limit_in_words()));
  }
};

Share share_of(const KernelResult& point, const Roofline& roofline) {
  const auto ridge = roofline.ridge(point.dtype);
  const RoofCeiling& peak = roofline.compute.at(point.dtype);
  const LimitReport report =
      find_limit({.flops = point.flops, .sample_bytes = point.bytes, .launches = point.launches},
                 {.flops_per_s = peak.rate.value, .bytes_per_s = roofline.memory->rate.value, .source = ""},
                 point.step_ns, roofline.launch_ns);
  return {.point = &point,
          .reached = ratio(point.rate(), *roofline.limit(point)),
          .by_memory = ridge && point.intensity() < ridge->value,
          .is_ceiling = peak.name == point.name,
          .is_predicted = peak.name == kDataSheet,
          .limit = report.limit};
}

std::string share_claim(const std::string& label, const Share& worst, const Share& best) {
  std::string claim = label;
  if (worst.is_ceiling || best.is_ceiling) {
    claim += " sets the peak of arithmetic";
    if (!worst.is_ceiling || !best.is_ceiling) {
      const Share& other = best.is_ceiling ? worst : best;  // the best where caches lift it above the roof
      claim += fmt::format(", and reaches at {} {} of its roofline, at {}",
                           best.is_ceiling ? "least" : "most", percent(other.reached), other.place());
    }
  } else if (worst.point == best.point) {
    claim += fmt::format(" reaches {} of its roofline, at {}", percent(worst.reached), worst.place());
  } else {
    claim += fmt::format(" reaches {} to {} of its roofline, least at {}", percent(worst.reached),
                         percent(best.reached), worst.place());
  }
  return claim + (best.from_cache() ? "; above 100 %, its data stayed in a cache." : ".");
}

// The worst and the best hot point of one operation; nullopt where there is none to compare.
std::optional<Finding> claim_share(const std::string& label, const std::vector<const KernelResult*>& points,
                                   const Roofline& roofline) {
  Finding finding = finding_of("roofline_share/" + label, "1");
  std::vector<Share> shares;
  for (const KernelResult* point : points) {
    if (!point->is_stream() && !point->cold && !point->above_peak && roofline.limit(*point)) {
      finding.evidence.push_back(point->name);
      shares.push_back(share_of(*point, roofline));
    }
  }
  if (shares.empty()) {
    return std::nullopt;
  }
  const auto [worst, best] =
      std::ranges::minmax_element(shares, {}, [](const Share& share) { return share.reached.value; });
  finding.set(worst->reached);
  finding.claim = share_claim(label, *worst, *best);
  return finding;
}

// The pair of a hot and a cold point with the largest ratio, of one operation.
std::optional<Finding> claim_cold(const std::string& label, const std::vector<const KernelResult*>& points) {
  const KernelResult* worst_hot = nullptr;
  const KernelResult* worst_cold = nullptr;
  double worst_ratio = 0;
  for (const KernelResult* hot : points) {
    std::string name = hot->name;
    if (const auto at = name.find("/hot/"); at != std::string::npos) {
      name.replace(at, 5, "/cold/");
    }
    const auto cold = std::ranges::find(points, name, &KernelResult::name);
    if (hot->cold || cold == points.end() || !(*cold)->cold) {
      continue;
    }
    if (const double slower = (*cold)->step_ns.value / hot->step_ns.value; slower > worst_ratio) {
      worst_hot = hot;
      worst_cold = *cold;
      worst_ratio = slower;
    }
  }
  if (worst_hot == nullptr) {
    return std::nullopt;
  }
  const Estimate times =
      ratio_by_rounds(worst_cold->step_ns, worst_cold->rounds, worst_hot->step_ns, worst_hot->rounds);
  if (times.low() <= 1) {
    return std::nullopt;
  }
  Finding finding = finding_of("cold_caches/" + label, "1", {worst_hot->name, worst_cold->name});
  finding.set(times);
  finding.claim =
      fmt::format("With cold caches {} takes up to {} times as long ({} instead of {}, at {}).", label,
                  plus_minus(times.value, times.ci95), format_duration(worst_cold->step_ns.value),
                  format_duration(worst_hot->step_ns.value), worst_cold->short_name());
  return finding;
}

std::optional<Finding> claim_launch(const std::vector<KernelResult>& points) {
  const KernelResult* const point = launch_point(points);
  if (point == nullptr) {
    return std::nullopt;
  }
  Finding finding = finding_of("launch_round_trip", "ns", {point->name});
  finding.set(point->step_ns);
  finding.claim = fmt::format("Starting an empty kernel and waiting for its end takes {}.",
                              plus_minus_duration(point->step_ns.value, point->step_ns.ci95));
  return finding;
}

// The operation that falls shortest of its roofline first, then the roofline itself, the highest peak first.
// Multiply-adds probe the roofline: they fall short of it by design wherever memory is not the limit.
std::vector<std::string> headlines(const std::vector<Finding>& findings) {
  const auto known = [&](std::string_view prefix) {
    std::vector<const Finding*> found;
    for (const Finding& finding : findings) {
      if (finding.value && finding.name.starts_with(prefix)) {
        found.push_back(&finding);
      }
    }
    return found;
  };
  const auto value_of = [](const Finding* finding) { return *finding->value; };
  std::vector<const Finding*> shares = known("roofline_share/");
  std::erase_if(shares, [](const Finding* share) {
    return *share->value >= 1 || share->name.starts_with("roofline_share/fma/");
  });
  std::ranges::sort(shares, {}, value_of);
  shares.resize(std::min<std::size_t>(shares.size(), 1));
  std::vector<const Finding*> peaks = known("arithmetic_peak/");
  std::ranges::sort(peaks, std::ranges::greater{}, value_of);
  peaks.resize(std::min(peaks.size(), 3 - shares.size()));
  std::vector<std::string> names;
  for (const auto& group :
       {shares, known("memory_bandwidth"), peaks, known("tensor_cores/"), known("launch_round_trip")}) {
    for (const Finding* finding : group) {
      names.push_back(finding->name);
    }
  }
  return names;
}

}  // namespace

void choose_kernels_headlines(std::vector<Finding>& findings) {
  set_headlines(findings, headlines(findings));
}

std::vector<Finding> kernels_findings(const ResultDocument& document,
                                      const std::set<std::string>& references) {
  const std::vector<KernelResult> points = read_results(document);
  const double cache_bytes = last_cache_bytes(document.context);
  const Roofline roofline = roofline_in(document, references);
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) {
      findings.push_back(std::move(*finding));
    }
  };
  const bool predicted = !document.predicted.empty();
  if (predicted) {
    add(claim_data_sheet(*roofline.memory));
  } else if (roofline.memory) {
    add(claim_memory(points, *roofline.memory, cache_bytes));
    add(claim_caches(points, *roofline.memory));
  } else if (!points.empty() || !document.unmeasured.empty()) {
    Finding& finding = findings.emplace_back(finding_of("memory_bandwidth", "B/s"));
    finding.claim = fmt::format("No roofline: {}.", reason_for_no_memory(document, points, references));
  }
  add(claim_incomplete(document, references));
  for (const auto& [dtype, peak] : roofline.compute) {
    add(claim_peak(dtype, peak));
    if (const auto ridge = roofline.ridge(dtype)) {
      add(claim_ridge(dtype, *ridge, peak, *roofline.memory));
    }
    add(claim_tensor_cores(dtype, points, document.context));
  }
  std::vector<std::string> labels;  // in the order of the file
  std::map<std::string, std::vector<const KernelResult*>> by_label;
  for (const KernelResult& point : points) {
    std::vector<const KernelResult*>& alike = by_label[label_of(point)];
    if (alike.empty()) {
      labels.push_back(label_of(point));
    }
    alike.push_back(&point);
  }
  for (const std::string& label : labels) {
    add(claim_share(label, by_label[label], roofline));
    add(claim_cold(label, by_label[label]));
  }
  add(claim_launch(points));
  add(claim_conditions(document));
  choose_kernels_headlines(findings);
  for (Finding& finding : findings) {  // which is no point
    std::erase(finding.evidence, kDataSheet);
  }
  return findings;
}

}  // namespace bench::sweeps
