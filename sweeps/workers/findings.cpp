#include "sweeps/workers/findings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/finding.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

std::optional<Finding> bad_files_finding(const Evidence& evidence) {
  constexpr std::size_t kNamed = 10;
  constexpr std::size_t kLongestReason = 200;
  const std::vector<std::pair<std::string, std::string>> files =
      evidence.setup.found ? evidence.setup.found->bad_files
                           : std::vector<std::pair<std::string, std::string>>();
  std::int64_t count = std::ssize(files);
  Finding finding = finding_of("bad_files", "files");
  for (const auto* list : {&evidence.points.capacity, &evidence.points.pool}) {
    for (const LoaderPoint& point : *list) {
      count = std::max(count, point.bad_files);
      if (point.bad_files > 0) {
        finding.evidence.push_back(point.name);
      }
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  finding.value = static_cast<double>(count);
  std::vector<std::string> named;
  for (const auto& [file, reason] : files) {
    if (named.size() < kNamed) {
      named.push_back(fmt::format("{} ({})", printable(file), printable(reason, kLongestReason)));
    }
  }
  const std::int64_t more = count - std::ssize(named);
  finding.claim = fmt::format("{} skipped as unusable{}{}{}",
                              count == 1 ? "1 file was" : fmt::format("{} files were", count),
                              named.empty() ? "" : ": ", fmt::join(named, ", "),
                              more > 0 && !named.empty() ? fmt::format(" and {} more", more) : "");
  return finding;
}

// The recommendation first, how sure it is last.
void choose_headlines(std::vector<Finding>& findings) {
  int chosen = 0;
  const auto take = [&](const char* name, int most) {
    for (Finding& finding : findings) {
      if (chosen < most && finding.name.starts_with(name)) {
        finding.headline = ++chosen;
      }
    }
  };
  const bool has_error = std::ranges::count(findings, "simulation_error", &Finding::name) > 0;
  const int most = has_error ? kHeadlines - 1 : kHeadlines;
  take("recommended_workers", most);
  take("bad_files", most);
  take("demand/", most - 1);
  take("plateau", most);
  take("harm", most);
  take("starvation", most);
  take("stages", most);
  take("simulation_error", kHeadlines);
}

// In the first claim that is printed and names AU.
void expand_au(std::vector<Finding>& findings) {
  Finding* first = nullptr;
  for (Finding& finding : findings) {
    if (finding.headline > 0 && finding.claim.find("AU ") != std::string::npos &&
        (first == nullptr || finding.headline < first->headline)) {
      first = &finding;
    }
  }
  if (first != nullptr) {
    first->claim.replace(first->claim.find("AU "), 2, "accelerator utilisation (AU)");
  }
}

}  // namespace

std::vector<Finding> workers_findings(const Evidence& evidence) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> one) {
    if (one) {
      findings.push_back(std::move(*one));
    }
  };
  add(recommended_finding(evidence));
  add(starvation_finding(evidence));
  add(knee_finding(evidence));
  add(simulated_knee_finding(evidence));
  add(simulation_error_finding(evidence));
  add(plateau_finding(evidence));
  add(harm_finding(evidence));
  add(stages_finding(evidence));
  add(scaling_finding(evidence));
  add(slowdown_finding(evidence));
  std::ranges::move(requirement_findings(evidence), std::back_inserter(findings));
  add(pinning_finding(evidence));
  add(bad_files_finding(evidence));
  choose_headlines(findings);
  expand_au(findings);
  return findings;
}

}  // namespace bench::sweeps
