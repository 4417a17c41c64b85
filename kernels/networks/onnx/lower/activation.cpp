// Functions of each element.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"

namespace bench::kernels::onnx {

void apply(Lowering& node, std::size_t input, Activation activation) {
  node.require_numbers(input);
  const Value& value = node.in(input);
  const Shape shape = value.shape;
  node.set(node.append({node.all.elements(value)}, ActivationOptions{.activation = activation}), shape);
}

namespace {

template <ActivationKind kind>
void lower(Lowering& node) {
  apply(node, 0, {kind});
}

void lower_leaky_relu(Lowering& node) {
  apply(node, 0, Activation::leaky(number_of(node.node, "alpha", 0.01F)));
}

void lower_elu(Lowering& node) {
  const float alpha = number_of(node.node, "alpha", 1);
  if (alpha < 0) {
    throw Refused(fmt::format("its alpha is {}; 0 or more is accepted", alpha));
  }
  apply(node, 0, Activation::elu_of(alpha));
}

// max(0, x) + min(0, alpha · (e^(x/alpha) − 1)): an ELU of x / alpha, times alpha.
void lower_celu(Lowering& node) {
  const float alpha = number_of(node.node, "alpha", 1);
  if (alpha == 1) {
    return apply(node, 0, Activation::elu_of(1));
  }
  const Shape shape = node.shape(0);
  const auto step = [&](Layers::Value x, Activation activation) {
    return node.append({x}, ActivationOptions{.activation = activation});
  };
  node.set(step(step(step(node.elements(0), Activation::linear(1 / alpha, 0)), Activation::elu_of(1)),
                Activation::linear(alpha, 0)),
           shape);
}

void lower_selu(Lowering& node) {
  const auto is = [&](const char* name, double usual) {
    return std::fabs(number_of(node.node, name, static_cast<float>(usual)) - usual) < 1e-3;
  };
  if (!is("alpha", kSeluAlpha) || !is("gamma", kSeluScale)) {
    throw Refused("other factors than those of the SELU paper");
  }
  apply(node, 0, Activation::selu);
}

void lower_hard_sigmoid(Lowering& node) {
  apply(node, 0,
        Activation::hard_sigmoid(number_of(node.node, "alpha", 0.2F), number_of(node.node, "beta", 0.5F)));
}

void lower_gelu(Lowering& node) {
  const std::string approximate = text_of(node.node, "approximate", "none");
  if (approximate != "tanh" && approximate != "none") {
    throw Refused(fmt::format("its approximate is '{}'; none and tanh are accepted", approximate));
  }
  apply(node, 0, approximate == "tanh" ? Activation::gelu : Activation::gelu_erf);
}
void lower_fast_gelu(Lowering& node) {
  if (node.has(1)) {
    throw Refused("it adds a bias, which is not accepted");
  }
  apply(node, 0, Activation::gelu);
}

void lower_clip(Lowering& node) {
  double least = -std::numeric_limits<float>::max();
  double most = std::numeric_limits<float>::max();
  if (node.all.opset() < 11) {
    least = number_of(node.node, "min", std::numeric_limits<float>::lowest());
    most = number_of(node.node, "max", std::numeric_limits<float>::max());
  } else {
    least = node.has(1) ? node.known(1, "its bounds").value(0) : least;
    most = node.has(2) ? node.known(2, "its bounds").value(0) : most;
  }
  if (least > most) {
    throw Refused(fmt::format("its lower bound {} is above its upper bound {}", least, most));
  }
  const bool open = most > 1e38;
  if (least < -1e38 && open) {
    return node.same(0);
  }
  apply(node, 0,
        least == 0 && most == 6 ? Activation::relu6
        : least == 0 && open    ? Activation::relu
                                : Activation::clip(static_cast<float>(least), static_cast<float>(most)));
}

void lower_negative(Lowering& node) {
  apply(node, 0, Activation::linear(-1, 0));
}
void lower_not(Lowering& node) {
  node.require_booleans(0);
  apply(node, 0, Activation::linear(-1, 1));
}

// x / (1 + |x|)
void lower_softsign(Lowering& node) {
  const Shape shape = node.shape(0);
  const Layers::Value x = node.elements(0);
  const auto step = [&](Layers::Value in, Activation activation) {
    return node.append({in}, ActivationOptions{.activation = activation});
  };
  const Layers::Value divisor = step(step(x, Activation::abs), Activation::linear(1, 1));
  node.set(node.append({x, divisor}, PointwiseOptions{.function = PointwiseFunction::divide}), shape);
}

// x · σ(alpha · x)
void lower_swish_of(Lowering& node, float alpha) {
  if (alpha == 1) {
    return apply(node, 0, Activation::silu);
  }
  const Shape shape = node.shape(0);
  const Layers::Value x = node.elements(0);
  const Layers::Value scaled =
      node.append({x}, ActivationOptions{.activation = Activation::linear(alpha, 0)});
  const Layers::Value gate = node.append({scaled}, ActivationOptions{.activation = Activation::sigmoid});
  node.set(node.append({x, gate}, PointwiseOptions{.function = PointwiseFunction::multiply}), shape);
}

void lower_quick_gelu(Lowering& node) {
  lower_swish_of(node, number_of(node.node, "alpha", 1.702F));
}
void lower_swish(Lowering& node) {
  lower_swish_of(node, number_of(node.node, "alpha", 1));
}

using K = ActivationKind;
const Registration<Lowered> BENCH_REGISTERED{
    {"Relu", lower<K::relu>},
    {"LeakyRelu", lower_leaky_relu},
    {"Elu", lower_elu},
    {"Celu", lower_celu},
    {"Selu", lower_selu},
    {"Sigmoid", lower<K::sigmoid>},
    {"HardSigmoid", lower_hard_sigmoid},
    {"HardSwish", lower<K::hard_swish>},
    {"bench.HardSwish", lower<K::hard_swish>},
    {"bench.Silu", lower<K::silu>},
    {"Tanh", lower<K::tanh>},
    {"Softplus", lower<K::softplus>},
    {"Softsign", lower_softsign},
    {"Mish", lower<K::mish>},
    {"Gelu", lower_gelu},
    {"bench.Gelu", lower_gelu},
    {"com.microsoft.Gelu", lower_gelu},
    {"com.microsoft.FastGelu", lower_fast_gelu},
    {"com.microsoft.QuickGelu", lower_quick_gelu},
    {"Swish", lower_swish},
    {"Clip", lower_clip},
    {"Abs", lower<K::abs>},
    {"Sqrt", lower<K::sqrt>},
    {"Reciprocal", lower<K::reciprocal>},
    {"Exp", lower<K::exp>},
    {"Log", lower<K::log>},
    {"Erf", lower<K::erf>},
    {"Sin", lower<K::sin>},
    {"Cos", lower<K::cos>},
    {"Neg", lower_negative},
    {"Not", lower_not},
};

}  // namespace
}  // namespace bench::kernels::onnx
