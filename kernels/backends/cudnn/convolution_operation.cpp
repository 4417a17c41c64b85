#include "kernels/backends/cudnn/convolution_operation.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/backends/cuda/autotune.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/operations/elementwise/bias.h"

namespace bench::kernels::cudnn {
namespace {

constexpr std::size_t kMostTried = 8;

// The plans of a convolution with everything fused that it asks for: shared by all operations of that work on
// a card.
struct Tuning {
  Candidates listed;
  std::vector<Candidate> usable;  // those that were built; all until then
  bool prepared = false;
  bool remembered_alone = false;  // only the choice that the card remembers was built
  cuda::AutotunedChoice choice;
};

// Throws Unsupported where cuDNN has no plan that keeps the dtype's promise.
Candidates listed_bare(const Conv2d& all, std::int64_t cap, cuda::Card& card) {
  Candidates candidates = candidates_of(plans_for(bare(all), card), all.dtype, cap, kMostTried, fuses(all));
  if (candidates.all.empty()) {
    throw Unsupported(fmt::format("cuDNN has no plan for {} that computes in {}", described(all),
                                  all.dtype == Dtype::fp32 ? "fp32 without tensor cores" : "fp32"));
  }
  return candidates;
}

// None where cuDNN has none.
Candidates listed_fused(const Conv2d& all, std::int64_t cap, cuda::Card& card) {
  try {
    return candidates_of(plans_for(all, card), all.dtype, cap, kMostTried);
  } catch (const Unsupported&) {  // the bare convolution may do
    return {};
  }
}

const Plan& plan_of(const Candidate& candidate) {
  return candidate.plans->list()[candidate.plan];
}

std::ptrdiff_t on_best_units(const Candidates& candidates, Dtype dtype) {
  return std::ranges::count_if(candidates.all, [&](const Candidate& candidate) {
    return !candidate.reserve && uses_best_units(plan_of(candidate), dtype);
  });
}

// The favourites of the bare convolution within the workspace; also the first on the best units if none of
// them is.
Candidates favourites(const Candidates& bare, Dtype dtype, std::int64_t most_workspace) {
  constexpr std::size_t kMostBare = 4;
  Candidates chosen;
  for (const Candidate& candidate : bare.all) {
    const Plan& plan = plan_of(candidate);
    const bool is_wanted =
        chosen.all.size() < kMostBare || (uses_best_units(plan, dtype) && on_best_units(chosen, dtype) == 0);
    if (!candidate.reserve && plan.workspace <= most_workspace && is_wanted) {
      chosen.all.push_back(candidate);
      chosen.workspace = std::max(chosen.workspace, plan.workspace);
    }
  }
  return chosen;
}

// The fused plans and the bare convolution's favourites, which come first if only they are on the best units.
Candidates both(const Candidates& fused, const Candidates& bare, Dtype dtype) {
  const Candidates add = favourites(bare, dtype, std::max(fused.workspace, kMostBareWorkspace));
  Candidates all{.all = fused.all, .workspace = std::max(fused.workspace, add.workspace)};
  const bool leads = on_best_units(fused, dtype) == 0 && on_best_units(add, dtype) > 0;
  all.all.insert(leads ? all.all.begin() : std::ranges::find(all.all, true, &Candidate::reserve),
                 add.all.begin(), add.all.end());
  return all;
}

std::shared_ptr<Tuning> tuning_for(const Conv2d& spec, cuda::Card& card) {
  const Conv2d all = fused(spec);
  return card.keep<cuda::KeptAnswers<Conv2d, std::shared_ptr<Tuning>>>()->get(all, [&] {
    const Candidates candidates = listed(all, card);
    return std::make_shared<Tuning>(Tuning{
        .listed = candidates,
        .usable = candidates.all,
        .choice = {card, fmt::format("cudnn {}, workspace cap {}", described(all), workspace_cap(all))}});
  });
}

// A card's page-locked host memory for a tensor's bytes, the same for every convolution: locking takes longer
// than copying. It grows to the largest.
struct PinnedCopy {
  explicit PinnedCopy(const cuda::Card& /*card*/) {}
  cuda::PinnedBuffer buffer;
};

// A tensor's bytes, from now until they are restored. A plan has no room for them: they may be a third of
// what a network's step takes, and are needed once. They lie in memory that the card keeps and nothing uses,
// else in the host's.
class SavedTensor {
 public:
  // Throws OutOfMemory where the host cannot lock so much. Of 0 bytes nothing is saved.
  SavedTensor(cuda::Card& card, void* tensor, std::int64_t bytes)
      : card_(card),
        tensor_(tensor),
        bytes_(bytes),
        block_(card.allocator().take_kept(bytes)),
        copy_(block_) {
    if (block_ == nullptr && bytes > 0) {
      cuda::PinnedBuffer& pinned = card.keep<PinnedCopy>()->buffer;
      if (pinned.bytes() < bytes) {
        pinned.reset();
        pinned = cuda::PinnedBuffer(card.runtime(), bytes);
      }
      copy_ = pinned.data();
    }
    copy(copy_, tensor_);
  }
  SavedTensor(const SavedTensor&) = delete;
  SavedTensor& operator=(const SavedTensor&) = delete;
  ~SavedTensor() { card_.allocator().free(block_); }

