#include "sweeps/kernels/findings.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sweeps/kernels/ceiling_claims.h"
#include "sweeps/kernels/intervals.h"
#include "sweeps/series/claims.h"

namespace bench::sweeps {
namespace {

// Points that one claim is made of. Multiply-adds with and without tensor cores have nothing in common.
std::string label_of(const KernelPoint& point) {
  return point.mode == kTensorCores ? fmt::format("{}/{}/{}", point.workload, point.mode, point.dtype)
                                    : fmt::format("{}/{}", point.workload, point.dtype);
}

// A point with what it reaches of min(peak, intensity · bandwidth), and which of the two that is.
struct Share {
  const KernelPoint* point = nullptr;
  double reached = 0;
  std::string_view limit;
  bool is_ceiling = false;  // the ceiling was taken from it: a share of that is one of itself
};

Share share_of(const KernelPoint& point, const Roofline& roofline) {
  return {.point = &point,
          .reached = point.flops_per_s() / *roofline.limit(point),
          .limit = point.intensity() < *roofline.ridge(point.dtype) ? "memory" : "arithmetic",
          .is_ceiling = roofline.compute.at(point.dtype).name == point.name};
}

std::string claim_of(const std::string& label, const Share& worst, const Share& best) {
  if (worst.point == best.point) {
    return best.is_ceiling ? fmt::format("{} is the ceiling of arithmetic, at {}.", label, best.point->name)
                           : fmt::format("{} reaches {} of what {} allows at {}.", label,
                                         format_percent(best.reached), best.limit, best.point->name);
  }
  if (best.is_ceiling || worst.is_ceiling) {  // the worst, where caches lift the others above the roof
    const Share& ceiling = best.is_ceiling ? best : worst;
    const Share& other = best.is_ceiling ? worst : best;
    const char* const end = best.is_ceiling ? "least" : "most";
    return fmt::format(
        "{} is the ceiling of arithmetic, at {}, and reaches at {} {} of what memory and arithmetic allow: "
        "{} at {} (limit: {}).",
        label, ceiling.point->name, end, format_percent(other.reached), end, other.point->name, other.limit);
  }
  return fmt::format(
      "{} reaches {} to {} of what memory and arithmetic allow: least at {} (limit: {}), most at {} (limit: "
      "{}).",
      label, format_percent(worst.reached), format_percent(best.reached), worst.point->name, worst.limit,
      best.point->name, best.limit);
}

// What an operation reaches of the roof, best and worst point.
Finding claim_share(const std::string& label, const std::vector<const KernelPoint*>& points,
                    const Roofline& roofline) {
  Finding finding = finding_of("roofline_share/" + label, "1");
  std::vector<Share> shares;
  for (const KernelPoint* point : points) {
    finding.evidence.push_back(point->name);
    shares.push_back(share_of(*point, roofline));
  }
  const auto [worst, best] = std::ranges::minmax_element(shares, {}, &Share::reached);
  finding.value = worst->reached;
  finding.ci95 =
      ratio_of(rates(worst->point->flops, worst->point->ci95_ns), *roofline.limit_ci95(*worst->point));
  finding.claim = claim_of(label, *worst, *best);
  if (best->reached > 1.05 && best->limit == "memory") {
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
  std::vector<Finding> findings = ceiling_claims(document, points, roofline);
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) {
      findings.push_back(std::move(*finding));
    }
  };
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
