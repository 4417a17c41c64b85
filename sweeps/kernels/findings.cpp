#include "sweeps/kernels/findings.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/units.h"
#include "sweeps/kernels/roof_points.h"
#include "sweeps/kernels/roofline.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {
namespace {

std::string bytes_rate(double rate) {
  return format_rate(rate, "B/s");
}
std::string flops_rate(double rate) {
  return format_rate(rate, "FLOP/s");
}

// A point of one sample has an interval without width: it knows nothing of its spread.
std::optional<Interval> known(const Interval& interval) {
  if (interval.low == interval.high) {
    return std::nullopt;
  }
  return Interval{std::min(interval.low, interval.high), std::max(interval.low, interval.high)};
}

// Of what is done in a time with an interval.
Interval rates(double amount, const Interval& ns) {
  return {amount / (ns.high * 1e-9), amount / (ns.low * 1e-9)};
}

// Of a ratio, from the ends that make it smallest and largest: at least as wide as 95 % asks for.
std::optional<Interval> ratio_of(const Interval& above, const Interval& below) {
  const auto top = known(above);
  const auto bottom = known(below);
  if (!top || !bottom) {
    return std::nullopt;
  }
  return Interval{top->low / bottom->high, top->high / bottom->low};
}

constexpr std::string_view kTensorCores = "tensor-cores";

// Points that one claim is made of. Multiply-adds with and without tensor cores have nothing in common.
std::string label_of(const KernelPoint& point) {
  return point.mode == kTensorCores ? fmt::format("{}/{}/{}", point.workload, point.mode, point.dtype)
                                    : fmt::format("{}/{}", point.workload, point.dtype);
}

// "triad on 384 MiB".
std::string kernel_and_size(const KernelPoint& point) {
  return fmt::format("{} on {}", point.mode, format_bytes(static_cast<std::int64_t>(point.bytes)));
}

// The roof is the best of several kernels and sizes: which one it is, and what the others do, is said.
Finding claim_memory(const std::vector<KernelPoint>& points, const Ceiling& memory, double cache_bytes) {
  Finding finding = finding_of("memory_bandwidth", "B/s");
  finding.value = memory.rate;
  finding.ci95 = known(memory.ci95);
  std::string best;
  std::string others;
  for (const KernelPoint& point : points) {
    if (!shows_memory(point, cache_bytes)) {
      continue;
    }
    finding.evidence.push_back(point.name);
    if (point.name == memory.name) {
      best = kernel_and_size(point);
    } else {
      others += fmt::format("{}{} {}", others.empty() ? "; the others: " : ", ", kernel_and_size(point),
                            bytes_rate(point.bytes_per_s()));
    }
  }
  finding.claim = fmt::format(
      "Memory delivers up to {}, bytes read and written counted, to arrays that no cache holds ({}{}).",
      bytes_rate(memory.rate), best, others);
  return finding;
}

// A short budget measures some of them only; the others may be faster.
std::optional<Finding> claim_incomplete(const RoofPoints& roof) {
  if (roof.skipped.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("roof_incomplete", "points", roof.measured);
  finding.value = static_cast<double>(roof.skipped.size());
  finding.claim = fmt::format(
      "Of the {} points that are to set the roofline {} had no time, and its ceilings may be too low or "
      "missing: {}; give a larger --time-budget.",
      roof.measured.size() + roof.skipped.size(), roof.skipped.size(), fmt::join(roof.skipped, ", "));
  return finding;
}

Finding claim_no_memory(const std::vector<KernelPoint>& points, const RoofPoints& roof, double cache_bytes) {
  Finding finding = finding_of("memory_bandwidth", "B/s");
  const bool streamed = std::ranges::find(points, "stream", &KernelPoint::workload) != points.end();
  const bool skipped = std::ranges::any_of(
      roof.skipped, [](const std::string& name) { return name.starts_with("kernels/stream/"); });
  finding.claim =
      skipped ? std::string(
                    "What memory delivers was not measured, so there is no roofline: the cold stream kernels "
                    "had no time; give a larger --time-budget.")
      : streamed
          ? fmt::format(
                "What memory delivers cannot be told, nor the roofline: that takes cold stream kernels on "
                "arrays that no cache holds (the last one has {}); give more --elements.",
                format_bytes(static_cast<std::int64_t>(cache_bytes)))
          : std::string(
                "What memory delivers was not measured, so there is no roofline: that takes the stream "
                "kernels; run the sweep without --workload.");
  return finding;
}

// The fastest hot stream kernel, where a cache makes it faster than memory is.
std::optional<Finding> claim_caches(const std::vector<KernelPoint>& points, const Ceiling& memory) {
  const KernelPoint* best = nullptr;
  for (const KernelPoint& point : points) {
    if (point.workload == "stream" && point.caches == "hot" &&
        (best == nullptr || point.bytes_per_s() > best->bytes_per_s())) {
      best = &point;
    }
  }
  if (best == nullptr || best->bytes_per_s() < 1.2 * memory.rate) {
    return std::nullopt;
  }
  Finding finding = finding_of("cache_bandwidth", "B/s", {best->name});
  finding.value = best->bytes_per_s();
  finding.ci95 = known(rates(best->bytes, best->ci95_ns));
  finding.claim = fmt::format("Caches deliver up to {}, {:.1f} times what memory does: {} on {} in all.",
                              bytes_rate(best->bytes_per_s()), best->bytes_per_s() / memory.rate, best->mode,
                              format_bytes(static_cast<std::int64_t>(best->bytes)));
  return finding;
}

Finding claim_peak(const std::string& dtype, const Ceiling& peak) {
  Finding finding = finding_of(fmt::format("arithmetic_peak/{}", dtype), "FLOP/s", {peak.name});
  finding.value = peak.rate;
  finding.ci95 = known(peak.ci95);
  finding.claim =
      fmt::format("In {} the best operation does {} ({}).", dtype, flops_rate(peak.rate), peak.name);
  return finding;
}

Finding claim_ridge(const std::string& dtype, double ridge, const Ceiling& peak, const Ceiling& memory) {
  Finding finding = finding_of(fmt::format("ridge/{}", dtype), "FLOP/B", {peak.name, memory.name});
  finding.value = ridge;
  finding.ci95 = ratio_of(peak.ci95, memory.ci95);
  finding.claim = fmt::format(
      "In {} an operation needs {:.1f} floating-point operations for each byte before arithmetic, not "
      "memory, limits "
      "it.",
      dtype, ridge);
  return finding;
}

// The best multiply-adds of each kind in one dtype.
std::optional<Finding> claim_tensor_cores(const std::string& dtype, const std::vector<KernelPoint>& points) {
  const auto best = [&](std::string_view mode) {
    const KernelPoint* found = nullptr;
    for (const KernelPoint& point : points) {
      if (point.workload == "fma" && point.mode == mode && point.dtype == dtype && trusted(point) &&
          (found == nullptr || point.flops_per_s() > found->flops_per_s())) {
        found = &point;
      }
    }
    return found;
  };
  const KernelPoint* with = best(kTensorCores);
  const KernelPoint* without = best("forward");
  if (with == nullptr || without == nullptr) {
    return std::nullopt;
  }
  Finding finding = finding_of("tensor_cores/" + dtype, "1", {with->name, without->name});
  finding.value = with->flops_per_s() / without->flops_per_s();
  finding.ci95 = ratio_of(rates(with->flops, with->ci95_ns), rates(without->flops, without->ci95_ns));
  finding.claim =
      fmt::format("In {} multiply-adds on tensor cores do {}, {:.1f} times the {} of the ordinary units.",
                  dtype, flops_rate(with->flops_per_s()), *finding.value, flops_rate(without->flops_per_s()));
  return finding;
}

// What an operation reaches of min(peak, intensity · bandwidth), best and worst point.
Finding claim_share(const std::string& label, const std::vector<const KernelPoint*>& points,
                    const Roofline& roofline) {
  const auto share = [&](const KernelPoint* point) { return point->flops_per_s() / *roofline.limit(*point); };
  const auto [worst, best] =
      std::ranges::minmax_element(points, {}, [&](const KernelPoint* point) { return share(point); });
  Finding finding = finding_of("roofline_share/" + label, "1");
  for (const KernelPoint* point : points) {
    finding.evidence.push_back(point->name);
  }
  finding.value = share(*worst);
  finding.ci95 = ratio_of(rates((*worst)->flops, (*worst)->ci95_ns), *roofline.limit_ci95(**worst));
  const auto limited = [&](const KernelPoint* point) {
    return point->intensity() < *roofline.ridge(point->dtype) ? "memory" : "arithmetic";
  };
  finding.claim = *worst == *best ? fmt::format("{} reaches {} of what {} allows at {}.", label,
                                                format_percent(share(*best)), limited(*best), (*best)->name)
                                  : fmt::format(
                                        "{} reaches {} to {} of what memory and arithmetic allow: least at "
                                        "{} (limit: {}), most at {} "
                                        "(limit: {}).",
                                        label, format_percent(share(*worst)), format_percent(share(*best)),
                                        (*worst)->name, limited(*worst), (*best)->name, limited(*best));
  if (share(*best) > 1.05 && std::string_view(limited(*best)) == "memory") {
    finding.claim.pop_back();
    finding.claim += "; above 100 %, its data stayed in a cache.";
  }
  return finding;
}

// The same point with hot and with cold caches; the largest ratio.
std::optional<Finding> claim_cold(const std::string& label, const std::vector<KernelPoint>& points) {
  std::map<std::string, std::pair<const KernelPoint*, const KernelPoint*>> pairs;
  for (const KernelPoint& point : points) {
    if (label_of(point) != label) {
      continue;
    }
    std::string key = point.name;
    if (const auto at = key.find("/" + point.caches + "/"); at != std::string::npos) {
      key.erase(at, point.caches.size() + 1);
    }
    (point.caches == "cold" ? pairs[key].second : pairs[key].first) = &point;
  }
  const KernelPoint* hot = nullptr;
  const KernelPoint* cold = nullptr;
  for (const auto& [key, pair] : pairs) {
    if (pair.first != nullptr && pair.second != nullptr &&
        (hot == nullptr ||
         pair.second->median_ns / pair.first->median_ns > cold->median_ns / hot->median_ns)) {
      std::tie(hot, cold) = pair;
    }
  }
  if (hot == nullptr || cold->ci95_ns.low <= hot->ci95_ns.high) {
    return std::nullopt;
  }
  const double ratio = cold->median_ns / hot->median_ns;
  Finding finding = finding_of("cold_caches/" + label, "1", {hot->name, cold->name});
  finding.value = ratio;
  finding.ci95 = ratio_of(cold->ci95_ns, hot->ci95_ns);
  finding.claim =
      fmt::format("With cold caches {} takes up to {:.2f} times as long ({} against {}, {}).", label, ratio,
                  format_duration(cold->median_ns), format_duration(hot->median_ns), cold->name);
  return finding;
}

// Of a batch of one: in larger ones, which take longer, the host does not wait for each.
std::optional<Finding> claim_launch(const std::vector<KernelPoint>& points) {
  const KernelPoint* best = nullptr;
  for (const KernelPoint& point : points) {
    if (point.workload == "launch" && point.samples == 1) {
      best = &point;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  Finding finding = finding_of("launch_round_trip", "ns", {best->name});
  finding.value = best->median_ns;
  finding.ci95 = known(best->ci95_ns);
  finding.claim = fmt::format(
      "From its launch until the host knows that it has ended, a kernel that does next to nothing takes {}.",
      format_duration(best->median_ns));
  return finding;
}

std::optional<Finding> claim_flags(const std::vector<KernelPoint>& points) {
  Finding finding = finding_of("conditions", "points");
  std::map<std::string, int> counts;
  for (const KernelPoint& point : points) {
    for (const std::string& flag : point.flags) {
      ++counts[flag];
    }
    if (!point.flags.empty()) {
      finding.evidence.push_back(point.name);
    }
  }
  if (finding.evidence.empty()) {
    return std::nullopt;
  }
  std::string words;
  for (const auto& [flag, count] : counts) {
    words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", flag, count);
  }
  finding.value = static_cast<double>(finding.evidence.size());
  finding.claim = fmt::format(
      "{} of {} points carry a flag: {}; run again on an idle machine, or with a longer "
      "--time-budget.",
      finding.evidence.size(), points.size(), words);
  return finding;
}

}  // namespace

std::vector<Finding> kernels_findings(const ResultDocument& document) {
  const std::vector<KernelPoint> points = kernel_points(document);
  const Roofline roofline = roofline_of(points, last_cache_bytes(document));
  const RoofPoints roof = roof_points(document);
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) {
      findings.push_back(std::move(*finding));
    }
  };
  if (roofline.memory) {
    add(claim_memory(points, *roofline.memory, last_cache_bytes(document)));
    add(claim_caches(points, *roofline.memory));
  } else if (!points.empty()) {
    add(claim_no_memory(points, roof, last_cache_bytes(document)));
  }
  add(claim_incomplete(roof));
  for (const auto& [dtype, peak] : roofline.compute) {
    add(claim_peak(dtype, peak));
    if (const auto ridge = roofline.ridge(dtype)) {
      add(claim_ridge(dtype, *ridge, peak, *roofline.memory));
    }
    add(claim_tensor_cores(dtype, points));
  }
  std::vector<std::string> labels;
  std::map<std::string, std::vector<const KernelPoint*>> by_label;
  for (const KernelPoint& point : points) {
    const std::string label = label_of(point);
    if (std::ranges::find(labels, label) == labels.end()) {
      labels.push_back(label);
    }
    if (point.workload != "stream" && point.caches == "hot" && trusted(point) && roofline.limit(point)) {
      by_label[label].push_back(&point);
    }
  }
  for (const std::string& label : labels) {
    if (by_label.contains(label)) {
      add(claim_share(label, by_label[label], roofline));
    }
    add(claim_cold(label, points));
  }
  add(claim_launch(points));
  add(claim_flags(points));
  return findings;
}

}  // namespace bench::sweeps
