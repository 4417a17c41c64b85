#include "sweeps/collectives/workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/collectives/exchange.h"

namespace bench::sweeps {
namespace {

// A sample is so many calls in a row that leaving the barrier at different moments does not count.
constexpr double kSampleNs = 300e3;
constexpr double kMostCalls = 1000;
constexpr int kCalibratingSteps = 3;  // the first ones open connections

class CollectiveWorkload final : public Workload {
 public:
  CollectiveWorkload(const CollectiveParams& params, std::size_t point, std::shared_ptr<RankTeam> team)
      : params_(params), team_(std::move(team)) {
    team_->prepare(point, number_);
  }
  ~CollectiveWorkload() override { team_->release(number_); }

  void step() override { timed(1); }

  std::int64_t timed_step(Device& /*device*/) override {
    const double slowest_ns = timed(calls_);
    if (steps_ < kCalibratingSteps) {
      ++steps_;
      calls_ = std::llround(std::clamp(kSampleNs / std::max(1.0, slowest_ns), 1.0, kMostCalls));
    }
    return std::max<std::int64_t>(1, std::llround(slowest_ns));
  }

  std::shared_ptr<const SampleNote> note() const override { return note_; }

  Verification verify() override {
    const std::vector<double> wrong = first_figures(team_->verify(number_));
    std::vector<std::string> ranks;
    for (std::size_t rank = 0; rank < wrong.size(); ++rank) {
      if (wrong[rank] > 0) {
        ranks.push_back(fmt::format("{} of rank {}", wrong[rank], rank));
      }
    }
    Verification verification;
    verification.passed = ranks.empty();
    verification.error =
        std::accumulate(wrong.begin(), wrong.end(), 0.0) / static_cast<double>(params_.bytes);
    verification.detail =
        fmt::format("every rank's result is exactly what whole numbers give{}",
                    ranks.empty() ? "" : fmt::format("; wrong values: {}", fmt::join(ranks, ", ")));
    return verification;
  }

  Work work() const override { return {.samples = 1, .sample_bytes = static_cast<double>(params_.bytes)}; }

 private:
  static std::vector<double> first_figures(const std::vector<RankAnswer>& answers) {
    std::vector<double> figures;
    for (const RankAnswer& answer : answers) {
      figures.push_back(answer.front());
    }
    return figures;
  }

  // The slowest rank's time: a collective is done when it is done everywhere.
  double timed(std::int64_t calls) {
    const std::vector<double> ns = first_figures(team_->run(number_, calls));
    note_ = std::make_shared<RankTimes>(calls, ns);
    return std::ranges::max(ns);
  }

  CollectiveParams params_;
  std::shared_ptr<RankTeam> team_;
  std::int64_t number_ = 0;  // that the team gave it
  std::int64_t calls_ = 1;
  int steps_ = 0;
  std::shared_ptr<const RankTimes> note_;
};

}  // namespace

Json RankTimes::to_json() const {
  std::vector<std::int64_t> whole;
  for (const double ns : ns_) {
    whole.push_back(std::llround(ns));
  }
  return {{"calls", calls_}, {"rank_ns", whole}};
}

MemoryPlan ConfiguredCollective::plan(Device& /*device*/) const {
  MemoryPlan plan;
  const std::int64_t given = given_bytes(params_.operation, params_.bytes, params_.ranks);
  plan.at_peak[MemoryCategory::input] = given;
  plan.at_peak[MemoryCategory::workspace] =
      buffer_bytes(params_.operation, params_.bytes, params_.ranks) - given;
  plan.peak = plan.at_peak.total();
  plan.in_step = plan.at_peak;
  return plan;
}

std::unique_ptr<Workload> ConfiguredCollective::make(Device& /*device*/) const {
  return std::make_unique<CollectiveWorkload>(params_, point_, team_);
}

}  // namespace bench::sweeps
