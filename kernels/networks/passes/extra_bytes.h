// How much memory a network may spend on faster algorithms in inference, and which layers get it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/program/recorder.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels {

// The rule. Extra parameter bytes (Winograd keeps its weights transformed, up to four times as large) may
// grow to an eighth of the lean parameters or 75 % of the bytes of the activations, whichever is more;
// scratch, which lies among the activations, to the sum of that eighth and the activations (oneDNN books far
// more than it writes). So a small batch stays close to the bare weights, and a larger one, whose activations
// dominate anyway, buys speed with a part of them.
ExtraBytes extra_budget(std::int64_t lean_parameter_bytes, std::int64_t activation_bytes);

// The grant of each node of a plan recorded without extra bytes; together they stay within the rule. The
// bytes go where they save the most work first: floating-point operations, with the reading of the parameters
// counted as operations too, so that large transformed weights must earn their own traffic.
std::vector<ExtraBytes> share_extra_bytes(const ProgramPlan& lean, Device& device, OperationCache& cache);

// Bytes of an operation's packed parameters.
std::int64_t parameter_bytes(const Operation& operation);

}  // namespace bench::kernels
