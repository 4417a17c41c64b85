// An operation that is one convolution of cuDNN's with its bias, residual and activation, the plan autotuned.
// Weights are stored as [out][kernel_h][kernel_w][in / groups] in the dtype, alike in every pass.
//
// Candidates are listed when it is made, so that the workspace is known before anything runs: plans that fuse
// everything, and plans of the bare convolution with one kernel of our own after it where those may be
// faster. They are built by prepare() and timed in the first run, where the tensors' memory is at hand:
// timing them earlier would need memory that no plan of a network's has counted. The card keeps what was
// found.
//
// Where the card remembers a choice, prepare() builds that one alone and nothing is timed, unless it fails:
// then the others are built and timed in the first run. The workspace is that of all candidates nevertheless,
// so that memory does not depend on earlier runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "kernels/backends/cudnn/plans.h"
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

// Bytes that plans of the bare convolution may have next to fused ones, or as much as those: memory is
// planned for all that are tried.
inline constexpr std::int64_t kMostBareWorkspace = std::int64_t{32} << 20;

// The candidates for a convolution with everything fused that it asks for. Where fewer than kEnough of
// the fused plans use the best units, four plans of the bare convolution are tried next to them, and its
// first that uses them; these come first if only they do. With a residual the two do not mix: memory is
// planned for a residual in the place of the result, which a bare convolution would overwrite. Then the bare
// ones are taken alone if only they use the best units. Throws Unsupported where cuDNN has no plan that keeps
// the dtype's promise.
Candidates listed(const Conv2d& all, cuda::Card& card);

// Why cuDNN cannot compute it on the device; nullopt where it can. Asks cuDNN for its plans.
std::optional<std::string> unsupported(const Conv2d& spec, const Device& device);

// For the whole batch, in the parts that parts_of() says. Throws Unsupported with the reasons where no plan
// keeps the dtype's promise.
std::unique_ptr<Operation> make_convolution(const Conv2d& spec, const ConvolutionSlots& names,
                                            Device& device);

}  // namespace bench::kernels::cudnn
