// The findings of `--sweep kernels`.

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/run/remedies.h"
#include "bench/stats/ratio.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/kernels/answer.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {
namespace {

std::string bytes_rate(const Estimate& rate) {
  return plus_minus_rate(rate.value, rate.ci95, "B/s");
}
// " ± ?" of a measured one whose interval is not known.
std::string unknown_interval(const RoofCeiling& ceiling) {
  return ceiling.rate.ci95 || ceiling.name == kDataSheet ? "" : " ± ?";
}
std::string flops_rate(const Estimate& rate) {
  return plus_minus_rate(rate.value, rate.ci95, "FLOP/s");
}
// "triad on 384 MiB".
std::string kernel_and_size(const KernelResult& point) {
  return fmt::format("{} on {}", point.mode, format_bytes(static_cast<std::int64_t>(point.bytes)));
}

// " (triad on 384 MiB)"; of an estimate that counts others too, which is not that point's own rate in the
// table: ", pooled over 4 points within noise (best: triad on 384 MiB)".
std::string by_points(std::string_view best, const RoofCeiling& ceiling) {
  const std::size_t rivals = ceiling.rivals.size();
  return rivals == 0 ? fmt::format(" ({})", best)
                     : fmt::format(", pooled over {} points within noise (best: {})", rivals + 1, best);
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
  if (memory.name == kDataSheet) {
    finding.claim = fmt::format("Memory delivers at most {} (data sheet).", bytes_rate(memory.rate));
    return finding;
  }
  for (const KernelResult& point : points) {
    if (!shows_memory(point, cache_bytes)) {
      continue;
    }
    finding.evidence.push_back(point.name);
    if (point.name == memory.name) {
      finding.claim =
          fmt::format("Memory delivers {}{}, read and written{}.", bytes_rate(memory.rate),
                      unknown_interval(memory), by_points(kernel_and_size(point) + ", cold caches", memory));
    }
  }
  return finding;
}

// What no_roofline_in_words() says after a colon.
std::string reason_for_no_memory(const ResultDocument& document, const std::vector<KernelResult>& points,
                                 const std::set<std::string>& references) {
  if (only_references_timed(document, references)) {
    return fmt::format("only the points that set it were timed [{}]", give_time());
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
           std::ranges::find(measured_points(document), name, &Point::name) ==
               measured_points(document).end() &&
           std::ranges::find(document.unmeasured, name, &UnmeasuredPoint::name) == document.unmeasured.end();
  });
  if ((missing != nullptr && missing->status == "skipped") || left_out) {
    return fmt::format("the {} stream kernels were not timed [{}]", largest == nullptr ? "cold" : "largest",
                       give_time());
  }
  if (missing != nullptr) {
    const bool fits = missing->status != "oom";
    return fmt::format("the {}stream kernels {}: {}{}", largest == nullptr ? "" : "largest ",
                       fits ? "are " + missing->status : "do not fit", missing->reason,
                       fits ? "" : " [larger --memory-cap]");
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
  finding.claim = fmt::format(
      "Caches deliver {}, {:.1f} times as much as memory{}.", bytes_rate(best->rate),
      best->rate.value / memory.rate.value,
      by_points(kernel_and_size(**std::ranges::find(hot, best->name, &KernelResult::name)), *best));
  return finding;
}

// A short budget measures some of the points that set the roofline; the others may be faster.
std::optional<Finding> claim_incomplete(const ResultDocument& document,
                                        const std::set<std::string>& references) {
  std::vector<std::string> measured;
  std::vector<std::string> skipped;
  for (const Point& point : measured_points(document)) {
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
      skipped.size(), measured.size() + skipped.size(), fmt::join(skipped, ", "), give_time());
  return finding;
}

Finding claim_peak(const std::string& dtype, const RoofCeiling& peak) {
  Finding finding = finding_of("arithmetic_peak/" + dtype, "FLOP/s", pooled_names(peak));
  finding.set(peak.rate);
  finding.claim =
      fmt::format("{} arithmetic peaks at {}{}{}.", dtype, flops_rate(peak.rate), unknown_interval(peak),
                  by_points(std::string_view(peak.name).substr(peak.name.find('/') + 1), peak));
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

Finding claim_tensor_cores(const std::string& dtype, const TensorCores& cores, const RunContext& context) {
  Finding finding = finding_of("tensor_cores/" + dtype, "1", {cores.with->name, cores.without->name});
  finding.set(cores.times);
  // Its peak takes another instruction, which fma does not use.
  const bool has_wgmma = context.detail("compute_capability") == "9.0";
  finding.claim =
      fmt::format("Tensor cores do {} in {} by wmma, {} times as much as the ordinary units{}.",
                  flops_rate(cores.with->rate()), dtype, plus_minus(cores.times.value, cores.times.ci95),
                  has_wgmma ? "; wgmma, which gemm uses, reaches more" : "");
  return finding;
}

Finding claim_launch(const KernelResult& point) {
  Finding finding = finding_of("launch_round_trip", "ns", {point.name});
  finding.set(point.step_ns);
  finding.claim = fmt::format("Starting an empty kernel and waiting for its end takes {}.",
                              plus_minus_duration(point.step_ns.value, point.step_ns.ci95));
  return finding;
}

}  // namespace

std::string no_roofline_in_words(const ResultDocument& document, const KernelsAnswer& answer,
                                 const std::set<std::string>& references) {
  return fmt::format("No roofline: {}.", reason_for_no_memory(document, answer.points, references));
}

std::vector<Finding> kernels_findings(const ResultDocument& document,
                                      const std::set<std::string>& references) {
  const KernelsAnswer answer = kernels_answer(document, references);
  const std::vector<KernelResult>& points = answer.points;
  const Roofline& roofline = answer.roofline;
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) {
      findings.push_back(std::move(*finding));
    }
  };
  if (roofline.memory) {
    add(claim_memory(points, *roofline.memory, last_cache_bytes(document.context)));
    add(claim_caches(points, *roofline.memory));
  } else if (!points.empty() || !document.unmeasured.empty()) {
    Finding& finding = findings.emplace_back(finding_of("memory_bandwidth", "B/s"));
    finding.claim = no_roofline_in_words(document, answer, references);
  }
  add(claim_incomplete(document, references));
  for (const auto& [dtype, peak] : roofline.compute) {
    add(claim_peak(dtype, peak));
    if (const auto ridge = roofline.ridge(dtype)) {
      add(claim_ridge(dtype, *ridge, peak, *roofline.memory));
    }
    if (const auto cores = answer.tensor_cores.find(dtype); cores != answer.tensor_cores.end()) {
      add(claim_tensor_cores(dtype, cores->second, document.context));
    }
  }
  std::ranges::move(operation_findings(answer.operations), std::back_inserter(findings));
  if (answer.launch != nullptr) {
    add(claim_launch(*answer.launch));
  }
  add(claim_conditions(document));
  choose_kernels_headlines(answer, findings);
  for (Finding& finding : findings) {  // which is no point
    std::erase(finding.evidence, kDataSheet);
  }
  return findings;
}

}  // namespace bench::sweeps
