#include "kernels/backends/cudnn/plans.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/lru_cache.h"
#include "bench/registry.h"

namespace bench::kernels::cudnn {
namespace {

// Plans, or why there are none.
struct Answer {
  std::shared_ptr<Plans> plans;
  std::string refusal;
};

// Plans of which each call that finds no memory is tried again: see cuda::Card::with_memory().
class RetriedPlans final : public Plans {
 public:
  RetriedPlans(std::unique_ptr<Plans> plans, const cuda::Card& card)
      : plans_(std::move(plans)), card_(card) {}

  std::span<const Plan> list() const override { return plans_->list(); }
  std::string name(std::size_t plan) const override { return plans_->name(plan); }
  std::optional<std::int64_t> build(std::size_t plan) override {
    return card_.with_memory([&] { return plans_->build(plan); });
  }
  std::string last_refusal() const override { return plans_->last_refusal(); }
  void run(std::size_t plan, CUstream_st* stream, const PlanArguments& arguments) override {
    card_.with_memory([&] { plans_->run(plan, stream, arguments); });
  }

 private:
  std::unique_ptr<Plans> plans_;
  const cuda::Card& card_;
};

std::unique_ptr<Plans> list(const Convolution& convolution, cuda::Card& card) {
  return plan_source().plans(convolution, card);
}
std::unique_ptr<Plans> list(const AttentionPass& pass, cuda::Card& card) {
  return plan_source().attention_plans ? plan_source().attention_plans(pass, card)
                                       : throw Unsupported("this program has no attention by cuDNN");
}

template <class Graph>
Answer ask(const Graph& graph, cuda::Card& card) {
  try {
    auto plans = card.with_memory([&] { return list(graph, card); });
    return {std::make_shared<RetriedPlans>(std::move(plans), card), {}};
  } catch (const Unsupported& error) {
    return {nullptr, error.what()};
  }
}

// Kept by a card.
template <class Graph>
struct KnownPlans {
  explicit KnownPlans(const cuda::Card& /*card*/) {}
  LruCache<Graph, Answer> known{kMostKept};
};

template <class Graph>
std::shared_ptr<Plans> known_plans(const Graph& graph, cuda::Card& card) {
  const int newest = plan_source().newest_capability();
  const int capability = card.compute_capability();
  if (capability < 75 || capability > newest) {
    throw Unsupported(fmt::format("cuDNN {} knows compute capabilities 7.5 to {}.{}, this device has {}.{}",
                                  plan_source().version(), newest / 10, newest % 10, capability / 10,
                                  capability % 10));
  }
  const Answer& answer = card.keep<KnownPlans<Graph>>()->known.get(graph, [&] { return ask(graph, card); });
  if (answer.plans == nullptr) {
    throw Unsupported(answer.refusal);
  }
  return answer.plans;
}

}  // namespace

const PlanSource& plan_source() {
  const PlanSource* const source = registry<PlanSource>().find("cudnn");
  if (source == nullptr) {
    throw Unsupported("this program was built without cuDNN");
  }
  return *source;
}

std::shared_ptr<Plans> plans_for(const Convolution& convolution, cuda::Card& card) {
  return known_plans(convolution, card);
}

std::shared_ptr<Plans> plans_for(const AttentionPass& pass, cuda::Card& card) {
  return known_plans(pass, card);
}

}  // namespace bench::kernels::cudnn
