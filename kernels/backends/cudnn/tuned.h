// A convolution with its bias, residual and activation by cuDNN, the plan autotuned.
//
// Candidates are listed when it is made, so that the workspace is known before anything runs: plans that fuse
// everything; where cuDNN has none, plans of the bare convolution with one kernel of our own behind it. They
// are built by prepare() and timed in the first run, where the tensors' memory is at hand: timing them
// earlier would need memory that no plan of a network's has counted. The card keeps what was found.
//
// Where an earlier process chose a candidate, prepare() builds that one alone and nothing is timed. The
// workspace is that of all candidates nevertheless, so that memory does not depend on earlier runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "kernels/backends/cudnn/candidates.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::cudnn {

// Why cuDNN cannot compute it on the device; nullopt where it can. Asks cuDNN for its plans.
std::optional<std::string> unsupported(const Conv2d& spec, const Device& device);

// The device memory of a run. `bias` is fp32 in training, else of the dtype.
struct ConvolutionArguments {
  void* x = nullptr;
  void* w = nullptr;
  void* y = nullptr;
  void* bias = nullptr;
  void* residual = nullptr;
  void* workspace = nullptr;
};

struct ConvolutionTuning;  // shared by all convolutions of one description on a card

class TunedConvolution {
 public:
  // Throws Unsupported with the reasons where no plan keeps the dtype's promise.
  TunedConvolution(const Conv2d& spec, cuda::Card& card);

  // Whether the residual may be read from where the result is written.
  bool in_place_sum() const;
  std::int64_t workspace() const;  // bytes, at a multiple of cuda::kLibraryScratchAlignment
  void prepare();
  void run(CUstream_st* stream, const ConvolutionArguments& arguments);
  // The engine and its settings, as cuDNN writes them: the heuristics' favourite until one was chosen.
  std::string algorithm() const;

 private:
  std::string work() const;  // its name in the card's choices
  void build(const std::vector<Candidate>& candidates);
  void queue(std::size_t candidate, CUstream_st* stream, const ConvolutionArguments& arguments) const;
  // nullopt where nothing can be compared.
  std::optional<std::size_t> choose(CUstream_st* stream, const ConvolutionArguments& arguments) const;
  // The narrowed bias lies in front of the library's scratch.
  bool narrows_bias() const;
  std::int64_t narrow_bias_bytes() const;

  Conv2d spec_;
  cuda::Card& card_;
  std::shared_ptr<ConvolutionTuning> tuning_;
};

}  // namespace bench::kernels::cudnn
