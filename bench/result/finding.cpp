#include "bench/result/finding.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace bench {

Finding& Finding::set(const Ratio& ratio) {
  if (!ratio.is_predicted()) {
    return set(Estimate{.value = ratio.value, .ci95 = ratio.interval});
  }
  value = ratio.value;
  details["interval80"] = {ratio.low(), ratio.high()};
  return *this;
}

std::string with_origin(std::string_view origin, std::string_view claim) {
  std::string begun = fmt::format("{}: {}", origin, claim);
  const auto is_capital = [&](std::size_t at) {
    return at < claim.size() && claim[at] >= 'A' && claim[at] <= 'Z';
  };
  const bool is_abbreviation = is_capital(1) || (claim.size() > 1 && claim[1] >= '0' && claim[1] <= '9');
  if (is_capital(0) && !is_abbreviation) {
    char& first = begun[begun.size() - claim.size()];
    first = static_cast<char>(first - 'A' + 'a');
  }
  return begun;
}

const Finding* find_finding(const std::vector<Finding>& findings, std::string_view name) {
  const auto found = std::ranges::find(findings, name, &Finding::name);
  return found == findings.end() ? nullptr : &*found;
}

const Finding* find_finding(const std::vector<Finding>& findings, std::string_view name,
                            std::string_view series) {
  const Finding* const found = find_finding(findings, fmt::format("{}/{}", name, series));
  return found != nullptr ? found : find_finding(findings, name);
}

std::optional<double> find_value(const std::vector<Finding>& findings, std::string_view name) {
  const Finding* const found = find_finding(findings, name);
  return found == nullptr ? std::nullopt : found->value;
}

std::vector<const Finding*> find_findings(const std::vector<Finding>& findings, std::string_view prefix) {
  std::vector<const Finding*> found;
  for (const Finding& finding : findings) {
    if (finding.name.starts_with(prefix)) {
      found.push_back(&finding);
    }
  }
  return found;
}

void set_headlines(std::vector<Finding>& findings, const std::vector<std::string>& names,
                   bool without_values) {
  for (Finding& finding : findings) {
    finding.headline = 0;  // of an earlier choice
  }
  int next = 1;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(findings, name, &Finding::name);
    const bool says_enough = at != findings.end() && (at->value || without_values || name == names.front());
    if (says_enough && at->headline == 0 && next <= kHeadlines) {
      at->headline = next++;
    }
  }
}

}  // namespace bench
