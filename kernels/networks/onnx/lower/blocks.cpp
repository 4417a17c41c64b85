// SpaceToDepth and DepthToSpace: blocks of pixels become channels, and the reverse.
#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {
namespace {

// The value as `split`, its dimensions in `order`, as `result`.
void rearrange(Lowering& node, const Shape& split, const std::vector<std::size_t>& order,
               const Shape& result) {
  const Layers::Value apart = node.all.reshaped(node.elements(0), split);
  node.set(node.append({apart}, TransposeOptions{.order = order}), result);
}

const Shape& maps(const Lowering& node) {
  const Shape& shape = node.shape(0);
  if (!shape.is_maps()) {
    throw Refused(fmt::format("it needs maps, not {}", shape.text()));
  }
  return shape;
}

constexpr std::int64_t kMostBlock = 1 << 15;

void lower_depth_to_space(Lowering& node) {
  const Shape in = maps(node);
  const std::int64_t block = integer_of(node.node, "blocksize", 1);
  if (block < 1 || block > kMostBlock || in[1].size % (block * block) != 0) {
    throw Refused("blocks that do not divide the channels");
  }
  const std::int64_t channels = in[1].size / block / block;
  const Shape result{in[0], channels, in[2].size * block, in[3].size * block};
  const std::string mode = text_of(node.node, "mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    throw Refused(fmt::format("its mode is '{}'; DCR and CRD are accepted", mode));
  }
  if (mode == "CRD") {
    return rearrange(node, {in[0], channels, block, block, in[2], in[3]}, {0, 1, 4, 2, 5, 3}, result);
  }
  rearrange(node, {in[0], block, block, channels, in[2], in[3]}, {0, 3, 4, 1, 5, 2}, result);
}

void lower_space_to_depth(Lowering& node) {
  const Shape in = maps(node);
  const std::int64_t block = integer_of(node.node, "blocksize", 1);
  if (block < 1 || block > kMostBlock || in[2].size % block != 0 || in[3].size % block != 0) {
    throw Refused("blocks that do not divide the maps");
  }
  const std::int64_t rows = in[2].size / block;
  const std::int64_t columns = in[3].size / block;
  rearrange(node, {in[0], in[1], rows, block, columns, block}, {0, 3, 5, 1, 2, 4},
            {in[0], in[1].size * block * block, rows, columns});
}

const Registration<Lowered> BENCH_REGISTERED{
    {"DepthToSpace", lower_depth_to_space},
    {"SpaceToDepth", lower_space_to_depth},
};

}  // namespace
}  // namespace bench::kernels::onnx
