#include "kernels/backends/cudnn/convolution_operation.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/elementwise/bias.h"

namespace bench::kernels::cudnn {
namespace {

using Direction = Conv2d::Direction;

cuda::Matrix matrix_of(const TensorDesc& tensor) {
  return {.rows = tensor.n * tensor.h * tensor.w, .columns = tensor.c, .dtype = tensor.dtype};
}

}  // namespace

ConvolutionOperation::ConvolutionOperation(const Conv2d& spec, const TensorSlots& names, bool bias,
                                           bool wide_bias, Device& device)
    : spec_(spec),
      names_(names),
      bias_(bias),
      wide_bias_(wide_bias),
      device_(device),
      tuned_(spec, cuda::card_of(device)) {
  const bool writes_x = spec.direction == Direction::backward_data;
  const bool writes_w = spec.direction == Direction::backward_weights;
  std::int64_t workspace = tuned_.workspace();
  if (writes_x) {
    add_activation(names.y, Role::input, spec.dst());
  } else {
    add_activation(names.x, Role::input, spec.src());
  }
  if (writes_w) {
    add_activation(names.y, Role::input, spec.dst());
  }
  add_parameter(names.w, writes_w ? Role::output : Role::parameter);
  if (bias) {
    add_parameter(writes_w ? Slot::diff_bias : Slot::bias, writes_w ? Role::output : Role::parameter);
  }
  if (spec.residual) {
    add_activation(Slot::src1, Role::input, spec.dst());
  }
  if (writes_x) {
    add_activation(names.x, Role::output, spec.src());
  } else if (!writes_w) {
    add_activation(names.y, Role::output, spec.dst());
  } else if (bias) {
    workspace = std::max(workspace, cuda::column_sums_scratch(matrix_of(biased())));
  }
  if (workspace > 0) {
    slots_.push_back(cuda::library_scratch(workspace));
  }
}

void ConvolutionOperation::add_activation(Slot slot, Role role, const TensorDesc& tensor) {
  slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
}

void ConvolutionOperation::add_parameter(Slot slot, Role role) {
  const std::int64_t count = slot == names_.w ? spec_.weight_count() : biased().c;
  slots_.push_back({.slot = slot, .role = role, .plain_count = count});
  slots_.back().bytes = stored(slot, static_cast<std::size_t>(count)).bytes();
}

TensorDesc ConvolutionOperation::stored(Slot slot, std::size_t plain_count) const {
  const SlotInfo* const info = find(slot);
  if (info == nullptr || info->plain_count == 0) {
    throw std::invalid_argument(fmt::format("the convolution has no parameter {}", name_of(slot)));
  }
  if (info->plain_count != static_cast<std::int64_t>(plain_count)) {
    throw std::invalid_argument(
        fmt::format("{} takes {} values, {} given", name_of(slot), info->plain_count, plain_count));
  }
  if (slot == names_.w) {
    return {.n = spec_.out_channels,
            .c = spec_.in_channels / spec_.groups,
            .h = spec_.kernel_h,
            .w = spec_.kernel_w,
            .layout = Layout::nhwc,
            .dtype = spec_.dtype};
  }
  return {.n = 1, .c = info->plain_count, .dtype = wide_bias_ ? Dtype::fp32 : spec_.dtype};
}

void ConvolutionOperation::pack(Slot slot, std::span<const float> plain, void* packed) {
  store(stored(slot, plain.size()), plain, packed);
}

void ConvolutionOperation::unpack(Slot slot, const void* packed, std::span<float> plain) {
  load(stored(slot, plain.size()), packed, plain);
}

void ConvolutionOperation::run(const SlotPointers& pointers) {
  CUstream_st* const stream = cuda::stream_of(device_);
  tuned_.run(stream, {.x = pointers[names_.x],
                      .w = pointers[names_.w],
                      .y = pointers[names_.y],
                      .bias = pointers[Slot::bias],
                      .residual = pointers[Slot::src1],
                      .workspace = pointers[Slot::workspace]});
  if (!bias_) {
    return;
  }
  const Slot side = names_.transposed ? names_.x : names_.y;
  if (spec_.direction == Direction::backward_weights) {
    cuda::column_sums(stream, matrix_of(biased()), pointers[side],
                      static_cast<float*>(pointers[Slot::diff_bias]), pointers[Slot::workspace]);
  } else if (names_.transposed) {
    cuda::finish(stream, {.dst = matrix_of(biased()), .wide_bias = wide_bias_}, pointers[side],
                 pointers[Slot::bias], nullptr);
  }
}

// Gradients of parts are added in the dtype they are stored in.
std::unique_ptr<Operation> make_convolution(const Conv2d& spec, const TensorSlots& names, bool bias,
                                            bool wide_bias, Device& device) {
  const auto make = [&](std::int64_t samples) {
    return std::make_unique<ConvolutionOperation>(of_samples(spec, samples), names, bias, wide_bias, device);
  };
  const cuda::Parts parts = parts_of(spec);
  if (parts.is_whole()) {
    return make(spec.batch);
  }
  const auto add = [&device, dtype = spec.dtype](const SlotInfo& slot, void* sum, const void* summand) {
    const bool wide = slot.bytes == slot.plain_count * bytes_of(Dtype::fp32);
    const cuda::Matrix row{.rows = 1, .columns = slot.plain_count, .dtype = wide ? Dtype::fp32 : dtype};
    cuda::finish(cuda::stream_of(device), {.dst = row}, sum, nullptr, summand);
  };
  return std::make_unique<cuda::PartedOperation>(parts, make, add);
}

}  // namespace bench::kernels::cudnn
