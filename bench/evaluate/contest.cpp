#include "bench/evaluate/contest.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "bench/evaluate/evaluation_words.h"

namespace bench {

Contestant used_contestant(const Evaluation& evaluation, const EvaluatedRow& row) {
  Contestant used{.label = evaluation.device_of(row).label, .point = row.point};
  if (row.feed && row.feed->limit != FeedLimit::device) {
    used.by_loader = row.feed->limit == FeedLimit::loader;
    used.point.per_s = row.feed->per_s;
    used.point.interval = used.by_loader ? evaluation.host->interval : std::nullopt;
    used.point.ratio_deviation.reset();
  }
  return used;
}

Ratio rate_ratio(const Contestant& one, const Contestant& other) {
  return one.by_loader && other.by_loader ? Ratio{.value = 1, .interval = Interval{1, 1}}
                                          : throughput_ratio_of(one.point, other.point);
}

Contest::Contest(std::vector<Contestant> contestants) : ranked_(std::move(contestants)) {
  std::ranges::stable_sort(ranked_, std::ranges::greater{}, &Contestant::score);
}

Ratio Contest::lead_over(std::size_t other) const {
  const Contestant& best = ranked_.front();
  const Contestant& next = ranked_[other];
  return scaled(rate_ratio(best, next), next.cost / best.cost);
}

std::size_t Contest::leaders() const {
  std::size_t leaders = 1;
  while (leaders < ranked_.size() && !lead_over(leaders).differs_from_one()) {
    ++leaders;
  }
  return leaders;
}

std::string Contest::named(std::size_t count) const {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(ranked_[i].label);
  }
  return list_in_words(labels);
}

std::string tie_in_words(const Contest& contest, const std::string& adjective, const std::string& compared) {
  const std::size_t leaders = contest.leaders();
  bool is_close = true;
  for (std::size_t i = 1; i < leaders; ++i) {
    is_close = is_close && contest.lead_over(i).is_about_one();
  }
  return is_close ? fmt::format("{} are about equally {}", contest.named(leaders), adjective)
                  : fmt::format("Cannot tell which of {} is {}", contest.named(leaders), compared);
}

std::string ranking_in_words(const Contest& contest, const std::string& in) {
  const std::string& best = contest[0].label;
  const std::string ratio = ratio_in_words(contest.lead_over(1));
  const std::size_t leaders = contest.leaders();
  const bool several = contest[0].point.cards || contest[1].point.cards;
  const std::string batches =
      contest[0].point.batch == contest[1].point.batch
          ? fmt::format("at batch {}{}", contest[0].point.batch, several ? " a card" : "")
          : fmt::format("at batch {} against {}{}", contest[0].point.batch, contest[1].point.batch,
                        several ? " a card" : "");
  const std::size_t last = contest.size() - 1;
  const std::string slowest =
      last > 1 && leaders <= last
          ? fmt::format("; {} {}, the slowest", ratio_in_words(contest.lead_over(last)), contest[last].label)
          : "";
  if (leaders > 1) {
    return fmt::format("{}{}: {} is {} {}, {}{}.",
                       tie_in_words(contest, "fast", contest.size() == 2 ? "faster" : "fastest"), in, best,
                       ratio, contest[1].label, batches, slowest);
  }
  if (contest.size() == 2) {
    return fmt::format("{} is {} {}{}, {}.", best, ratio, contest[1].label, in, batches);
  }
  return fmt::format("{} is fastest{}: {} {}, the next, {}{}.", best, in, ratio, contest[1].label, batches,
                     slowest);
}

}  // namespace bench
