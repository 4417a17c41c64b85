// Linear layers over the last dimension.
#include <algorithm>

#include "bench/error.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/matmul/matmul.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kGroup = 16;  // of Layout::nchw16c

// Where element (c, y, x) of a single image is stored.
std::int64_t stored_index(const TensorDesc& t, std::int64_t c, std::int64_t y, std::int64_t x) {
  switch (t.layout) {
    case Layout::nchw:
      return (c * t.h + y) * t.w + x;
    case Layout::nhwc:
      return (y * t.w + x) * t.c + c;
    case Layout::nchw16c:
      return ((c / kGroup * t.h + y) * t.w + x) * kGroup + c % kGroup;
  }
  return 0;
}

class LinearLayer final : public LayerOf<LinearLayer> {
 public:
  explicit LinearLayer(const LinearOptions& options) : options_(options) {}

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    Shape result = inputs[0];
    require(result.is_rows(), name, "needs rows of features", result);
    if (result.is_flat()) {
      return {result[0], options_.features};
    }
    result[result.rank() - 1].size = options_.features;
    return result;
  }
  std::int64_t macs(const LayerPlace& place) const override {
    return options_.features * place.input().elements();
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    std::vector<LayerParameter> all{
        {.slot = Slot::weights, .count = options_.features * place.input().features()}};
    if (options_.bias) {
      all.push_back({.slot = Slot::bias, .count = options_.features});
    }
    return all;
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    if (slot == Slot::weights) {
      const double deviation = weight_deviation(place.input().features(), options_.deviation);
      return fill_uniform(values, 0, spread_of(deviation), seed, stream_of(place.name, "weight"), from);
    }
    if (slot == Slot::bias && options_.bias) {
      const double spread = options_.deviation > 0 ? spread_of(options_.deviation) : 0.2;
      return fill_uniform(values, 0, spread, seed, stream_of(place.name, "bias"), from);
    }
    Layer::init(place, slot, seed, from, values);
  }
  // Behind a flatten, columns follow the order in which the flattened maps are stored, so that nothing is
  // reordered at run time.
  void arrange(Slot slot, const StoredValue& input, std::vector<float>& plain) const override {
    if (slot != Slot::weights || input.is_in_shape_order()) {
      return;
    }
    const TensorDesc& maps = *input.flattened;
    const std::int64_t wide = maps.bytes() / bytes_of(maps.dtype);
    std::vector<std::int64_t> column;  // plain column → stored column
    column.reserve(static_cast<std::size_t>(maps.elements()));
    for (std::int64_t c = 0; c < maps.c; ++c) {
      for (std::int64_t y = 0; y < maps.h; ++y) {
        for (std::int64_t x = 0; x < maps.w; ++x) {
          column.push_back(stored_index(maps, c, y, x));
        }
      }
    }
    // In place, since these can be the network's largest weights: rows move apart from the last on.
    const auto narrow = static_cast<std::int64_t>(column.size());
    plain.resize(static_cast<std::size_t>(options_.features * wide));
    std::vector<float> row(column.size());
    for (std::int64_t r = options_.features - 1; r >= 0; --r) {
      std::copy_n(plain.begin() + r * narrow, narrow, row.begin());
      std::fill_n(plain.begin() + r * wide, wide, 0.0F);
      for (std::size_t i = 0; i < column.size(); ++i) {
        plain[static_cast<std::size_t>(r * wide + column[i])] = row[i];
      }
    }
  }

  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target)};
  }

  void forward(Recorder& recorder) const override {
    const Arguments arguments{{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}};
    const Linear linear = spec(recorder, Linear::Direction::forward);
    // Weights that are a table are looked up in: their layout cannot be the product's choice.
    if (recorder.training() || recorder.shares_weights()) {
      if (activation_ != Activation::none) {
        throw Unsupported(recorder.name() + " applies an activation over plain weights");
      }
      return recorder.record(linear, arguments);
    }
    recorder.record(Matmul{.rows = linear.rows,
                           .inner = linear.inner,
                           .columns = linear.columns,
                           .bias = linear.bias,
                           .activation = activation_,
                           .dtype = linear.dtype},
                    arguments);
  }

  void backward(Recorder& recorder) const override {
    const TensorId diff = recorder.diff();
    Arguments arguments{{Slot::src, recorder.input()},
                        {Slot::diff_dst, diff},
                        {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}};
    if (options_.bias) {
      arguments.emplace_back(Slot::diff_bias, recorder.parameter_gradient(Slot::bias));
    }
    recorder.record(spec(recorder, Linear::Direction::backward_weights), arguments, {}, " (weights)");
    if (recorder.wants_gradient()) {
      recorder.record(spec(recorder, Linear::Direction::backward_data),
                      {{Slot::diff_dst, diff}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }

  bool take(const Epilogue& epilogue) override { return take_activation(epilogue, activation_); }

 private:
  Linear spec(const Recorder& recorder, Linear::Direction direction) const {
    const TensorDesc rows = recorder.rows();
    return {.rows = rows.n,
            .inner = rows.c,
            .columns = options_.features,
            .direction = direction,
            .bias = options_.bias && direction != Linear::Direction::backward_data,
            .dtype = recorder.target().dtype};
  }

  LinearOptions options_;
  Activation activation_ = Activation::none;
};

const LayerRegistration<LinearOptions, LinearLayer> registered{"linear"};

}  // namespace
}  // namespace bench::kernels
