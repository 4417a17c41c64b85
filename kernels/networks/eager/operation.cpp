#include "kernels/networks/eager/operation.h"

#include "kernels/networks/graph/layer.h"

namespace bench::kernels {

EagerFlow::EagerFlow(const LayerPlace& place) : written(static_cast<double>(place.shape.elements())) {
  for (const Shape& input : place.inputs) {
    reads.push_back({static_cast<int>(reads.size()), static_cast<double>(input.elements())});
  }
}

double EagerFlow::read() const {
  double values = 0;
  for (const EagerRead& read : reads) {
    values += read.values;
  }
  return values;
}

namespace eager {
namespace {

constexpr double kIndexBytes = 8;  // PyTorch's indices are of 64 bits

Traffic traffic_of(ProductClass kind) {
  using Kind = ProductClass;
  switch (kind) {
    case Kind::grouped:
      return Traffic::grouped;
    case Kind::depthwise:
      return Traffic::depthwise;
    case Kind::linear:
    case Kind::batched:
    case Kind::attention:
      return Traffic::matrix;
    default:
      return Traffic::convolution;
  }
}

// Backward it also sums the gradients of scale and shift.
EagerOperation normalisation(Traffic traffic, const EagerFlow& flow, double backward,
                             AutocastDtype autocast) {
  return {.traffic = traffic,
          .flow = flow,
          .backward = backward,
          .saved = Saved::inputs,
          .autocast = autocast,
          .backward_launches = 7};
}

}  // namespace

EagerFlow previous(double values) {
  return {{{EagerRead::kPrevious, values}}, values};
}

EagerOperation movement(const EagerFlow& flow) {
  return {.traffic = Traffic::movement, .flow = flow, .backward = flow.read() + flow.written};
}

EagerOperation elementwise(const EagerFlow& flow, Saved saved) {
  return {.traffic = Traffic::elementwise, .flow = flow, .backward = 3 * flow.written, .saved = saved};
}

EagerOperation factors(const EagerFlow& flow, Saved saved) {
  return {.traffic = Traffic::elementwise, .flow = flow, .backward = 6 * flow.written, .saved = saved};
}

EagerOperation scaled(const EagerFlow& flow) {
  return {.traffic = Traffic::elementwise, .flow = flow, .backward = 2 * flow.written};
}

// The mask is of a byte a value.
EagerOperation dropout(const EagerFlow& flow) {
  return {
      .traffic = Traffic::elementwise, .flow = flow, .beside = flow.written, .backward = 2 * flow.written};
}

// Where two tensors are added, a gradient is summed: one of them has other uses.
EagerOperation sum(const EagerFlow& flow) {
  const bool of_tensors = flow.read() >= 2 * flow.written;
  return {.traffic = Traffic::elementwise, .flow = flow, .backward = of_tensors ? 3 * flow.written : 0};
}

EagerOperation join(const EagerFlow& flow) {
  return {.traffic = Traffic::movement, .flow = flow, .backward = 3 * flow.written};
}

// Training reads for the batch's mean and for the sums of two tensors, and makes a gradient from two.
EagerOperation batch_norm(const EagerFlow& flow) {
  return normalisation(Traffic::batch_norm, flow, 6 * flow.written, AutocastDtype::narrow);
}

// Written out, the centred values and their quotient by the deviation are saved in place of the input: the
// former twice, for the square and for the quotient.
EagerOperation norm(const EagerFlow& flow) {
  EagerOperation operation = normalisation(Traffic::norm, flow, 5 * flow.written, AutocastDtype::wide);
  operation.written_out.saved = 2 * flow.written;
  return operation;
}

EagerOperation softmax(const EagerFlow& flow) {
  return {.traffic = Traffic::norm,
          .flow = flow,
          .backward = 5 * flow.written,
          .saved = Saved::result,
          .autocast = AutocastDtype::wide};
}

EagerOperation max_pool(const EagerFlow& flow) {
  return {.traffic = Traffic::movement,
          .flow = flow,
          .beside = flow.written * kIndexBytes,
          .backward = 2 * flow.read() + 3 * flow.written,
          .saved = Saved::inputs};
}

EagerOperation mean(const EagerFlow& flow) {
  return {.traffic = Traffic::movement, .flow = flow, .backward = flow.read()};
}

EagerOperation product(const EagerFlow& flow, const EagerProduct& product) {
  return {.traffic = traffic_of(product.kind),
          .flow = flow,
          .saved = Saved::inputs,
          .autocast = AutocastDtype::narrow,
          .product = product};
}

EagerOperation in_fp32(EagerOperation operation) {
  operation.autocast = AutocastDtype::wide;
  return operation;
}

}  // namespace eager
}  // namespace bench::kernels
