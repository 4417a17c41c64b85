// Averages of maps over windows that lead to a given size; over a sequence, of its positions.
#include <tuple>
#include <utility>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/pool/pool.h"

namespace bench::kernels {
namespace {

// Output i of an adaptive pool averages the inputs from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉. Where all those windows
// are equally large and equally far apart, an ordinary pool does it: of this kernel and stride.
std::optional<std::pair<std::int64_t, std::int64_t>> regular_window(std::int64_t in, std::int64_t out) {
  const auto first = [&](std::int64_t i) { return i * in / out; };
  const auto last = [&](std::int64_t i) { return ((i + 1) * in + out - 1) / out; };
  const std::int64_t kernel = last(0);
  const std::int64_t stride = out > 1 ? first(1) : 1;
  for (std::int64_t i = 0; i < out; ++i) {
    if (stride < 1 || first(i) != i * stride || last(i) != first(i) + kernel) {
      return std::nullopt;
    }
  }
  return std::pair{kernel, stride};
}

class AveragePoolLayer final : public LayerOf<AveragePoolLayer> {
 public:
  explicit AveragePoolLayer(const AveragePoolOptions& options) : size_(options.size) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    if (in.is_sequence()) {
      require(size_ == 1, name, "averages a sequence to one vector only", in);
      return {in[0], in[2]};
    }
    require(in.is_maps(), name, "needs maps or a sequence", in);
    return {in[0], in.channels(), size_, size_};
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder), {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    if (!recorder.wants_gradient()) {
      return;
    }
    Pool backward = spec(recorder);
    backward.direction = Direction::backward;
    recorder.record(backward, {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
  }

 private:
  Pool spec(const Recorder& recorder) const {
    const TensorDesc& src = recorder.src();
    const auto rows = regular_window(src.h, size_);
    const auto columns = regular_window(src.w, size_);
    Pool pool;
    pool.src = src;
    if (!rows || !columns) {
      pool.kind = Pool::Kind::adaptive;
      pool.height = pool.width = size_;
      return pool;
    }
    pool.kind = Pool::Kind::average;
    std::tie(pool.kernel_h, pool.stride_h) = *rows;
    std::tie(pool.kernel_w, pool.stride_w) = *columns;
    return pool;
  }

  std::int64_t size_;
};

const LayerRegistration<AveragePoolOptions, AveragePoolLayer> registered{"average_pool"};

}  // namespace
}  // namespace bench::kernels
