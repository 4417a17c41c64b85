#include "kernels/networks/graph/layer.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {

std::int64_t Layer::trained_values(const LayerPlace& place) const {
  std::int64_t count = 0;
  for (const LayerParameter& parameter : parameters(place)) {
    count += parameter.trained ? parameter.count : 0;
  }
  return count;
}

std::int64_t Layer::product_values(const LayerPlace& place) const {
  return macs(place) > 0 ? place.shape.elements() : 0;
}

namespace {

void init_as(const Drawn& drawn, std::uint64_t seed, std::int64_t from, std::span<float> values) {
  if (drawn.columns == 0) {
    return drawn.layer->init(drawn.place, drawn.slot, seed, from, values);
  }
  const auto all = drawn.layer->parameters(drawn.place);
  const std::int64_t rows = std::ranges::find(all, drawn.slot, &LayerParameter::slot)->count / drawn.columns;
  std::vector<float> other(static_cast<std::size_t>(rows * drawn.columns));
  drawn.layer->init(drawn.place, drawn.slot, seed, 0, other);
  for (float& value : values) {
    value = other[static_cast<std::size_t>(from % drawn.columns * rows + from / drawn.columns)];
    ++from;
  }
}

}  // namespace

void Layer::init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
                 std::span<float> values) const {
  if (place.drawn != nullptr && place.drawn->contains(slot)) {
    return init_as(place.drawn->at(slot), seed, from, values);
  }
  const auto all = parameters(place);
  const auto at = std::ranges::find(all, slot, &LayerParameter::slot);
  if (at == all.end()) {
    throw std::logic_error(place.name + " has no parameter " + std::string(name_of(slot)));
  }
  draw(values, at->start, place.name, slot, seed, from);
}

StoredValue Layer::stored(const Shape& shape, std::span<const StoredValue> inputs,
                          const Target& target) const {
  return {stored_as(shape, target, inputs.front().tensor.layout)};
}

StoredValue as_read(const Layer& layer, std::size_t index, const Shape& shape, const StoredValue& stored,
                    const Target& target) {
  const bool as_it_is = layer.reads_any_layout() || !shape.is_maps() || (index == 0 && stored.as_input) ||
                        stored.tensor.layout == target.layouts.inner;
  return as_it_is ? stored : StoredValue{stored_as(shape, target, target.layouts.inner)};
}

EagerOperations Layer::eager(const LayerPlace& place) const {
  if (!computes()) {
    return {};
  }
  EagerOperation unknown = eager::movement(place);
  unknown.is_known = false;
  return {unknown};
}

void Layer::backward(Recorder& recorder) const {
  throw Unsupported(recorder.name() + " cannot be trained");
}

bool take_activation(const Epilogue& epilogue, Activation& own) {
  const auto* const activation = std::get_if<Activation>(&epilogue);
  if (activation == nullptr || own != Activation::none || !is_fusable(*activation)) {
    return false;
  }
  own = *activation;
  return true;
}

void require(bool condition, const std::string& layer, const char* what) {
  if (!condition) {
    throw std::logic_error(layer + ": " + what);
  }
}

void require(bool condition, const std::string& layer, const char* what, const Shape& given) {
  if (!condition) {
    throw std::logic_error(fmt::format("{}: {}, not {}", layer, what, given.text()));
  }
}

std::int64_t count_windows(const std::string& layer, std::int64_t extent, std::int64_t kernel,
                           std::int64_t stride, std::int64_t pad, std::int64_t end_pad) {
  require(kernel > 0 && stride > 0 && pad >= 0 && pad + end_pad >= 0, layer,
          "needs windows and strides of at least 1, and padding of at least 0");
  const std::int64_t room = extent + 2 * pad + end_pad - kernel;
  if (room < 0) {
    throw ShapeTooSmall(fmt::format("{}: a {}x{} window with padding {} does not fit {} pixels", layer,
                                    kernel, kernel, pad, extent));
  }
  return room / stride + 1;
}

const LayerType& layer_type(std::type_index options) {
  const auto& all = registry<LayerType>().entries();
  const auto at = std::ranges::find(all, options, [](const auto& type) { return type->options; });
  if (at == all.end()) {
    throw std::logic_error(std::string("no layer has the options ") + options.name());
  }
  return **at;
}

}  // namespace bench::kernels