  void restore() const {
    copy(tensor_, copy_);
    card_.runtime().check(card_.runtime().synchronize(card_.stream()), "cudaStreamSynchronize");
  }

 private:
  void copy(void* to, const void* from) const {
    if (bytes_ > 0) {
      card_.runtime().check(card_.runtime().copy(to, from, static_cast<std::size_t>(bytes_), card_.stream()),
                            "cudaMemcpyAsync of a residual");
    }
  }

  cuda::Card& card_;
  void* tensor_;
  std::int64_t bytes_;
  std::byte* block_;  // of the card's allocator; may be nullptr
  std::byte* copy_;
};

// Sums in a narrower type are named: the answer is less exact, as PyTorch's is.
std::string name_of(const Candidate& candidate, Dtype dtype) {
  return fmt::format(
      "{}{}{}", candidate.plans->name(candidate.plan),
      plan_of(candidate).narrows_sums ? fmt::format(", partial sums in {}", name_of(dtype)) : "",
      candidate.bare ? " + epilogue" : "");
}

cuda::Matrix matrix_of(const TensorDesc& tensor) {
  return {.rows = tensor.n * tensor.h * tensor.w, .columns = tensor.c, .dtype = tensor.dtype};
}

class ConvolutionOperation final : public ReferenceOperation {
 public:
  ConvolutionOperation(const Conv2d& spec, const ConvolutionSlots& names, cuda::Card& card);

  void prepare() override;
  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    slot == names_.w ? store(weights(), plain, packed) : ReferenceOperation::pack(slot, plain, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    slot == names_.w ? load(weights(), packed, plain) : ReferenceOperation::unpack(slot, packed, plain);
  }
  void run(const SlotPointers& pointers) override;
  // Whether the residual may be read from where the result is written.
  bool in_place_sum() const override { return spec_.residual && !tuning_->usable.front().bare; }
  // Of the plan that was chosen, as algorithm(); of the favourite until then.
  double flops() const override {
    return 2.0 * static_cast<double>(spec_.macs()) * share_of_products(plan_of(chosen()), spec_);
  }
  std::string algorithm() const override { return name_of(chosen(), spec_.dtype); }

 private:
  const Candidate& chosen() const { return tuning_->usable[tuning_->choice.candidate()]; }
  void build(const std::vector<Candidate>& candidates);
  std::vector<Candidate> built(const std::vector<Candidate>& candidates) const {
    const auto bound = card_.autotunes() ? kMostBuilding : std::chrono::nanoseconds(0);
    return prepared(candidates, tuning_->listed.workspace, described(fused(spec_)), CompileBudget::of(card_),
                    bound);
  }
  void convolve(const SlotPointers& pointers);
  void queue(std::size_t candidate, const SlotPointers& pointers) const;
  std::optional<std::size_t> choose(const SlotPointers& pointers);

  // cuDNN takes a bias of the dtype: a wider one is narrowed in front of the library's scratch.
  bool narrows_bias() const {
    return spec_.bias && names_.wide_bias && spec_.direction == Direction::forward &&
           bytes_of(spec_.dtype) < bytes_of(Dtype::fp32);
  }
  std::int64_t narrow_bias_bytes() const {
    return cuda::before_library_scratch(spec_.out_channels * bytes_of(spec_.dtype));
  }
  // Plain weights are those of a tensor in NCHW order.
  TensorDesc weights() const {
    return {.n = spec_.out_channels,
            .c = spec_.in_channels / spec_.groups,
            .h = spec_.kernel_h,
            .w = spec_.kernel_w,
            .layout = Layout::nhwc,
            .dtype = spec_.dtype};
  }
  TensorDesc biased() const { return names_.transposed ? spec_.src() : spec_.dst(); }

