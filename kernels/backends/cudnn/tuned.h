// A convolution with its bias, residual and activation by cuDNN, the plan autotuned.
//
// Candidates are listed when it is made, so that the workspace is known before anything runs: plans that fuse
// everything, and plans of the bare convolution with one kernel of our own behind it. They are built by
// prepare() and timed in the first run, where the tensors' memory is at hand: timing them earlier would need
// memory that no plan of a network's has counted. The card keeps what was found.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::cudnn {

// Why cuDNN cannot compute it on the device; nullopt where it can. Asks cuDNN for its plans.
std::optional<std::string> unsupported(const Conv2d& spec, const Device& device);

struct ConvolutionTuning;  // shared by all convolutions of one description on a card

class TunedConvolution {
 public:
  // Throws Unsupported with the reasons where no plan keeps the dtype's promise.
  TunedConvolution(const Conv2d& spec, cuda::Card& card);

  // Whether the residual may be read from where the result is written.
  bool in_place_sum() const;
  std::int64_t workspace() const;  // bytes, at a multiple of cuda::kLibraryScratchAlignment
  void prepare();
  // `bias` is fp32 in training, else of the dtype.
  void run(Device& device, CUstream_st* stream, const ConvolutionArguments& arguments);
  // The engine and its settings, as cuDNN writes them: the heuristics' favourite until plans were timed.
  std::string algorithm() const;

 private:
  void queue(std::size_t candidate, CUstream_st* stream, const ConvolutionArguments& arguments) const;
  std::size_t choose(Device& device, CUstream_st* stream, const ConvolutionArguments& arguments);
  // The narrowed bias lies in front of the library's scratch.
  bool narrows_bias() const;
  std::int64_t narrow_bias_bytes() const;

  Conv2d spec_;
  cuda::Card& card_;
  std::shared_ptr<ConvolutionTuning> tuning_;
};

}  // namespace bench::kernels::cudnn
