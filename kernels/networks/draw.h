// Drawing a network's parameters into the memory they are used from.
#pragma once

#include <cstdint>

#include "bench/device.h"
#include "kernels/networks/graph.h"
#include "kernels/networks/lower.h"
#include "kernels/operation.h"

namespace bench::kernels {

// Draws the parameter, packs it for the operation and writes it to `place` in device memory. A table, which
// is stored as it is drawn, a piece at a time; others as a whole.
void draw_parameter(const Graph& graph, Graph::Value value, Slot slot, const Target& target,
                    std::uint64_t seed, Operation& operation, Device& device, std::byte* place);

// Bytes of the plain form that are on the host at once meanwhile.
std::int64_t plain_bytes_while_drawn(const Graph& graph, Graph::Value value, const SlotInfo& parameter);

}  // namespace bench::kernels
