#include "bench/result/shared_cores.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/result/result_json.h"

namespace bench {

std::optional<SharedCores> shared_cores_in(const ResultDocument& document) {
  const Finding* const ranks = find_finding(document.findings, kRanksFinding);
  if (ranks == nullptr || !ranks->details.is_object() || !ranks->details.contains(kTakesTurns)) {
    return std::nullopt;
  }
  return SharedCores{.ranks = whole_member(ranks->details, "ranks_on_first_host"),
                     .threads = std::max<std::int64_t>(1, whole_member(ranks->details, "threads")),
                     .cores = whole_member(ranks->details, "cores")};
}

std::string fewer_in_words(const SharedCores& shared) {
  const std::int64_t fit = std::max<std::int64_t>(1, shared.cores / shared.threads);
  return fmt::format("[start {} rank{} a host]", fit, fit == 1 ? "" : "s");
}

std::string turns_in_words(const SharedCores& shared, std::int64_t ranks) {
  return fmt::format(
      "limit {} ranks: {} of {} thread{} take turns on {}, so that waiting and computing are not told apart "
      "{}.",
      ranks, shared.ranks, shared.threads, shared.threads == 1 ? "" : "s",
      shared.cores == 1 ? "one core" : fmt::format("{} cores", shared.cores), fewer_in_words(shared));
}

}  // namespace bench
