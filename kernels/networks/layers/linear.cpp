// Linear layers over the last dimension.
#include <algorithm>

#include "bench/error.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

class LinearLayer final : public LayerOf<LinearLayer, LinearOptions> {
 public:
  using LayerOf::LayerOf;

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
    return capped_product(options_.features, place.input().elements());
  }

  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    const std::int64_t inputs = place.input().features();
    const bool stated = options_.deviation > 0;
    const Uniform start = of_deviation(options_.deviation);
    std::vector<LayerParameter> all{{.slot = Slot::weights,
                                     .count = options_.features * inputs,
                                     .start = stated ? start : of_fan_in(inputs)}};
    if (options_.bias) {
      all.push_back({.slot = Slot::bias, .count = options_.features, .start = stated ? start : Uniform{}});
    }
    return all;
  }
  // Behind a flatten, columns follow the order in which the flattened maps are stored, so that nothing is
  // reordered at run time.
  void arrange(Slot slot, const StoredValue& input, std::vector<float>& plain) const override {
    if (slot != Slot::weights || input.is_in_shape_order()) {
      return;
    }
    const std::int64_t wide = stored_width(*input.flattened);
    const std::vector<std::int64_t> column = stored_columns(*input.flattened);
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
  void take_apart(Slot slot, const StoredValue& input, std::vector<float>& stored) const override {
    if (slot != Slot::weights || input.is_in_shape_order()) {
      return;
    }
    const std::int64_t wide = stored_width(*input.flattened);
    const std::vector<std::int64_t> column = stored_columns(*input.flattened);
    std::vector<float> row(column.size());
    auto to = stored.begin();
    for (std::int64_t r = 0; r < options_.features; ++r) {
      std::ranges::transform(column, row.begin(), [&](std::int64_t at) {
        return stored[static_cast<std::size_t>(r * wide + at)];
      });
      to = std::ranges::copy(row, to).out;
    }
    stored.erase(to, stored.end());
  }

  void forward(Recorder& recorder) const override {
    const Arguments arguments{{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}};
    Linear linear = spec(recorder, Linear::Direction::forward);
    // Weights that others read too, as a table that is looked up in: their layout cannot be the product's
    // choice.
    linear.packed = !recorder.training() && !recorder.shares_weights() && !options_.plain;
    if (!linear.packed && activation_ != Activation::none) {
      throw Unsupported(recorder.name() + " applies an activation over plain weights");
    }
    linear.activation = activation_;
    recorder.record(linear, arguments);
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

  bool take(const Epilogue& epilogue) override {
    return !options_.plain && take_activation(epilogue, activation_);
  }

  EagerOperations eager(const LayerPlace& place) const override {
    const auto columns = static_cast<double>(options_.features);
    const auto depth = static_cast<double>(place.input().features());
    const auto values = static_cast<double>(place.shape.elements());
    EagerOperations operations{eager::product(place, {.kind = ProductClass::linear,
                                                      .rows = values / columns,
                                                      .columns = columns,
                                                      .depth = depth,
                                                      .weights = columns * depth})};
    constexpr std::size_t kMostFused = 3;  // dimensions of what a product with a bias reads
    const std::size_t rank = options_.rank > 0 ? options_.rank : place.input().rank();
    if (options_.bias && rank > kMostFused) {
      operations.push_back(eager::sum(eager::previous(values)));
    }
    return operations;
  }

 private:
  static std::int64_t stored_width(const TensorDesc& maps) { return maps.bytes() / bytes_of(maps.dtype); }
  // By plain column, where it is stored.
  static std::vector<std::int64_t> stored_columns(const TensorDesc& maps) {
    std::vector<std::int64_t> column;
    column.reserve(static_cast<std::size_t>(maps.elements()));
    for (std::int64_t c = 0; c < maps.c; ++c) {
      for (std::int64_t y = 0; y < maps.h; ++y) {
        for (std::int64_t x = 0; x < maps.w; ++x) {
          column.push_back(stored_index(maps, 0, c, y, x));
        }
      }
    }
    return column;
  }
  Linear spec(const Recorder& recorder, Linear::Direction direction) const {
    const TensorDesc rows = recorder.rows();
    return {.rows = rows.n,
            .inner = rows.c,
            .columns = options_.features,
            .direction = direction,
            .bias = options_.bias && direction != Linear::Direction::backward_data,
            .dtype = recorder.target().dtype};
  }

  Activation activation_ = Activation::none;
};

const LayerRegistration<LinearOptions, LinearLayer> BENCH_REGISTERED{"linear"};

}  // namespace
}  // namespace bench::kernels
