// Functions of elements, with broadcasting. Sizes that are multiples of the batch stay so where they can.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/evaluate.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {
namespace {

// Where each element of the result, of dimensions `to`, comes from in a value that is repeated to them.
class Repeated {
 public:
  Repeated(const Constant& value, const Extents& to)
      : value_(value),
        to_(to),
        index_(to.size(), 0),
        in_order_(value.is_uniform() || value.elements() == elements_of(to)) {
    const std::vector<std::int64_t> own = steps_of(value.dims);
    step_.assign(to.size(), 0);
    for (std::size_t d = 0; d < value.dims.size(); ++d) {
      step_[d + to.size() - value.dims.size()] = value.dims[d].size == 1 ? 0 : own[d];
    }
  }
  Number next() {
    const Number number = value_.number(at_);
    if (in_order_) {
      ++at_;
      return number;
    }
    for (std::size_t d = to_.size(); d-- > 0;) {
      at_ += step_[d];
      if (++index_[d] < to_[d].size) {
        break;
      }
      at_ -= step_[d] * to_[d].size;
      index_[d] = 0;
    }
    return number;
  }

 private:
  const Constant& value_;
  const Extents& to_;
  std::vector<std::int64_t> step_, index_;
  std::int64_t at_ = 0;
  bool in_order_;  // the same elements, or a single one
};

// How much an element of the result grows from a sample to the next, as far as three samples tell; not a
// number where it is not by the same each time.
template <class Function>
double sample_step(const Evaluation& evaluation, const std::vector<Number>& operands,
                   const Function& function) {
  for (std::size_t input = 0; input < operands.size(); ++input) {
    if (std::isnan(evaluation.in(input).sample_step)) {
      return std::nan("");
    }
  }
  const auto at = [&](double sample) {
    std::vector<Number> moved = operands;
    for (std::size_t input = 0; input < moved.size(); ++input) {
      moved[input].fixed += sample * evaluation.in(input).sample_step;
    }
    return function(moved).fixed;
  };
  constexpr double kFar = 1 << 20;
  const double first = at(0);
  const double step = at(1) - first;
  return at(2) - first == 2 * step && at(kFar) - first == kFar * step ? step : std::nan("");
}

template <class Function>
Constant joined(const Evaluation& evaluation, ElementType type, std::size_t inputs,
                const Function& function) {
  Constant made{.type = type, .dims = {}, .values = {}};
  bool uniform = true;
  bool counts = false;  // samples, in one of them
  for (std::size_t i = 0; i < inputs; ++i) {
    const Constant& in = evaluation.in(i);
    made.dims = i == 0 ? in.dims : broadcast(made.dims, in.dims);
    counts |= in.counts_samples();
    uniform &= in.is_uniform();
  }
  const std::int64_t count = uniform ? std::min<std::int64_t>(1, made.elements()) : made.elements();
  evaluation.budget.take(count);
  std::vector<Repeated> from;
  for (std::size_t i = 0; i < inputs; ++i) {
    from.emplace_back(evaluation.in(i), made.dims);
  }
  std::vector<Number> operands(inputs);
  made.values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t input = 0; input < inputs; ++input) {
      operands[input] = from[input].next();
    }
    made.append(function(operands));
    if (counts) {
      const double step = sample_step(evaluation, operands, function);
      made.sample_step = i == 0 || step == made.sample_step ? step : std::nan("");
    }
  }
  if (count == 0) {
    made.values = {0};
  }
  compress(made);
  return made;
}

double narrowed(ElementType type, double value) {
  return type == ElementType::f32 || type == ElementType::f16 || type == ElementType::bf16
             ? static_cast<double>(static_cast<float>(value))
             : value;
}

// Compares as if the batch were any number: an answer that depends on it is refused. A multiple of the batch
// equals no fixed size, since the network is to run at every batch.
double compared(const Number& a, const Number& b, bool (*compare)(double, double)) {
  const bool one = compare(a.fixed + a.per_batch, b.fixed + b.per_batch);
  if (a.per_batch == b.per_batch) {
    return one ? 1 : 0;
  }
  constexpr double kMany = 1e9;
  const bool many = compare(a.fixed + kMany * a.per_batch, b.fixed + kMany * b.per_batch);
  if (one != many) {
    throw Refused("a choice that depends on the batch");
  }
  return one ? 1 : 0;
}

Number quotient(const Number& a, const Number& b, bool whole) {
  const bool both = a.per_batch != 0 && b.per_batch != 0 && a.fixed == 0 && b.fixed == 0;
  if (b.per_batch != 0 && !both) {
    throw Refused("a division by the batch");
  }
  const double divisor = both ? b.per_batch : b.fixed;
  if (divisor == 0 && whole) {
    throw Refused("a division by zero");
  }
  if (a.per_batch == 0 || both) {
    const double exact = (both ? a.per_batch : a.fixed) / divisor;
    return {whole ? std::trunc(exact) : exact, 0};
  }
  const double each = a.per_batch / divisor;
  if (whole && (a.fixed != 0 || each != std::trunc(each))) {
    throw Refused("a part of the batch");
  }
  return {a.fixed / divisor, each};
}

