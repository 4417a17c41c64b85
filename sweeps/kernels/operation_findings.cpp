#include "sweeps/kernels/operation_findings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/model/step_limit.h"
#include "bench/result/result.h"
#include "bench/stats/step_time.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

std::string percent(const Estimate& share) {
  const auto ci95 =
      share.ci95 ? std::optional(Interval{100 * share.ci95->low, 100 * share.ci95->high}) : std::nullopt;
  return plus_minus(100 * share.value, ci95) + " %";
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

}  // namespace

std::vector<Finding> operation_findings(const std::vector<KernelResult>& points, const Roofline& roofline) {
  std::vector<Finding> findings;
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
    for (auto& claim : {claim_share(label, by_label[label], roofline), claim_cold(label, by_label[label])}) {
      if (claim) {
        findings.push_back(*claim);
      }
    }
  }
  return findings;
}

}  // namespace bench::sweeps
