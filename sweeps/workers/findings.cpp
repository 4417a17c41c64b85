#include "sweeps/workers/findings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

// One window has no interval, and proves nothing.
ThroughputPoint with_interval(std::int64_t workers, const Estimate& estimate) {
  return {.batch = workers, .per_s = estimate.value, .ci95 = estimate.ci95};
}

std::optional<Finding> claim_bad_files(const Evidence& evidence) {
  constexpr std::int64_t kNamed = 10;
  constexpr std::size_t kLongestReason = 200;
  std::vector<std::string> named;
  std::int64_t count = 0;
  if (evidence.setup.found) {
    for (const auto& [file, reason] : evidence.setup.found->bad_files) {
      if (++count <= kNamed) {
        named.push_back(fmt::format("{} ({})", printable(file), printable(reason, kLongestReason)));
      }
    }
  }
  Finding finding = finding_of("bad_files", "files");
  for (const LoaderPoint* const point : evidence.points.capacity_and_pool()) {
    if (const std::int64_t bad = point->windows->bad_files; bad > 0) {
      count = std::max(count, bad);
      finding.evidence.push_back(point->name);
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  finding.value = static_cast<double>(count);
  const std::int64_t more = count - std::ssize(named);
  finding.claim = fmt::format("{} skipped as unusable{}{}{}",
                              count == 1 ? "1 file was" : fmt::format("{} files were", count),
                              named.empty() ? "" : ": ", fmt::join(named, ", "),
                              more > 0 && !named.empty() ? fmt::format(" and {} more", more) : "");
  return finding;
}

// In the first claim that is printed and names AU.
void expand_au(std::vector<Finding>& findings) {
  std::vector<Finding*> printed;
  for (Finding& finding : findings) {
    if (finding.headline > 0) {
      printed.push_back(&finding);
    }
  }
  std::ranges::sort(printed, {}, &Finding::headline);
  for (Finding* const finding : printed) {
    if (const auto at = finding->claim.find("AU "); at != std::string::npos) {
      finding->claim.replace(at, 2, "accelerator utilisation (AU)");
      return;
    }
  }
}

}  // namespace

std::optional<Knee> Evidence::measured_knee(std::int64_t end) const {
  std::vector<ThroughputPoint> au;
  for (const LoaderPoint& point : points.pool) {
    if (point.au && point.workers < end) {
      au.push_back(with_interval(point.workers, *point.au));
    }
  }
  return find_saturation(au);
}

std::optional<Harm> Evidence::harm() const {
  std::vector<ThroughputPoint> rates;
  for (const LoaderPoint& point : points.pool) {
    rates.push_back(with_interval(point.workers, point.samples_per_s));
  }
  const auto from = find_harm(rates);
  if (!from) {
    return std::nullopt;
  }
  return Harm{.from = *from,
              .best = &*std::ranges::max_element(
                  points.pool, {}, [](const LoaderPoint& point) { return point.samples_per_s.value; })};
}

std::optional<Knee> Evidence::simulated_knee(bool measured_counts_only) const {
  if (!simulated) {
    return std::nullopt;
  }
  std::vector<SimulatedPoint> chosen = simulated->points;
  std::erase_if(chosen, [&](const SimulatedPoint& point) {
    return measured_counts_only && points.at(point.workers) == nullptr;
  });
  return find_knee(chosen);
}

const SimulatedPoint* Evidence::simulated_at(std::int64_t workers) const {
  if (!simulated) {
    return nullptr;
  }
  const auto found = std::ranges::find(simulated->points, workers, &SimulatedPoint::workers);
  return found == simulated->points.end() ? nullptr : &*found;
}

std::string workers_text(std::int64_t workers) {
  return workers == 0 ? "no workers" : fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string rate_text(double per_s) {
  return fmt::format("{} samples/s", format_number(per_s));
}

std::string au_text(const Estimate& au) {
  return "AU " + (au.ci95 ? plus_minus(au.value, au.ci95) : fmt::format("{:.2f}", au.value));
}

std::vector<std::string> names_of(const std::vector<LoaderPoint>& points) {
  std::vector<std::string> names;
  for (const LoaderPoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

void choose_workers_headlines(std::vector<Finding>& findings) {
  const auto has = [&](std::string_view name) {
    return std::ranges::count(findings, name, &Finding::name) > 0;
  };
  const std::size_t most = static_cast<std::size_t>(kHeadlines) - (has("simulation_error") ? 1 : 0);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, std::size_t places) {
    if (has(name) && names.size() < places) {
      names.push_back(name);
    }
  };
  add("recommended_workers", most);
  add("bad_files", most);
  for (const Finding& finding : findings) {
    if (finding.name.starts_with("demand/")) {
      add(finding.name, most - 1);  // one place is the plateau's
    }
  }
  for (const char* const name : {"plateau", "harm", "starvation", "stages", "ready_data"}) {
    add(name, most);
  }
  names.emplace_back("simulation_error");
  // A GPU that this host cannot feed has no number of workers, and is an answer.
  set_headlines(findings, names, true);
}

std::vector<Finding> workers_findings(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> one) {
    if (one) {
      findings.push_back(std::move(*one));
    }
  };
  for (const auto claim :
       {claim_recommendation, claim_starvation, claim_ready_data, claim_knee, claim_simulated_knee,
        claim_simulation_error, claim_plateau, claim_harm, claim_stages, claim_scaling, claim_slowdown}) {
    add(claim(evidence));
  }
  std::ranges::move(claim_requirements(evidence), std::back_inserter(findings));
  add(claim_pinning(evidence));
  add(claim_bad_files(evidence));
  for (Finding& finding : findings) {
    finding.claim += '.';
  }
  choose_workers_headlines(findings);
  expand_au(findings);
  return findings;
}

}  // namespace bench::sweeps