Number remainder(const Number& a, const Number& b, bool whole) {
  const double divisor = without_batch(b);
  if (divisor == 0 && whole) {
    throw Refused("a division by zero");
  }
  if (a.per_batch != 0) {
    if (a.fixed == 0 && std::fmod(a.per_batch, divisor) == 0) {
      return {0, 0};
    }
    throw Refused("a remainder of the batch");
  }
  const double rest = std::fmod(a.fixed, divisor);
  // The remainder of whole numbers has the divisor's sign.
  return {whole && rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest, 0};
}

template <Number (*function)(const Number&, const Number&)>
std::vector<Constant> arithmetic(const Evaluation& evaluation) {
  const ElementType type = evaluation.in(0).type;
  return {joined(evaluation, type, 2, [&](const std::vector<Number>& in) {
    const Number made = function(in[0], in[1]);
    return Number{narrowed(type, made.fixed), made.per_batch};
  })};
}

Number difference(const Number& a, const Number& b) {
  return {a.fixed - b.fixed, a.per_batch - b.per_batch};
}

std::vector<Constant> divide(const Evaluation& evaluation) {
  const ElementType type = evaluation.in(0).type;
  const bool whole = !is_float(type);
  return {joined(evaluation, type, 2, [&](const std::vector<Number>& in) {
    const Number made = quotient(in[0], in[1], whole);
    return Number{narrowed(type, made.fixed), made.per_batch};
  })};
}

std::vector<Constant> modulo(const Evaluation& evaluation) {
  const bool like_c = integer_of(evaluation.node, "fmod", 0) != 0;
  const ElementType type = evaluation.in(0).type;
  return {joined(evaluation, type, 2, [&](const std::vector<Number>& in) {
    return remainder(in[0], in[1], !like_c && !is_float(type));
  })};
}

std::vector<Constant> power(const Evaluation& evaluation) {
  const ElementType type = evaluation.in(0).type;
  return {joined(evaluation, type, 2, [&](const std::vector<Number>& in) {
    return Number{narrowed(type, std::pow(without_batch(in[0]), without_batch(in[1]))), 0};
  })};
}

// The larger or smaller of all inputs.
template <bool largest>
std::vector<Constant> extreme(const Evaluation& evaluation) {
  return {
      joined(evaluation, evaluation.in(0).type, evaluation.inputs.size(), [](const std::vector<Number>& in) {
        Number best = in[0];
        for (const Number& other : in) {
          const bool less = compared(best, other, [](double a, double b) { return a < b; }) != 0;
          best = less == largest ? other : best;
        }
        return best;
      })};
}

std::vector<Constant> total(const Evaluation& evaluation) {
  const ElementType type = evaluation.in(0).type;
  return {joined(evaluation, type, evaluation.inputs.size(), [&](const std::vector<Number>& in) {
    Number made = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) {
      made = added(made, in[i]);
    }
    return Number{narrowed(type, made.fixed), made.per_batch};
  })};
}

template <bool (*compare)(double, double)>
std::vector<Constant> comparison(const Evaluation& evaluation) {
  return {joined(evaluation, ElementType::boolean, 2, [](const std::vector<Number>& in) {
    return Number{compared(in[0], in[1], compare), 0};
  })};
}
bool less(double a, double b) {
  return a < b;
}
bool less_or_equal(double a, double b) {
  return a <= b;
}
bool greater(double a, double b) {
  return a > b;
}
bool greater_or_equal(double a, double b) {
  return a >= b;
}

std::vector<Constant> equal(const Evaluation& evaluation) {
  return {joined(evaluation, ElementType::boolean, 2, [](const std::vector<Number>& in) {
    return Number{in[0] == in[1] ? 1.0 : 0.0, 0};
  })};
}

template <bool (*function)(bool, bool)>
std::vector<Constant> logic(const Evaluation& evaluation) {
  return {joined(evaluation, evaluation.in(0).type, 2, [](const std::vector<Number>& in) {
    return Number{function(without_batch(in[0]) != 0, without_batch(in[1]) != 0) ? 1.0 : 0.0, 0};
  })};
}
bool both(bool a, bool b) {
  return a && b;
}
bool either(bool a, bool b) {
  return a || b;
}
bool differ(bool a, bool b) {
  return a != b;
}

std::vector<Constant> where(const Evaluation& evaluation) {
  return {joined(evaluation, evaluation.in(1).type, 3,
                 [](const std::vector<Number>& in) { return without_batch(in[0]) != 0 ? in[1] : in[2]; })};
}

