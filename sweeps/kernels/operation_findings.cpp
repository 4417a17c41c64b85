// What operations reach of their roofline, and what cold caches cost them, in words.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/model/step_limit.h"
#include "bench/result/result.h"
#include "bench/stats/step_time.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/kernels/answer.h"

namespace bench::sweeps {
namespace {

std::string percent(const Estimate& share) {
  const auto ci95 =
      share.ci95 ? std::optional(Interval{100 * share.ci95->low, 100 * share.ci95->high}) : std::nullopt;
  return plus_minus(100 * share.value, ci95) + " %";
}

// Named only where it explains half of the time: a slow kernel is not reported as its roof, nor as a launch.
std::string_view limit_in_words(StepLimit limit) {
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
std::string place_of(const RooflineShare& share) {
  const KernelResult& point = *share.point;
  const bool in_label = point.mode == "forward" || point.mode == kTensorCores;
  const auto sizes = point.name.find("/hot/");
  return fmt::format("{}{}{}", in_label ? "" : point.mode + " ",
                     sizes == std::string::npos ? point.name : point.name.substr(sizes + 5),
                     share.is_predicted ? "" : fmt::format(" ({})", limit_in_words(share.limit)));
}

std::string share_claim(const std::string& label, const RooflineShare& worst, const RooflineShare& best) {
  std::string claim = label;
  if (worst.is_ceiling || best.is_ceiling) {
    claim += " sets the peak of arithmetic";
    if (!worst.is_ceiling || !best.is_ceiling) {
      const RooflineShare& other =
          best.is_ceiling ? worst : best;  // the best where caches lift it above the roof
      claim += fmt::format(", and reaches at {} {} of its roofline, at {}",
                           best.is_ceiling ? "least" : "most", percent(other.reached), place_of(other));
    }
  } else if (worst.point == best.point) {
    claim += fmt::format(" reaches {} of its roofline, at {}", percent(worst.reached), place_of(worst));
  } else {
    claim += fmt::format(" reaches {} to {} of its roofline, least at {}", percent(worst.reached),
                         percent(best.reached), place_of(worst));
  }
  return claim + (best.from_cache() ? "; above 100 %, its data stayed in a cache." : ".");
}

// nullopt where no hot point has a roof.
std::optional<Finding> claim_share(const OperationAnswer& operation) {
  if (operation.worst == nullptr) {
    return std::nullopt;
  }
  Finding finding = finding_of(operation.share_name(), "1");
  for (const RooflineShare& share : operation.shares) {
    finding.evidence.push_back(share.point->name);
  }
  finding.set(operation.worst->reached);
  finding.claim = share_claim(operation.label, *operation.worst, *operation.best);
  return finding;
}

// The pair of a hot and a cold point with the largest ratio, of one operation.
std::optional<Finding> claim_cold(const OperationAnswer& operation) {
  const std::vector<const KernelResult*>& points = operation.points;
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
  Finding finding = finding_of("cold_caches/" + operation.label, "1", {worst_hot->name, worst_cold->name});
  finding.set(times);
  finding.claim = fmt::format("With cold caches {} takes up to {} times as long ({} instead of {}, at {}).",
                              operation.label, plus_minus(times.value, times.ci95),
                              format_duration(worst_cold->step_ns.value),
                              format_duration(worst_hot->step_ns.value), worst_cold->short_name());
  return finding;
}

}  // namespace

std::vector<Finding> operation_findings(const std::vector<OperationAnswer>& operations) {
  std::vector<Finding> findings;
  for (const OperationAnswer& operation : operations) {
    for (auto& claim : {claim_share(operation), claim_cold(operation)}) {
      if (claim) {
        findings.push_back(*claim);
      }
    }
  }
  return findings;
}

}  // namespace bench::sweeps
