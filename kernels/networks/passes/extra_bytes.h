// How much memory a network may spend on faster algorithms in inference, and which layers get it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/program/recorder.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// The most extra bytes of a network. Parameters (Winograd's transformed weights are up to four times as
// large): an eighth of the lean parameters or 75 % of the activations, whichever is more. Scratch, which lies
// among the activations: that eighth plus the activations (oneDNN reserves far more than it writes). So a
// small batch keeps close to the bare weights, and a large batch, whose activations dominate, gets the faster
// algorithms.
ExtraBytes extra_budget(std::int64_t lean_parameter_bytes, std::int64_t activation_bytes);

// Divides that budget among the nodes of a plan recorded without extra bytes, first to those where a byte
// saves the most work. Work is floating-point operations plus the reading of the parameters, counted as
// operations: large transformed weights must save more than they cost to read.
std::vector<ExtraBytes> share_extra_bytes(const ProgramPlan& lean, Device& device, OperationCache& cache);

// Bytes of an operation's packed parameters.
std::int64_t parameter_bytes(const Operation& operation);

}  // namespace bench::kernels