// Functions of one element.
template <double (*function)(double)>
std::vector<Constant> of_each(const Evaluation& evaluation) {
  const ElementType type = evaluation.in(0).type;
  return {joined(evaluation, type, 1, [&](const std::vector<Number>& in) {
    return Number{narrowed(type, function(without_batch(in[0]))), 0};
  })};
}
double reciprocal(double x) {
  return 1 / x;
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double positive(double x) {
  return x > 0 ? x : 0;
}
double sign(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

std::vector<Constant> negated(const Evaluation& evaluation) {
  return {joined(evaluation, evaluation.in(0).type, 1, [](const std::vector<Number>& in) {
    return Number{-in[0].fixed, -in[0].per_batch};
  })};
}

std::vector<Constant> logical_not(const Evaluation& evaluation) {
  return {joined(evaluation, ElementType::boolean, 1, [](const std::vector<Number>& in) {
    return Number{without_batch(in[0]) == 0 ? 1.0 : 0.0, 0};
  })};
}

std::vector<Constant> is_nan(const Evaluation& evaluation) {
  return {joined(evaluation, ElementType::boolean, 1, [](const std::vector<Number>& in) {
    return Number{std::isnan(in[0].fixed) ? 1.0 : 0.0, 0};
  })};
}

std::vector<Constant> clip(const Evaluation& evaluation) {
  const bool attributes = evaluation.opset < 11;
  const double least = attributes ? number_of(evaluation.node, "min", std::numeric_limits<float>::lowest())
                       : evaluation.has(1) ? evaluation.in(1).value(0)
                                           : -std::numeric_limits<double>::infinity();
  const double most = attributes ? number_of(evaluation.node, "max", std::numeric_limits<float>::max())
                      : evaluation.has(2) ? evaluation.in(2).value(0)
                                          : std::numeric_limits<double>::infinity();
  return {joined(evaluation, evaluation.in(0).type, 1, [&](const std::vector<Number>& in) {
    return Number{std::min(std::max(without_batch(in[0]), least), most), 0};
  })};
}

// The bits that a smaller whole number keeps.
double wrapped(ElementType type, double value) {
  const auto whole = [&] { return to_whole(value); };
  switch (type) {
    case ElementType::u8:
      return static_cast<double>(static_cast<std::uint8_t>(whole()));
    case ElementType::i8:
      return static_cast<double>(static_cast<std::int8_t>(whole()));
    case ElementType::u16:
      return static_cast<double>(static_cast<std::uint16_t>(whole()));
    case ElementType::i16:
      return static_cast<double>(static_cast<std::int16_t>(whole()));
    case ElementType::u32:
      return static_cast<double>(static_cast<std::uint32_t>(whole()));
    case ElementType::i32:
      return static_cast<double>(static_cast<std::int32_t>(whole()));
    default:
      return value;
  }
}

std::vector<Constant> as_type(const Evaluation& evaluation, ElementType type) {
  const bool from_float = is_float(evaluation.in(0).type);
  return {joined(evaluation, type, 1, [&](const std::vector<Number>& in) {
    if (type == ElementType::boolean) {
      return Number{in[0] == Number{} ? 0.0 : 1.0, 0};
    }
    if (is_float(type)) {
      return Number{narrowed(type, in[0].fixed), in[0].per_batch};
    }
    return from_float ? Number{std::trunc(in[0].fixed), std::trunc(in[0].per_batch)}
                      : Number{wrapped(type, in[0].fixed), in[0].per_batch};
  })};
}

std::vector<Constant> cast(const Evaluation& evaluation) {
  return as_type(evaluation, static_cast<ElementType>(integer_of(evaluation.node, "to", 1)));
}

std::vector<Constant> cast_like(const Evaluation& evaluation) {
  return as_type(evaluation, evaluation.in(1).type);
}

const Registration<ConstantOperator> BENCH_REGISTERED{
    {"Add", arithmetic<added>},
    {"Sub", arithmetic<difference>},
    {"Mul", arithmetic<multiplied>},
    {"Div", divide},
    {"Mod", modulo},
    {"Pow", power},
    {"Max", extreme<true>},
    {"Min", extreme<false>},
    {"Sum", total},
    {"Equal", equal},
    {"Less", comparison<less>},
    {"LessOrEqual", comparison<less_or_equal>},
    {"Greater", comparison<greater>},
    {"GreaterOrEqual", comparison<greater_or_equal>},
    {"And", logic<both>},
    {"Or", logic<either>},
    {"Xor", logic<differ>},
    {"Not", logical_not},
    {"Where", where},
    {"IsNaN", is_nan},
    {"Neg", negated},
    {"Clip", clip},
    {"Cast", cast},
    {"CastLike", cast_like},
    {"Sqrt", of_each<std::sqrt>},
    {"Floor", of_each<std::floor>},
    {"Ceil", of_each<std::ceil>},
    {"Round", of_each<std::nearbyint>},
    {"Abs", of_each<std::fabs>},
    {"Sign", of_each<sign>},
    {"Exp", of_each<std::exp>},
    {"Log", of_each<std::log>},
    {"Sin", of_each<std::sin>},
    {"Cos", of_each<std::cos>},
    {"Tanh", of_each<std::tanh>},
    {"Erf", of_each<std::erf>},
    {"Reciprocal", of_each<reciprocal>},
    {"Sigmoid", of_each<sigmoid>},
    {"Relu", of_each<positive>},
};

}  // namespace
}  // namespace bench::kernels::onnx
