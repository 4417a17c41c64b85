#include "kernels/backends/cudnn/plans.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
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
  void keep_only(std::span<const std::size_t> plans) override { plans_->keep_only(plans); }
  void keep(std::size_t plan) override { plans_->keep(plan); }
  std::string last_refusal() const override { return plans_->last_refusal(); }
  void run(std::size_t plan, CUstream_st* stream, const PlanArguments& arguments) override {
    card_.with_memory([&] { plans_->run(plan, stream, arguments); });
  }

 private:
  std::unique_ptr<Plans> plans_;
  const cuda::Card& card_;
};

std::unique_ptr<Plans> list(const Conv2d& convolution, cuda::Card& card) {
  return plan_source().plans(convolution, card);
}
std::unique_ptr<Plans> list(const Attention& spec, cuda::Card& card) {
  return plan_source().attention_plans ? plan_source().attention_plans(spec, card)
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

template <class Graph>
std::shared_ptr<Plans> known_plans(const Graph& graph, cuda::Card& card) {
  if (const auto unknown = unknown_capability(card.compute_capability())) {
    throw Unsupported(*unknown);
  }
  const Answer& answer =
      card.keep<cuda::KeptAnswers<Graph, Answer>>()->get(graph, [&] { return ask(graph, card); });
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

std::optional<std::string> unknown_capability(int capability) {
  constexpr int kFirst = 75;
  const int newest = plan_source().newest_capability();
  if (capability >= kFirst && capability <= newest) {
    return std::nullopt;
  }
  return fmt::format("cuDNN {} knows compute capabilities 7.5 to {}.{}, this device has {}.{}",
                     plan_source().version(), newest / 10, newest % 10, capability / 10, capability % 10);
}

std::shared_ptr<Plans> plans_for(const Conv2d& convolution, cuda::Card& card) {
  return known_plans(convolution, card);
}

std::shared_ptr<Plans> plans_for(const Attention& spec, cuda::Card& card) {
  return known_plans(spec, card);
}

std::int64_t workspace_cap(const Conv2d& convolution) {
  constexpr std::int64_t kMebibyte = 1024 * 1024;
  const std::int64_t copies = convolution.src().bytes() + convolution.dst().bytes() +
                              convolution.weight_count() * bytes_of(convolution.dtype);
  return std::clamp(copies + 4 * kMebibyte, 32 * kMebibyte, 1024 * kMebibyte);
}

std::string notes_of(const Plan& plan) {
  std::vector<std::string_view> notes;
  const auto add = [&](bool noted, std::string_view note) {
    if (noted) {
      notes.push_back(note);
    }
  };
  add(plan.tensor_cores, "tensor cores");
  add(plan.narrows_inputs, "inputs in a narrower type");
  add(plan.narrows_sums, "partial sums in a narrower type");
  add(plan.winograd_tile > 0, "Winograd");
  add(plan.compiles, "compiled at run time");
  add(plan.unknown, "engine or workspace unknown");
  return notes.empty() ? "nothing" : fmt::format("{}", fmt::join(notes, ", "));
}

// F(m, r) along an axis takes t = m + r − 1 products where the direct algorithm takes m · r.
double share_of_products(const Plan& plan, const Conv2d& convolution) {
  double share = 1;
  for (const std::int64_t filter : {convolution.kernel_h, convolution.kernel_w}) {
    const std::int64_t results = plan.winograd_tile - filter + 1;
    if (results > 0) {
      share *= static_cast<double>(plan.winograd_tile) / static_cast<double>(results * filter);
    }
  }
  return share;
}

bool keeps(const Plan& plan, Dtype dtype) {
  return !plan.unknown && !plan.narrows_inputs && !(plan.narrows_sums && bytes_of(dtype) != 2) &&
         !(dtype == Dtype::fp32 && plan.tensor_cores);
}

bool is_known(const Plan& plan, Dtype /*dtype*/) {
  return !plan.unknown;
}

bool uses_best_units(const Plan& plan, Dtype dtype) {
  return dtype == Dtype::fp32 || plan.tensor_cores;
}

Selection select(std::span<const Plan> plans, Dtype dtype, std::int64_t cap, std::size_t most,
                 Accepts accepts, std::size_t most_compiled) {
  const auto qualifies = [&](const Plan& plan) { return accepts(plan, dtype) && plan.workspace <= cap; };
  const auto ready_made = std::ranges::count_if(plans, [&](const Plan& plan) {
    return qualifies(plan) && !plan.compiles && uses_best_units(plan, dtype);
  });
  const std::size_t may_compile = ready_made >= std::ptrdiff_t{kEnough} ? 0 : most_compiled;
  Selection selection;
  std::optional<std::size_t> leanest;
  std::size_t compiled = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (accepts(plans[i], dtype) && (!leanest || plans[i].workspace < plans[*leanest].workspace)) {
      leanest = i;
    }
    if (!qualifies(plans[i])) {
      continue;
    }
    if (selection.plans.size() < most && (!plans[i].compiles || compiled < may_compile)) {
      selection.plans.push_back(i);
      compiled += plans[i].compiles ? 1 : 0;
    } else {
      selection.reserve = i;
    }
  }
  if (selection.plans.empty() && leanest) {
    selection.plans.push_back(*leanest);
  }
  std::ranges::stable_partition(selection.plans, [&](std::size_t plan) { return !plans[plan].compiles; });
  for (const std::size_t plan : selection.plans) {
    selection.workspace = std::max(selection.workspace, plans[plan].workspace);
  }
  if (selection.reserve) {
    selection.workspace = std::max(selection.workspace, plans[*selection.reserve].workspace);
  }
  return selection;
}

Candidates candidates_of(const std::shared_ptr<Plans>& plans, Dtype dtype, std::int64_t cap, std::size_t most,
                         bool bare, Accepts accepts, std::size_t most_compiled) {
  const Selection selection = select(plans->list(), dtype, cap, most, accepts, most_compiled);
  Candidates candidates{.all = {}, .workspace = selection.workspace};
  const auto add = [&](std::size_t plan, bool reserve) {
    candidates.all.push_back({.plans = plans,
                              .plan = plan,
                              .bare = bare,
                              .reserve = reserve,
                              .compiles = plans->list()[plan].compiles});
  };
  for (const std::size_t plan : selection.plans) {
    add(plan, false);
  }
  if (selection.reserve) {
    add(*selection.reserve, true);
  }
  std::vector<std::size_t> kept;
  std::ranges::transform(candidates.all, std::back_inserter(kept), &Candidate::plan);
  plans->keep_only(kept);
  return candidates;
}

CompileBudget& CompileBudget::of(cuda::Card& card) {
  CompileBudget& kept = *card.keep<CompileBudget>();
  if (kept.workload_ != card.workload()) {
    kept = CompileBudget(card);
  }
  return kept;
}

std::vector<Candidate> prepared(const std::vector<Candidate>& candidates, std::int64_t workspace,
                                std::string_view what, CompileBudget& budget, std::chrono::nanoseconds bound,
                                const Clock& clock) {
  std::exception_ptr full;
  std::optional<Clock::time_point> started;  // the end of the first build
  std::vector<bool> usable(candidates.size());
  const auto is_any_usable = [&] { return std::ranges::find(usable, true) != usable.end(); };
  const auto build = [&](std::size_t at) {
    const Candidate& candidate = candidates[at];
    const bool is_late = started && clock.now() - *started >= bound;
    if (is_any_usable() && (is_late || (candidate.compiles && budget.is_spent()))) {
      return;
    }
    stop_if_interrupted("cuDNN's plans were built");
    const Clock::time_point start = clock.now();
    try {
      const std::optional<std::int64_t> wanted = candidate.plans->build(candidate.plan);
      usable[at] = wanted && *wanted <= workspace;
    } catch (const OutOfMemory&) {  // of another plan there may be enough
      full = std::current_exception();
    }
    if (candidate.compiles) {
      budget.spend(clock.now() - start);
    }
    started = started.value_or(clock.now());
  };
  for (const bool reserve : {false, true}) {
    for (const bool compiles : {false, true}) {
      for (std::size_t at = 0; at < candidates.size() && (!reserve || !is_any_usable()); ++at) {
        if (candidates[at].reserve == reserve && candidates[at].compiles == compiles) {
          build(at);
        }
      }
    }
  }
  std::vector<Candidate> built;
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    if (usable[at]) {
      built.push_back(candidates[at]);
    }
  }
  if (built.empty() && full) {
    std::rethrow_exception(full);
  }
  if (built.empty()) {
    const std::string refusal = candidates.back().plans->last_refusal();
    throw Unsupported(
        fmt::format("cuDNN could build none of its plans for {} in the planned {} B of workspace{}{}", what,
                    workspace, refusal.empty() ? "" : ": ", refusal));
  }
  return built;
}

}  // namespace bench::kernels::cudnn
