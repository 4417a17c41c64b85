// The maximum over windows of maps.
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/pool/pool.h"

namespace bench::kernels {
namespace {

class MaxPoolLayer final : public LayerOf<MaxPoolLayer> {
 public:
  explicit MaxPoolLayer(const WindowOptions& options) : options_(options) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    const Shape& in = inputs[0];
    const WindowOptions& o = options_;
    require(in.is_maps(), name, "needs maps", in);
    return {in[0], in.channels(), count_windows(name, in.height(), o.kernel, o.stride, o.pad, o.end_pad),
            count_windows(name, in.width(), o.kernel, o.stride, o.pad, o.end_pad)};
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
  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    if (!recorder.wants_gradient()) {
      return;
    }
    Arguments arguments{{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}};
    if (const auto choices = recorder.saved(Slot::saved)) {
      arguments.emplace_back(Slot::saved, *choices);
    }
    Pool backward = spec(recorder);
    backward.direction = Direction::backward;
    recorder.record(backward, arguments);
  }

  bool ends_block() const override { return true; }

 private:
  Pool spec(const Recorder& recorder) const {
    Pool pool;
    pool.src = recorder.src();
    pool.kind = Pool::Kind::max;
    pool.kernel_h = pool.kernel_w = options_.kernel;
    pool.stride_h = pool.stride_w = options_.stride;
    pool.pad_h = pool.pad_w = options_.pad;
    pool.pad_bottom = pool.pad_right = options_.end_pad;
    pool.training = recorder.training();
    return pool;
  }

  WindowOptions options_;
};

const LayerRegistration<WindowOptions, MaxPoolLayer> registered{"max_pool"};

}  // namespace
}  // namespace bench::kernels
