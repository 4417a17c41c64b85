#include "kernels/backends/cudnn/tuned.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/lru_cache.h"
#include "kernels/backends/cuda/autotune.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/operations/elementwise/bias.h"

namespace bench::kernels::cudnn {
namespace {

constexpr std::size_t kMostTried = 8;

}  // namespace

struct ConvolutionTuning {
  std::vector<Candidate> candidates;
  std::int64_t workspace = 0;
  bool prepared = false;
  std::optional<std::size_t> best;
};

namespace {

// None where no plan keeps the dtype's promise. Throws Unsupported where cuDNN has no plan.
ConvolutionTuning listed(const Convolution& convolution, bool bare, std::int64_t cap, cuda::Card& card) {
  const std::shared_ptr<Plans> plans = plans_for(convolution, card);
  const Selection selection = select(plans->list(), convolution.dtype, cap, kMostTried);
  ConvolutionTuning tuning;
  tuning.workspace = selection.workspace;
  for (const std::size_t plan : selection.plans) {
    tuning.candidates.push_back({.plans = plans, .plan = plan, .bare = bare, .reserve = false});
  }
  if (selection.reserve) {
    tuning.candidates.push_back({.plans = plans, .plan = *selection.reserve, .bare = bare, .reserve = true});
  }
  return tuning;
}

ConvolutionTuning listed_bare(const Conv2d& spec, std::int64_t cap, cuda::Card& card) {
  const Convolution all = fused(spec);
  ConvolutionTuning tuning = listed(bare(spec), all.fuses(), cap, card);
  if (tuning.candidates.empty()) {
    throw Unsupported(fmt::format("cuDNN has no plan for {} that computes in {}", described(all),
                                  spec.dtype == Dtype::fp32 ? "fp32 without tensor cores" : "fp32"));
  }
  return tuning;
}

ConvolutionTuning candidates_for(const Conv2d& spec, cuda::Card& card) {
  const Convolution all = fused(spec);
  if (all.fuses()) {
    try {
      ConvolutionTuning tuning = listed(all, false, workspace_cap(all), card);
      if (!tuning.candidates.empty()) {
        return tuning;
      }
    } catch (const Unsupported&) {  // the bare convolution may do
    }
  }
  return listed_bare(spec, workspace_cap(bare(spec)), card);
}

// A tensor's bytes in the host's pinned memory, from now until they are restored. A plan has no room for
// them: they may be a third of what a network's step takes, and are needed once.
class SavedTensor {
 public:
  // Throws OutOfMemory where the host cannot lock so much. Of 0 bytes nothing is saved.
  SavedTensor(cuda::Runtime& runtime, CUstream_st* stream, void* tensor, std::int64_t bytes)
      : runtime_(runtime), stream_(stream), tensor_(tensor), saved_(runtime, bytes) {
    copy(saved_.data(), tensor_);
  }
  void restore() const {
    copy(tensor_, saved_.data());
    runtime_.check(runtime_.synchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  void copy(void* to, const void* from) const {
    if (saved_.bytes() > 0) {
      runtime_.check(runtime_.copy(to, from, static_cast<std::size_t>(saved_.bytes()), stream_),
                     "cudaMemcpyAsync of a residual");
    }
  }

  cuda::Runtime& runtime_;
  CUstream_st* stream_;
  void* tensor_;
  cuda::PinnedBuffer saved_;
};

std::string name_of(const Candidate& candidate) {
  return candidate.plans->name(candidate.plan) + (candidate.bare ? " + finish" : "");
}

// Kept by a card; the key is the convolution with everything fused.
struct ConvolutionTunings {
  explicit ConvolutionTunings(const cuda::Card& /*card*/) {}
  LruCache<Convolution, std::shared_ptr<ConvolutionTuning>> known{kMostKept};
};

}  // namespace

std::optional<std::string> unsupported(const Conv2d& spec, const Device& device) {
  try {
    plan_source();
    cuda::Card& card = cuda::card_of(device);
    auto reason = unsupported(spec, card.compute_capability());
    if (!reason) {
      const cuda::Parts parts = parts_of(spec);
      const TunedConvolution planned(of_samples(spec, parts.each), card);
      if (parts.rest > 0) {
        const TunedConvolution planned_rest(of_samples(spec, parts.rest), card);
      }
    }
    return reason;
  } catch (const Unsupported& error) {
    return error.what();
  }
}

TunedConvolution::TunedConvolution(const Conv2d& spec, cuda::Card& card)
    : spec_(spec), card_(card), tuning_(card.keep<ConvolutionTunings>()->known.get(fused(spec), [&] {
        return std::make_shared<ConvolutionTuning>(candidates_for(spec, card));
      })) {}

bool TunedConvolution::in_place_sum() const {
  return spec_.residual && !tuning_->candidates.front().bare;
}

bool TunedConvolution::narrows_bias() const {
  return spec_.bias && spec_.training && spec_.direction == Conv2d::Direction::forward &&
         bytes_of(spec_.dtype) < bytes_of(Dtype::fp32);
}

std::int64_t TunedConvolution::narrow_bias_bytes() const {
  return cuda::before_library_scratch(spec_.out_channels * bytes_of(spec_.dtype));
}

std::int64_t TunedConvolution::workspace() const {
  const std::int64_t bias = narrows_bias() ? narrow_bias_bytes() : 0;
  return bias + tuning_->workspace;
}

std::string TunedConvolution::work() const {
  const Convolution all = fused(spec_);
  return fmt::format("cudnn {}, workspace cap {}", described(all), workspace_cap(all));
}

// A bare convolution would overwrite a residual in the memory of its result, which is how memory is planned
// where plans fuse the residual.
void TunedConvolution::prepare() {
  if (tuning_->prepared) {
    return;
  }
  const bool may_split = fused(spec_).fuses() && !tuning_->candidates.front().bare && !spec_.residual;
  try {
    build(tuning_->candidates);
  } catch (const Unsupported&) {
    if (!may_split) {
      throw;
    }
    build(listed_bare(spec_, tuning_->workspace, card_).candidates);
  }
  // Shared with later operations of the same convolution.
  tuning_->prepared = true;
}

// Only the candidate that an earlier process chose, if it can be built.
void TunedConvolution::build(const std::vector<Candidate>& candidates) {
  const std::string what = described(fused(spec_));
  const auto chosen = card_.choices().find(
      work(), candidates.size(), [&](std::size_t candidate) { return name_of(candidates[candidate]); });
  if (chosen) {
    try {
      tuning_->candidates = prepared({candidates[*chosen]}, tuning_->workspace, what);
      tuning_->best = 0;
      return;
    } catch (const Unsupported&) {
    } catch (const OutOfMemory&) {  // of another there may be enough
    }
  }
  tuning_->candidates = prepared(candidates, tuning_->workspace, what);
}

void TunedConvolution::queue(std::size_t candidate, CUstream_st* stream,
                             const ConvolutionArguments& arguments) const {
  const Candidate& chosen = tuning_->candidates[candidate];
  PlanArguments given;
  given[kX] = arguments.x;
  given[kW] = arguments.w;
  given[kY] = arguments.y;
  given[kBias] = arguments.bias;
  given[kResidual] = arguments.residual;
  given.workspace = arguments.workspace;
  if (narrows_bias()) {
    given[kBias] = arguments.workspace;
    given.workspace = static_cast<std::byte*>(arguments.workspace) + narrow_bias_bytes();
    if (!chosen.bare) {
      cuda::narrow(stream, static_cast<const float*>(arguments.bias), given[kBias], spec_.out_channels,
                   spec_.dtype);
    }
  }
  cuda::check_library_scratch(given.workspace);
  chosen.plans->run(chosen.plan, stream, given);
  if (chosen.bare) {
    const TensorDesc dst = spec_.dst();
    const cuda::Matrix matrix{.rows = dst.n * dst.h * dst.w, .columns = dst.c, .dtype = dst.dtype};
    cuda::finish(stream, {.dst = matrix, .activation = spec_.activation, .wide_bias = narrows_bias()},
                 arguments.y, spec_.bias ? arguments.bias : nullptr,
                 spec_.residual ? arguments.residual : nullptr);
  }
}

// Each run adds onto a residual in the memory of the result. Where the host cannot lock memory for a copy of
// it, nothing is timed.
std::optional<std::size_t> TunedConvolution::choose(CUstream_st* stream,
                                                    const ConvolutionArguments& arguments) const {
  if (tuning_->candidates.size() == 1) {
    return 0;
  }
  const bool overwritten = spec_.residual && arguments.residual == arguments.y;
  std::optional<SavedTensor> residual;
  try {
    residual.emplace(card_.runtime(), stream, arguments.residual, overwritten ? spec_.dst().bytes() : 0);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
  // A plan may still be refused when it runs.
  const std::size_t best =
      cuda::autotune(card_.runtime(), stream, tuning_->candidates.size(),
                     [&](std::size_t candidate) { queue(candidate, stream, arguments); });
  residual->restore();
  return best;
}

void TunedConvolution::run(CUstream_st* stream, const ConvolutionArguments& arguments) {
  if (!tuning_->best && !card_.runtime().is_recording(stream)) {
    const std::optional<std::size_t> chosen = choose(stream, arguments);
    tuning_->best = chosen.value_or(0);
    if (chosen) {
      card_.choices().add(work(), algorithm());
    }
  }
  queue(tuning_->best.value_or(0), stream, arguments);
}

std::string TunedConvolution::algorithm() const {
  return name_of(tuning_->candidates[tuning_->best.value_or(0)]);
}

}  // namespace bench::kernels::cudnn
