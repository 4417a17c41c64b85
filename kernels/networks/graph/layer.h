// One layer of a network. A kind of layer is one file in kernels/networks/layers/, which derives from
// Layer and registers itself:
//
//   const LayerRegistration<ConvOptions, ConvLayer> BENCH_REGISTERED{"conv2d"};
//
// A network adds one by its options: graph.append("conv1", {x}, ConvOptions{.channels = 64}).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <variant>
#include <vector>

#include "bench/registry.h"
#include "kernels/networks/eager/operation.h"
#include "kernels/networks/graph/shape.h"
#include "kernels/operations/activation.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

class Recorder;

// A uniform distribution, in [centre − spread, centre + spread).
struct Uniform {
  double centre = 0;
  double spread = 0.2;
};

// A parameter of a layer, by the slot that its operation reads it from.
struct LayerParameter {
  Slot slot{};
  std::int64_t count = 0;  // values in the plain form
  Uniform start{};         // of its first values: see parameters.h
  bool trained = true;     // false: statistics, which no gradient moves
  bool table = false;      // rows that are looked up, stored as they are drawn: written a piece at a time
};

class Layer;
struct Drawn;

// A layer's name and shapes in a graph.
struct LayerPlace {
  std::string name;           // "layer1.0.conv1"; parameters are drawn by it
  std::vector<Shape> inputs;  // of what it reads
  Shape shape;                // of its result
  // Its parameters that have another layer's values; nullptr: none.
  std::shared_ptr<const std::map<Slot, Drawn>> drawn{};

  const Shape& input() const { return inputs.front(); }
};

// The parameter of another layer, whose first values a parameter has.
struct Drawn {
  std::shared_ptr<const Layer> layer;
  LayerPlace place;
  Slot slot{};
  // Of this one as a matrix, where that is the transpose of the other; 0: it has the same order.
  std::int64_t columns = 0;
};

// Work that the layer before may take over.
struct FoldedNorm {  // into weights and bias
  std::shared_ptr<const Layer> layer;
  LayerPlace place;
  float epsilon = 0;
};
struct FoldedSum {};  // of its result and another input
using Epilogue = std::variant<FoldedNorm, FoldedSum, Activation>;

class Layer {
 public:
  virtual ~Layer() = default;
  virtual std::shared_ptr<Layer> clone() const = 0;
  // Its options if they are of this type, else nullptr: see options_of().
  virtual const void* options(const std::type_info& /*type*/) const { return nullptr; }

  // The shape of its result. Throws ShapeTooSmall, and std::logic_error where the inputs do not fit.
  virtual Shape shape(const std::string& name, std::span<const Shape> inputs) const = 0;
  // Multiply-adds a sample as papers and model zoos publish them; the largest integer where a file's sizes
  // ask for more (capped_product).
  virtual std::int64_t macs(const LayerPlace& /*place*/) const { return 0; }
  // Values a sample that its convolution or matrix products give, as model zoos count activations; unless
  // told otherwise its result's, where it has multiply-adds.
  virtual std::int64_t product_values(const LayerPlace& place) const;

