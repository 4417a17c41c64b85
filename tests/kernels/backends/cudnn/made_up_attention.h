// Plans of attention that attention_test.cpp makes up: a program has one source of cuDNN's plans.
#pragma once

#include <memory>

#include "kernels/backends/cudnn/plans.h"

namespace bench::kernels::testing {

std::unique_ptr<cudnn::Plans> made_up_attention_plans(const Attention& spec, cuda::Card& card);

}  // namespace bench::kernels::testing