  Conv2d spec_;
  ConvolutionSlots names_;
  cuda::Card& card_;
  std::shared_ptr<Tuning> tuning_;
};

ConvolutionOperation::ConvolutionOperation(const Conv2d& spec, const ConvolutionSlots& names,
                                           cuda::Card& card)
    : spec_(spec), names_(names), card_(card), tuning_(tuning_for(spec, card)) {
  const bool writes_x = spec.direction == Direction::backward_data;
  const bool writes_w = spec.direction == Direction::backward_weights;
  std::int64_t workspace = tuning_->listed.workspace + (narrows_bias() ? narrow_bias_bytes() : 0);
  if (writes_x) {
    add_activation(names.y, Role::input, spec.dst());
  } else {
    add_activation(names.x, Role::input, spec.src());
  }
  if (writes_w) {
    add_activation(names.y, Role::input, spec.dst());
  }
  const Role parameter = writes_w ? Role::output : Role::parameter;
  add_values(names.w, parameter, spec.weight_count(), spec.dtype);
  if (names.bias) {
    add_values(writes_w ? Slot::diff_bias : Slot::bias, parameter, biased().c,
               names.wide_bias ? Dtype::fp32 : spec.dtype);
  }
  if (spec.residual) {
    add_activation(Slot::src1, Role::input, spec.dst());
  }
  if (writes_x) {
    add_activation(names.x, Role::output, spec.src());
  } else if (!writes_w) {
    add_activation(names.y, Role::output, spec.dst());
  } else if (names.bias) {
    workspace = std::max(workspace, cuda::column_sums_scratch(matrix_of(biased())));
  }
  if (workspace > 0) {
    slots_.push_back(cuda::library_scratch(workspace));
  }
}

// A bare convolution would overwrite a residual in the memory of its result, which is how memory is planned
// where plans fuse the residual.
void ConvolutionOperation::prepare() {
  if (tuning_->prepared) {
    return;
  }
  const Candidates candidates = tuning_->listed;
  const bool may_split = fuses(fused(spec_)) && !candidates.all.front().bare && !spec_.residual;
  try {
    build(candidates.all);
  } catch (const Unsupported&) {
    if (!may_split) {
      throw;
    }
    build(listed_bare(fused(spec_), candidates.workspace, card_).all);
  }
  tuning_->prepared = true;
}

// Only the candidate that the card remembers, if it can be built.
void ConvolutionOperation::build(const std::vector<Candidate>& candidates) {
  Tuning& tuning = *tuning_;
  const auto remembered = tuning.choice.remembered(
      candidates.size(), [&](std::size_t candidate) { return name_of(candidates[candidate], spec_.dtype); });
  if (remembered) {
    try {
      tuning.usable = built({candidates[*remembered]});
      tuning.remembered_alone = true;
      tuning.choice.take(0);
    } catch (const Unsupported&) {
      tuning.choice.forget();
    } catch (const OutOfMemory&) {  // of another there may be enough
      tuning.choice.set_aside();
    }
  }
  if (!tuning.remembered_alone) {
    tuning.usable = built(candidates);
  }
  tuning.listed.all = candidates;
}

void ConvolutionOperation::run(const SlotPointers& pointers) {
  convolve(pointers);
  if (!names_.bias) {
    return;
  }
  void* const side = pointers[names_.transposed ? names_.x : names_.y];
  if (spec_.direction == Direction::backward_weights) {
    cuda::column_sums(card_, matrix_of(biased()), side, static_cast<float*>(pointers[Slot::diff_bias]),
                      pointers[Slot::workspace]);
  } else if (names_.transposed) {
    cuda::epilogue(card_, {.dst = matrix_of(biased()), .wide_bias = names_.wide_bias}, side,
                   pointers[Slot::bias], nullptr);
  }
}

void ConvolutionOperation::convolve(const SlotPointers& pointers) {
  cuda::AutotunedChoice& choice = tuning_->choice;
  if (choice.is_settled()) {
    queue(choice.candidate(), pointers);
    return;
  }
  choice.run(
      {.queue = [&](std::size_t candidate) { queue(candidate, pointers); },
       .choose = [&] { return choose(pointers); },
       .name = [&](std::size_t candidate) { return name_of(tuning_->usable[candidate], spec_.dtype); }});
  if (choice.is_settled()) {
    chosen().plans->keep(chosen().plan);
  }
}

void ConvolutionOperation::queue(std::size_t candidate, const SlotPointers& pointers) const {
  const Candidate& chosen = tuning_->usable[candidate];
  auto* workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
  PlanArguments given;
  given[kX] = pointers[names_.x];
  given[kW] = pointers[names_.w];
  given[kY] = pointers[names_.y];
  given[kBias] = pointers[Slot::bias];
  given[kResidual] = pointers[Slot::src1];
  if (narrows_bias()) {
    given[kBias] = workspace;
    workspace += narrow_bias_bytes();
    if (!chosen.bare) {
      cuda::narrow(card_, static_cast<const float*>(pointers[Slot::bias]), given[kBias], spec_.out_channels,
                   spec_.dtype);
    }
  }
  given.workspace = workspace;
  cuda::check_library_scratch(workspace);
  chosen.plans->run(chosen.plan, card_.stream(), given);
  if (chosen.bare) {
    cuda::epilogue(
        card_, {.dst = matrix_of(spec_.dst()), .activation = spec_.activation, .wide_bias = narrows_bias()},
        given[kY], spec_.bias ? pointers[Slot::bias] : nullptr, spec_.residual ? given[kResidual] : nullptr);
  }
}

// Each run adds onto a residual in the memory of the result. Where the host cannot lock memory for a copy of
// it, nothing is timed: nullopt.
std::optional<std::size_t> ConvolutionOperation::choose(const SlotPointers& pointers) {
  if (std::exchange(tuning_->remembered_alone, false)) {
    tuning_->usable = built(tuning_->listed.all);
  }
  if (tuning_->usable.size() == 1) {
    return 0;
  }
  void* const residual = pointers[Slot::src1];
  const bool overwritten = spec_.residual && residual == pointers[names_.y];
  std::optional<SavedTensor> saved;
  try {
    saved.emplace(card_, residual, overwritten ? spec_.dst().bytes() : 0);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
  // A plan may still be refused when it runs.
  const std::size_t best = cuda::autotune(card_.runtime(), card_.stream(), tuning_->usable.size(),
                                          [&](std::size_t candidate) { queue(candidate, pointers); });
  saved->restore();
  return best;
}

}  // namespace

Candidates listed(const Conv2d& all, cuda::Card& card) {
  const std::int64_t cap = workspace_cap(all);
  Candidates fused = fuses(all) ? listed_fused(all, cap, card) : Candidates{};
  if (fused.all.empty()) {
    return listed_bare(all, cap, card);
  }
  if (on_best_units(fused, all.dtype) >= std::ptrdiff_t{kEnough}) {
    return fused;
  }
  try {
    Candidates bare = listed_bare(all, cap, card);
    if (!all.residual) {
      return both(fused, bare, all.dtype);
    }
    return on_best_units(fused, all.dtype) == 0 && on_best_units(bare, all.dtype) > 0 ? bare : fused;
  } catch (const Unsupported&) {
    return fused;
  }
}

std::optional<std::string> unsupported(const Conv2d& spec, const Device& device) {
  try {
    plan_source();
    cuda::Card& card = cuda::card_of(device);
    auto reason = unsupported(spec, card.compute_capability());
    if (!reason) {
      const cuda::Parts parts = parts_of(spec);
      for (const std::int64_t samples : {parts.each, parts.rest}) {
        if (samples > 0) {
          tuning_for(of_samples(spec, samples), card);
        }
      }
    }
    return reason;
  } catch (const Unsupported& error) {
    return error.what();
  }
}

// Gradients of parts are added in the dtype they are stored in.
std::unique_ptr<Operation> make_convolution(const Conv2d& spec, const ConvolutionSlots& names,
                                            Device& device) {
  cuda::Card& card = cuda::card_of(device);
  const auto make = [&](std::int64_t samples) {
    return std::make_unique<ConvolutionOperation>(of_samples(spec, samples), names, card);
  };
  const cuda::Parts parts = parts_of(spec);
  if (parts.is_whole()) {
    return make(spec.batch);
  }
  const auto add = [&card, dtype = spec.dtype](const SlotInfo& slot, void* sum, const void* summand) {
    const bool wide = slot.bytes == slot.plain_count * bytes_of(Dtype::fp32);
    const cuda::Matrix row{.rows = 1, .columns = slot.plain_count, .dtype = wide ? Dtype::fp32 : dtype};
    cuda::epilogue(card, {.dst = row}, sum, nullptr, summand);
  };
  return std::make_unique<cuda::PartedOperation>(parts, make, add);
}

}  // namespace bench::kernels::cudnn