  virtual std::vector<LayerParameter> parameters(const LayerPlace& /*place*/) const { return {}; }
  // Values that training moves, as published.
  virtual std::int64_t trained_values(const LayerPlace& place) const;
  // Values `from`, from + 1, … of a parameter, at the start: another layer's, or drawn from its distribution,
  // unless they are made of others.
  virtual void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
                    std::span<float> values) const;
  // Puts the values into the order that the stored input asks for.
  virtual void arrange(Slot /*slot*/, const StoredValue& /*input*/, std::vector<float>& /*plain*/) const {}
  // And back.
  virtual void take_apart(Slot /*slot*/, const StoredValue& /*input*/, std::vector<float>& /*stored*/) const {
  }

  // A value that is made of nothing but parameters.
  virtual bool reads_nothing() const { return false; }
  // False where it is given maps in the layout that the device prefers, the network's input excepted. True
  // where it is given every value as it is stored.
  virtual bool reads_any_layout() const { return false; }
  // How the result is stored; unless told otherwise in the layout of the first input.
  virtual StoredValue stored(const Shape& shape, std::span<const StoredValue> inputs,
                             const Target& target) const;

  // Record the operations that compute the result, and those that lead from its gradient to those of inputs
  // and parameters. A layer that has no backward pass cannot be trained.
  virtual void forward(Recorder& recorder) const = 0;
  virtual void backward(Recorder& recorder) const;

  // False where the result is the input under another name.
  virtual bool computes() const { return true; }

  // What eager PyTorch runs for it, in order; empty: a view of its input. Unless told otherwise one
  // operation, which the model of GPUs does not know.
  virtual EagerOperations eager(const LayerPlace& place) const;

  // Fusion. epilogue(): this layer's work, if the layer before can do it. take(): does that work of the layer
  // after this one, which inference then drops; false if it cannot.
  virtual std::optional<Epilogue> epilogue(const LayerPlace& /*place*/) const { return std::nullopt; }
  virtual bool take(const Epilogue& /*epilogue*/) { return false; }

  // The layer's operation with memory for a faster algorithm; nullptr if it has none: see
  // passes/inference.h.
  virtual std::shared_ptr<Operation> with_extra(Recorder& /*recorder*/, const ExtraBytes& /*extra*/) const {
    return nullptr;
  }

  // Where a block of layers ends whose values may be computed again: see passes/recompute.cpp.
  virtual bool ends_block() const { return false; }
  virtual bool starts_block() const { return false; }
  // Its inputs are kept from the forward pass: they come from much earlier layers.
  virtual bool keeps_inputs() const { return false; }
  // Whether the loss computes this layer's work itself, as it does a softmax at the network's end.
  virtual bool part_of_loss(const Shape& /*shape*/) const { return false; }
};

// A layer that has its options, and is copied when it is to be changed.
template <class Derived, class Options>
class LayerOf : public Layer {
 public:
  // Public, because layers inherit it.
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility,modernize-pass-by-value)
  explicit LayerOf(const Options& options) : options_(options) {}
  std::shared_ptr<Layer> clone() const override {
    return std::make_shared<Derived>(static_cast<const Derived&>(*this));
  }
  const void* options(const std::type_info& type) const override {
    return type == typeid(Options) ? &options_ : nullptr;
  }

 protected:
  Options options_;  // NOLINT
};

// One whose result has the shape of its first input and is stored like it.
template <class Derived, class Options>
class LikeItsInput : public LayerOf<Derived, Options> {  // NOLINT(bugprone-crtp-constructor-accessibility)
 public:
  using LayerOf<Derived, Options>::LayerOf;
  Shape shape(const std::string& /*name*/, std::span<const Shape> inputs) const override {
    return inputs.front();
  }
  StoredValue stored(const Shape& /*shape*/, std::span<const StoredValue> inputs,
                     const Target& /*target*/) const override {
    return inputs.front();
  }
};

// How a layer is given its input number `index`, which is stored as `stored`.
StoredValue as_read(const Layer& layer, std::size_t index, const Shape& shape, const StoredValue& stored,
                    const Target& target);

// Whether a layer that applies `own` after its work takes over an activation after it; then own is that.
bool take_activation(const Epilogue& epilogue, Activation& own);

// Throws std::logic_error naming the layer.
void require(bool condition, const std::string& layer, const char* what);
// The same for what a layer asks of an input; names its shape too.
void require(bool condition, const std::string& layer, const char* what, const Shape& given);
// How many windows fit. Throws ShapeTooSmall naming the layer.
std::int64_t count_windows(const std::string& layer, std::int64_t extent, std::int64_t kernel,
                           std::int64_t stride, std::int64_t pad, std::int64_t end_pad = 0);

struct LayerType {
  std::string name;  // "conv2d"
  std::type_index options;
  std::function<std::shared_ptr<Layer>(const void* options)> make;
};

template <class Options, class Made>
struct LayerRegistration {
  explicit LayerRegistration(const std::string& name) {
    registry<LayerType>().add(
        {.name = name, .options = typeid(Options), .make = [](const void* options) -> std::shared_ptr<Layer> {
           return std::make_shared<Made>(*static_cast<const Options*>(options));
         }});
  }
};

// The kind of layer whose options these are. Throws std::logic_error where none registered them.
const LayerType& layer_type(std::type_index options);

}  // namespace bench::kernels
