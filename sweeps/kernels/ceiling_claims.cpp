#include "sweeps/kernels/ceiling_claims.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/kernels/intervals.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {
namespace {

// "triad on 384 MiB".
std::string kernel_and_size(const KernelPoint& point) {
  return fmt::format("{} on {}", point.mode, format_bytes(static_cast<std::int64_t>(point.bytes)));
}

// The roof is the best of several kernels and sizes: which one it is, and what the others do, is said.
Finding claim_memory(const std::vector<KernelPoint>& points, const RoofCeiling& memory, double cache_bytes) {
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

// The first that holds: no time, refused, too small, not asked for.
std::string no_memory_text(const ResultDocument& document, const std::vector<KernelPoint>& points,
                           const RoofPoints& roof) {
  constexpr std::string_view kNotMeasured = "What memory delivers was not measured, so there is no roofline";
  if (std::ranges::any_of(roof.skipped,
                          [](const std::string& name) { return name.starts_with("kernels/stream/"); })) {
    return fmt::format("{}: the cold stream kernels had no time; give a larger --time-budget.", kNotMeasured);
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (point.name.starts_with("kernels/stream/") && point.status != "skipped") {
      return fmt::format("{}: the stream kernels end in {}: {}.", kNotMeasured, point.status, point.reason);
    }
  }
  if (std::ranges::find(points, "stream", &KernelPoint::workload) != points.end()) {
    return fmt::format(
        "What memory delivers cannot be told, nor the roofline: that takes cold stream kernels on arrays "
        "that no "
        "cache holds (the last one has {}); give more --elements.",
        format_bytes(static_cast<std::int64_t>(last_cache_bytes(document))));
  }
  return fmt::format("{}: that takes the stream kernels; run the sweep without --workload.", kNotMeasured);
}

Finding claim_no_memory(const ResultDocument& document, const std::vector<KernelPoint>& points,
                        const RoofPoints& roof) {
  Finding finding = finding_of("memory_bandwidth", "B/s");
  finding.claim = no_memory_text(document, points, roof);
  return finding;
}

// The fastest hot stream kernel, where a cache makes it faster than memory is.
std::optional<Finding> claim_caches(const std::vector<KernelPoint>& points, const RoofCeiling& memory) {
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

Finding claim_peak(const std::string& dtype, const RoofCeiling& peak) {
  Finding finding = finding_of(fmt::format("arithmetic_peak/{}", dtype), "FLOP/s", {peak.name});
  finding.value = peak.rate;
  finding.ci95 = known(peak.ci95);
  finding.claim =
      fmt::format("In {} the best operation does {} ({}).", dtype, flops_rate(peak.rate), peak.name);
  return finding;
}

Finding claim_ridge(const std::string& dtype, double ridge, const RoofCeiling& peak,
                    const RoofCeiling& memory) {
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

}  // namespace

std::vector<Finding> ceiling_claims(const ResultDocument& document, const std::vector<KernelPoint>& points,
                                    const Roofline& roofline) {
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
  } else if (!points.empty() || !document.unmeasured.empty()) {
    add(claim_no_memory(document, points, roof));
  }
  add(claim_incomplete(roof));
  for (const auto& [dtype, peak] : roofline.compute) {
    add(claim_peak(dtype, peak));
    if (const auto ridge = roofline.ridge(dtype)) {
      add(claim_ridge(dtype, *ridge, peak, *roofline.memory));
    }
    add(claim_tensor_cores(dtype, points));
  }
  return findings;
}

}  // namespace bench::sweeps
