// The plan that eager PyTorch takes for a convolution on a card that is not here: without
// torch.backends.cudnn.benchmark the first of cuDNN's heuristics that computes what the dtype promises,
// whatever workspace it asks for (aten/src/ATen/native/cudnn/Conv_v8.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/backends/cudnn/plans.h"

namespace bench::kernels::cudnn {

// Bytes of its workspace; nullopt where cuDNN has no plan, for which PyTorch has kernels of its own. The card
// keeps the answers. Throws Unsupported where cuDNN cannot plan for the card.
std::optional<std::int64_t> eager_workspace(const Conv2d& convolution, cuda::Card& card);

// Why cuDNN plans nothing for the card: the program was built without it, its library does not open, or it
// does not know the card; nullopt where it may.
std::optional<std::string> cannot_plan(const cuda::Card& card);

// "cuDNN 9.19 for sm_75". Throws Unsupported where there is no cuDNN.
std::string planned_by(const cuda::Card& card);

}  // namespace bench::kernels::cudnn
