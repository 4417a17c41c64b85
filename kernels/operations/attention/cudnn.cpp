// Attention by cuDNN's fused kernels: no scores and no probabilities are in memory. The forward pass keeps a
// number for each row, from which the gradient computes them again (Dao et al. 2022, arXiv:2205.14135).
//
// The first plan in the heuristics' order that can be built is taken untimed: all of them are compiled at run
// time, which takes longer than what a better one would save.
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels::cudnn {
namespace {

constexpr std::int64_t kWorkspaceCap = std::int64_t{1} << 30;
// So many favourites may be built before the last one, until one of them can be.
constexpr std::size_t kFavourites = 4;

// "engine 6: tensor cores, compiled at run time; …"
std::string notes_of(std::span<const Plan> plans) {
  std::string notes;
  for (const Plan& plan : plans) {
    notes += fmt::format("{}engine {}: {}", notes.empty() ? "" : "; ", plan.engine, notes_of(plan));
  }
  return notes;
}

// The favourites, and the last one for where none of them can be built. Any that is known: the graph itself
// says that sums are in fp32, and without a fused kernel attention is expected to take several times as long.
// Throws Unsupported where there is none.
Candidates listed(const Attention& spec, cuda::Card& card) {
  const std::shared_ptr<Plans> plans = plans_for(spec, card);
  Candidates candidates =
      candidates_of(plans, spec.dtype, kWorkspaceCap, kFavourites, false, is_known, kFavourites);
  if (candidates.all.empty()) {
    throw Unsupported(fmt::format("none of cuDNN's plans for {} can be used ({})", described(spec),
                                  notes_of(plans->list())));
  }
  return candidates;
}

class CudnnAttention final : public ReferenceOf<Attention> {
 public:
  CudnnAttention(const Attention& spec, cuda::Card& card)
      : ReferenceOf(spec), card_(card), listed_(listed(spec, card)), usable_(listed_.all) {
    if (!spec.forward()) {
      query_sums_at_ = cuda::before_library_scratch(spec.saved_bytes());  // a number for each row too
      library_at_ =
          query_sums_at_ + cuda::before_library_scratch(spec.dst().elements() * bytes_of(Dtype::fp32));
    }
    if (library_at_ + listed_.workspace > 0) {
      slots_.push_back(cuda::library_scratch(library_at_ + listed_.workspace));
    }
  }

  void prepare() override {
    if (!prepared_) {
      usable_ = prepared(listed_.all, listed_.workspace, described(spec_), CompileBudget::of(card_),
                         std::chrono::nanoseconds(0));
      prepared_ = true;
    }
  }
  // Fused in front: without cuDNN's kernels attention is a row of products.
  std::string algorithm() const override {
    return "fused attention " + usable_.front().plans->name(usable_.front().plan);
  }

  void run(const SlotPointers& pointers) override {
    PlanArguments arguments;
    auto* const scratch = static_cast<std::byte*>(pointers[Slot::workspace]);
    arguments[kQuery] = part_of(spec_, pointers, kAttentionInputs, 0);
    arguments[kKey] = part_of(spec_, pointers, kAttentionInputs, 1);
    arguments[kValue] = part_of(spec_, pointers, kAttentionInputs, 2);
    arguments[kOut] = pointers[Slot::dst];
    arguments[kStatistics] = pointers[Slot::saved];
    if (!spec_.forward()) {
      arguments[kDiffOut] = pointers[Slot::diff_dst];
      arguments[kDiffQuery] = part_of(spec_, pointers, kAttentionGradients, 0);
      arguments[kDiffKey] = part_of(spec_, pointers, kAttentionGradients, 1);
      arguments[kDiffValue] = part_of(spec_, pointers, kAttentionGradients, 2);
      arguments[kRowSums] = scratch;
      arguments[kDiffQuerySum] = scratch + query_sums_at_;
    }
    arguments.workspace = scratch == nullptr ? nullptr : scratch + library_at_;
    cuda::check_library_scratch(arguments.workspace);
    const Candidate& chosen = usable_.front();
    chosen.plans->run(chosen.plan, card_.stream(), arguments);
    if (!kept_ && !card_.runtime().is_recording(card_.stream())) {
      card_.runtime().check(card_.runtime().synchronize(card_.stream()),
                            "cudaStreamSynchronize after the first attention");
      chosen.plans->keep(chosen.plan);
      kept_ = true;
    }
  }

 private:
  cuda::Card& card_;
  Candidates listed_;
  std::vector<Candidate> usable_;  // those that were built; all until then
  bool prepared_ = false;
  bool kept_ = false;  // the plan, once it has run
  // In the scratch, after the rows' sums.
  std::int64_t query_sums_at_ = 0;
  std::int64_t library_at_ = 0;
};

std::optional<std::string> unsupported(const Attention& spec, const Device& device) {
  if ((spec.training || !spec.forward()) && !spec.statistics) {
    return "cuDNN's attention keeps no probabilities";
  }
  if (auto reason = device.unsupported(spec.dtype)) {
    return reason;
  }
  try {
    cuda::Card& card = cuda::card_of(device);
    if (auto reason = cudnn::unsupported(spec, card.compute_capability(), plan_source().version())) {
      return reason;
    }
    const cuda::Parts parts = parts_of(spec);
    for (const std::int64_t samples : {parts.each, parts.rest}) {
      if (samples > 0) {
        listed(of_samples(spec, samples), card);
      }
    }
    return std::nullopt;
  } catch (const Unsupported& error) {
    return error.what();
  }
}

std::unique_ptr<Operation> make(const Attention& spec, Device& device) {
  const auto make_part = [&](std::int64_t samples) {
    return std::make_unique<CudnnAttention>(of_samples(spec, samples), cuda::card_of(device));
  };
  const cuda::Parts parts = parts_of(spec);
  if (parts.is_whole()) {
    return make_part(spec.batch);
  }
  return std::make_unique<cuda::PartedOperation>(parts, make_part);
}

const Registration<Implementation<Attention>> BENCH_REGISTERED{
    {.name = "cudnn",
     .device_kind = "cuda",
     .preference = 20,
     .unsupported = [](const Attention& spec, const Device& device) { return unsupported(spec, device); },
     .make = make}};

}  // namespace
}  // namespace bench::kernels::cudnn
