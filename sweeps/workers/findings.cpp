#include "sweeps/workers/findings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/finding.h"
#include "bench/measure/quote.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

std::optional<Finding> claim_bad_files(const Evidence& evidence) {
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
  const auto has = [&](std::string_view name) {
    return std::ranges::count(findings, name, &Finding::name) > 0;
  };
  const std::size_t most = static_cast<std::size_t>(kHeadlines) - (has("simulation_error") ? 1 : 0);
  std::vector<std::string> names;
  for (const char* const name : {"recommended_workers", "bad_files"}) {
    if (has(name)) {
      names.emplace_back(name);
    }
  }
  for (const Finding& finding : findings) {
    if (finding.name.starts_with("demand/") && names.size() + 1 < most) {  // one place is the plateau's
      names.push_back(finding.name);
    }
  }
  for (const char* const name : {"plateau", "harm", "starvation", "stages"}) {
    if (has(name) && names.size() < most) {
      names.emplace_back(name);
    }
  }
  names.emplace_back("simulation_error");
  // A GPU that this host cannot feed has no number of workers, and is an answer.
  set_headlines(findings, names, true);
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
  add(claim_recommendation(evidence));
  add(claim_starvation(evidence));
  add(claim_knee(evidence));
  add(claim_simulated_knee(evidence));
  add(claim_simulation_error(evidence));
  add(claim_plateau(evidence));
  add(claim_harm(evidence));
  add(claim_stages(evidence));
  add(claim_scaling(evidence));
  add(claim_slowdown(evidence));
  std::ranges::move(claim_requirements(evidence), std::back_inserter(findings));
  add(claim_pinning(evidence));
  add(claim_bad_files(evidence));
  for (Finding& finding : findings) {
    finding.claim += '.';
  }
  choose_headlines(findings);
  expand_au(findings);
  return findings;
}

}  // namespace bench::sweeps
