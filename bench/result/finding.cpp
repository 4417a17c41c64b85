#include "bench/result/finding.h"

#include <algorithm>
#include <cstddef>

namespace bench {

void set_headlines(std::vector<Finding>& findings, const std::vector<std::string>& names,
                   bool without_values) {
  int next = 1;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(findings, name, &Finding::name);
    const bool says_enough = at != findings.end() && (at->value || without_values || name == names.front());
    if (says_enough && at->headline == 0 && next <= kHeadlines) {
      at->headline = next++;
    }
  }
}

std::string advice_after_interrupt(std::string text) {
  for (const std::string_view advice : {kGiveTime, kMeasureLarger}) {
    for (std::size_t at = text.find(advice); at != std::string::npos; at = text.find(advice, at)) {
      text.replace(at, advice.size(), kGoOn);
    }
  }
  return text;
}

}  // namespace bench
