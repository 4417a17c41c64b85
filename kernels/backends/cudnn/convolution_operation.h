// An operation that is one convolution of cuDNN's with its bias, residual and activation, the plan autotuned.
// Weights are stored as [out][kernel_h][kernel_w][in / groups] in the dtype, alike in every pass.
//
// Candidates are listed when it is made, so that the workspace is known before anything runs: plans that fuse
// everything; where cuDNN has none, plans of the bare convolution with one kernel of our own after it. They
// are built by prepare() and timed in the first run, where the tensors' memory is at hand: timing them
// earlier would need memory that no plan of a network's has counted. The card keeps what was found.
//
// Where the card remembers a choice, prepare() builds that one alone and nothing is timed, unless it fails:
// then the others are built and timed in the first run. The workspace is that of all candidates nevertheless,
// so that memory does not depend on earlier runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/operation.h"

namespace bench::kernels::cudnn {

// The operation's slots of a convolution's three tensors (see graphs.h), and its bias. A transposed
// convolution swaps the passes: it writes x from y.
struct ConvolutionSlots {
  Slot x{}, w{}, y{};
  bool bias = false;        // the bias or its gradient has a slot
  bool wide_bias = false;   // it is stored in fp32, else in the dtype
  bool transposed = false;  // it belongs to the channels of x
};

// Why cuDNN cannot compute it on the device; nullopt where it can. Asks cuDNN for its plans.
std::optional<std::string> unsupported(const Conv2d& spec, const Device& device);

// For the whole batch, in the parts that parts_of() says. Throws Unsupported with the reasons where no plan
// keeps the dtype's promise.
std::unique_ptr<Operation> make_convolution(const Conv2d& spec, const ConvolutionSlots& names,
                                            Device& device);

}  // namespace bench::kernels::cudnn
