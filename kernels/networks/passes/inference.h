// A network's forward pass as a program: its layers fused, faster algorithms where memory pays for them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/program/recorder.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// Fewer layers, the same function. Attention that is written out becomes a layer. A layer that nobody else
// reads from disappears into the one before it, where that takes it over: a batch norm into a convolution's
// weights, a sum into the later of its operands, an activation into what comes before it.
Graph fuse_for_inference(const Graph& graph);

// Throws Unsupported. Creates descriptions only: nothing is compiled, nothing allocated on the device.
ProgramPlan plan_inference(Graph graph, const Target& target, Device& device);

// --- Parts of it.

// Records the pass over one batch into a plan that holds none. Throws Unsupported. `extra` is for each node
// what it may spend on a faster algorithm; empty: nothing.
void record_forward(ProgramPlan& plan, Device& device, OperationCache& cache,
                    std::vector<ExtraBytes> extra = {});

// The most extra bytes of a network. Parameters (Winograd's transformed weights are up to four times as
// large): an eighth of the lean parameters, or 75 % of the activations if that is more. Scratch, which lies
// among the activations: that eighth plus the activations (oneDNN reserves far more than it writes). So a
// small batch keeps close to the bare weights, and a large batch, whose activations dominate, gets the faster
// algorithms.
ExtraBytes extra_budget(std::int64_t lean_parameter_bytes, std::int64_t activation_bytes);

// Divides that budget among the nodes of a plan recorded without extra bytes, first to those where a byte
// saves the most work. Work is floating-point operations plus the reading of the parameters, counted as
// operations: large transformed weights must save more than they cost to read.
std::vector<ExtraBytes> share_extra_bytes(const ProgramPlan& lean, Device& device, OperationCache& cache);

// Where maps are larger than the caches, replaces a depthwise convolution and its neighbours by one operation
// that computes them row tile by row tile (ConvRowTiles), on the CPU. Returns how many operations the row
// tiles have in addition to the program's own.
std::size_t tile_rows(ProgramPlan& plan, Device& device, OperationCache& cache);

// Bytes of an operation's packed parameters.
std::int64_t parameter_bytes(const Operation& operation);

}  // namespace bench::kernels
