#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/lru_cache.h"
#include "kernels/backends/cuda/autotune.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/cudnn/candidates.h"
#include "kernels/backends/cudnn/tuned.h"
#include "kernels/operations/elementwise/bias.h"

namespace bench::kernels::cudnn {
namespace {

constexpr std::size_t kMostTried = 8;
constexpr std::size_t kMostBareTried = 4;  // next to plans that fuse

}  // namespace

struct ConvolutionTuning {
  std::vector<Candidate> candidates;
  std::int64_t workspace = 0;
  bool prepared = false;
  std::optional<std::size_t> best;
};

namespace {

void add_candidates(ConvolutionTuning& tuning, const Convolution& convolution, bool bare, std::size_t most,
                    cuda::Card& card) {
  const std::shared_ptr<Plans> plans = plans_for(convolution, card);
  const Selection selection = select(plans->list(), convolution.dtype, workspace_cap(convolution), most);
  for (const std::size_t plan : selection.plans) {
    tuning.candidates.push_back({.plans = plans, .plan = plan, .bare = bare, .reserve = false});
  }
  if (selection.reserve) {
    tuning.candidates.push_back({.plans = plans, .plan = *selection.reserve, .bare = bare, .reserve = true});
  }
  tuning.workspace = std::max(tuning.workspace, selection.workspace);
}

// A bare convolution would overwrite a residual in the memory of its result, which is how memory is planned:
// where plans fuse the residual, bare ones are not even kept in reserve.
ConvolutionTuning candidates_for(const Conv2d& spec, cuda::Card& card) {
  ConvolutionTuning tuning;
  const Convolution all = fused(spec);
  std::string refusal;
  if (all.fuses()) {
    try {
      add_candidates(tuning, all, false, kMostTried, card);
    } catch (const Unsupported& error) {
      refusal = error.what();
    }
  }
  if (tuning.candidates.empty() || !spec.residual) {
    try {
      const std::size_t most = tuning.candidates.empty() ? kMostTried : kMostBareTried;
      add_candidates(tuning, bare(spec), all.fuses(), most, card);
    } catch (const Unsupported& error) {
      refusal = error.what();
    }
  }
  if (tuning.candidates.empty()) {
    throw Unsupported(refusal.empty()
                          ? fmt::format("cuDNN has no plan for {} that computes in {}", described(all),
                                        spec.dtype == Dtype::fp32 ? "fp32 without tensor cores" : "fp32")
                          : refusal);
  }
  return tuning;
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
      const TunedConvolution planned(spec, card);
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

void TunedConvolution::prepare() {
  if (tuning_->prepared) {
    return;
  }
  // Shared with later operations of the same convolution.
  tuning_->candidates = prepared(tuning_->candidates, tuning_->workspace, described(fused(spec_)));
  tuning_->prepared = true;
}

void TunedConvolution::queue(std::size_t candidate, CUstream_st* stream,
                             const ConvolutionArguments& arguments) const {
  const Candidate& chosen = tuning_->candidates[candidate];
  ConvolutionArguments given = arguments;
  if (narrows_bias()) {
    given.bias = arguments.workspace;
    given.workspace = static_cast<std::byte*>(arguments.workspace) + narrow_bias_bytes();
    if (!chosen.bare) {
      cuda::narrow(stream, static_cast<const float*>(arguments.bias), given.bias, spec_.out_channels,
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

std::size_t TunedConvolution::choose(Device& device, CUstream_st* stream,
                                     const ConvolutionArguments& arguments) {
  if (tuning_->candidates.size() == 1) {
    return 0;
  }
  // Each run adds onto a residual in the memory of the result: a copy on the host restores it.
  std::vector<std::byte> residual;
  if (spec_.residual && arguments.residual == arguments.y) {
    residual.resize(static_cast<std::size_t>(spec_.dst().bytes()));
    device.synchronize();
    device.download(residual.data(), arguments.residual, spec_.dst().bytes());
  }
  // A plan may still be refused when it runs.
  const std::size_t best =
      cuda::autotune(card_.runtime(), stream, tuning_->candidates.size(),
                     [&](std::size_t candidate) { queue(candidate, stream, arguments); });
  if (!residual.empty()) {
    device.upload(arguments.residual, residual.data(), spec_.dst().bytes());
  }
  return best;
}

void TunedConvolution::run(Device& device, CUstream_st* stream, const ConvolutionArguments& arguments) {
  if (!tuning_->best && !card_.runtime().is_recording(stream)) {
    tuning_->best = choose(device, stream, arguments);
  }
  queue(tuning_->best.value_or(0), stream, arguments);
}

std::string TunedConvolution::algorithm() const {
  const Candidate& chosen = tuning_->candidates[tuning_->best.value_or(0)];
  return chosen.plans->name(chosen.plan) + (chosen.bare && fused(spec_).fuses() ? " + finish" : "");
}

}  // namespace bench::kernels::cudnn
