// Pooling of maps: the maximum or the average over windows, and the average over windows that lead to a given
// size, or over a sequence's positions.
#include "kernels/operations/pool/pool.h"

#include <tuple>
#include <utility>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {
namespace {

// The gradient of a maximum needs which inputs were chosen, where the forward pass saved that.
void record_backward(Recorder& recorder, Pool pool) {
  const TensorId diff = recorder.diff();
  if (!recorder.wants_gradient()) {
    return;
  }
  pool.direction = Direction::backward;
  Arguments arguments{{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}};
  if (const auto choices = recorder.saved(Slot::saved)) {
    arguments.emplace_back(Slot::saved, *choices);
  }
  recorder.record(pool, arguments);
}

class PoolLayer final : public LayerOf<PoolLayer, PoolOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    require(in.is_maps(), name, "needs maps", in);
    require(options_.stride.h > 0 && options_.stride.w > 0, name, "needs a stride of at least 1");
    const Pool pool = described({.n = 1, .c = in.channels(), .h = in.height(), .w = in.width()});
    count_windows(name, in.height(), pool.rows().reach(), 1, pool.pad_h, pool.pad_bottom);
    count_windows(name, in.width(), pool.columns().reach(), 1, pool.pad_w, pool.pad_right);
    return {in[0], in.channels(), pool.out_height(), pool.out_width()};
  }

  void forward(Recorder& recorder) const override {
    const Pool pool = spec(recorder);
    Arguments arguments{{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}};
    if (const SlotInfo* const choices = recorder.make(pool)->find(Slot::saved)) {
      arguments.emplace_back(Slot::saved,
                             recorder.save(Slot::saved, "choices", choices->bytes, Content::statistic));
    }
    recorder.record(pool, arguments);
  }
  void backward(Recorder& recorder) const override { record_backward(recorder, spec(recorder)); }

  bool ends_block() const override { return true; }

  EagerOperations eager(const LayerPlace& place) const override {
    if (!options_.average) {
      return {eager::max_pool(place)};
    }
    EagerOperation average = eager::movement(place);
    average.saved = Saved::inputs;
    return {average};
  }

 private:
  Pool spec(const Recorder& recorder) const {
    Pool pool = described(recorder.src());
    pool.training = recorder.training();
    return pool;
  }

  Pool described(const TensorDesc& src) const {
    const PoolOptions& o = options_;
    Pool pool{.src = src,
              .kind = o.average ? Pool::Kind::average : Pool::Kind::max,
              .kernel_h = o.kernel.h,
              .kernel_w = o.kernel.w,
              .stride_h = o.stride.h,
              .stride_w = o.stride.w,
              .pad_h = o.pad.top,
              .pad_w = o.pad.left,
              .pad_bottom = o.pad.bottom - o.pad.top + o.end_pad,
              .pad_right = o.pad.right - o.pad.left + o.end_pad,
              .dilation_h = o.dilation.h,
              .dilation_w = o.dilation.w,
              .count_padding = o.average && o.count_padding};
    if (o.round_up) {
      pool.beyond_h = rows_beyond(pool.rows(), pool.pad_bottom);
      pool.beyond_w = rows_beyond(pool.columns(), pool.pad_right);
    }
    return pool;
  }

  // What a result that is rounded up needs after the padding; nothing where the window that it adds would
  // begin there.
  static std::int64_t rows_beyond(const WindowAxis& axis, std::int64_t end_pad) {
    const std::int64_t padded = axis.in + 2 * axis.pad + end_pad;
    const std::int64_t rest = (padded - axis.reach()) % axis.stride;
    const bool begins_inside = axis.out * axis.stride < axis.in + axis.pad;
    return rest > 0 && begins_inside ? axis.stride - rest : 0;
  }
};

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

class AveragePoolLayer final : public LayerOf<AveragePoolLayer, AveragePoolOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    if (in.is_sequence()) {
      require(options_.size == 1, name, "averages a sequence to one vector only", in);
      return {in[0], in[2]};
    }
    require(in.is_maps(), name, "needs maps or a sequence", in);
    return {in[0], in.channels(), options_.size, options_.size};
  }

  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder), {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override { record_backward(recorder, spec(recorder)); }

  EagerOperations eager(const LayerPlace& place) const override {
    return {options_.size == 1 ? eager::mean(place) : eager::movement(place)};
  }

 private:
  Pool spec(const Recorder& recorder) const {
    const TensorDesc& src = recorder.src();
    const auto rows = regular_window(src.h, options_.size);
    const auto columns = regular_window(src.w, options_.size);
    Pool pool;
    pool.src = src;
    if (!rows || !columns) {
      pool.kind = Pool::Kind::adaptive;
      pool.height = pool.width = options_.size;
      return pool;
    }
    pool.kind = Pool::Kind::average;
    std::tie(pool.kernel_h, pool.stride_h) = *rows;
    std::tie(pool.kernel_w, pool.stride_w) = *columns;
    return pool;
  }
};

const LayerRegistration<PoolOptions, PoolLayer> BENCH_REGISTERED{"pool"};
const LayerRegistration<AveragePoolOptions, AveragePoolLayer> BENCH_REGISTERED{"average_pool"};

}  // namespace
}  // namespace bench::kernels
