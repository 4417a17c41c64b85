#include "kernels/networks/draw.h"

#include <algorithm>
#include <vector>

#include "kernels/networks/parameters.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kPiece = 65'536;  // values

bool in_pieces(const Graph& graph, Graph::Value value, Slot slot) {
  return graph[value].rows > 0 && slot == Slot::weights;
}

}  // namespace

void draw_parameter(const Graph& graph, Graph::Value value, Slot slot, const Target& target,
                    std::uint64_t seed, Operation& operation, Device& device, std::byte* place) {
  const SlotInfo& info = *operation.find(slot);
  if (in_pieces(graph, value, slot)) {
    const std::int64_t size = info.bytes / info.plain_count;
    std::vector<float> plain;
    std::vector<std::byte> stored;
    for (std::int64_t from = 0; from < info.plain_count; from += kPiece) {
      plain.resize(static_cast<std::size_t>(std::min(kPiece, info.plain_count - from)));
      const auto count = static_cast<std::int64_t>(plain.size());
      plain_table(graph, value, seed, from, plain);
      stored.resize(static_cast<std::size_t>(count * size));
      store({1, count, 1, 1, Layout::nhwc, size == 4 ? Dtype::fp32 : target.dtype}, plain, stored.data());
      device.upload(place + from * size, stored.data(), count * size);
    }
    return;
  }
  const std::vector<float> plain = lowered_parameter(graph, value, slot, target, seed);
  if (device.host_accessible()) {
    operation.pack(slot, plain, place);
    return;
  }
  std::vector<std::byte> packed(static_cast<std::size_t>(info.bytes));
  operation.pack(slot, plain, packed.data());
  device.upload(place, packed.data(), info.bytes);
}

std::int64_t plain_bytes_while_drawn(const Graph& graph, Graph::Value value, const SlotInfo& parameter) {
  const std::int64_t count = in_pieces(graph, value, parameter.slot) ? std::min(kPiece, parameter.plain_count)
                                                                     : parameter.plain_count;
  return 4 * count;
}

}  // namespace bench::kernels
