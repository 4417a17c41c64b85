// A linear layer and its gradients by cuBLASLt, over plain weights; the gradient of the bias by a kernel of
// our own.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/backends/cublaslt/tuned.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/elementwise/bias.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

using Direction = Linear::Direction;

class CublasltLinear final : public Operation {
 public:
  CublasltLinear(const Linear& spec, Device& device)
      : spec_(spec), device_(device), product_(cublaslt::product_of(spec), device) {
    std::int64_t workspace = product_.workspace();
    switch (spec.direction) {
      case Direction::forward:
        add(Slot::src, Role::input, spec.src());
        add_parameter(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
        if (spec.bias) {
          add_parameter(Slot::bias, Role::parameter, spec.columns, Dtype::fp32);
          workspace += narrow_bias_bytes();
        }
        add(Slot::dst, Role::output, spec.dst());
        break;
      case Direction::backward_data:
        add(Slot::diff_dst, Role::input, spec.dst());
        add_parameter(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
        add(Slot::diff_src, Role::output, spec.src());
        break;
      case Direction::backward_weights:
        add(Slot::src, Role::input, spec.src());
        add(Slot::diff_dst, Role::input, spec.dst());
        add_parameter(Slot::diff_weights, Role::output, spec.weight_count(), spec.dtype);
        if (spec.bias) {
          add_parameter(Slot::diff_bias, Role::output, spec.columns, Dtype::fp32);
          workspace = std::max(workspace, cuda::column_sums_scratch(dst()));
        }
        break;
      case Direction::backward:
        break;
    }
    if (workspace > 0) {
      slots_.push_back(cuda::library_scratch(workspace));
    }
  }

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return product_.algorithm(); }

  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    store(stored(slot, plain.size()), plain, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    load(stored(slot, plain.size()), packed, plain);
  }

  void run(const SlotPointers& pointers) override {
    CUstream_st* const stream = cuda::stream_of(device_);
    void* const workspace = pointers[Slot::workspace];
    switch (spec_.direction) {
      case Direction::forward:
        return forward(stream, pointers);
      case Direction::backward_data:
        return product_.run(stream, {.a = pointers[Slot::diff_dst],
                                     .b = pointers[Slot::weights],
                                     .d = pointers[Slot::diff_src],
                                     .workspace = workspace});
      case Direction::backward_weights:
        product_.run(stream, {.a = pointers[Slot::diff_dst],
                              .b = pointers[Slot::src],
                              .d = pointers[Slot::diff_weights],
                              .workspace = workspace});
        if (spec_.bias) {
          cuda::column_sums(stream, dst(), pointers[Slot::diff_dst],
                            static_cast<float*>(pointers[Slot::diff_bias]), workspace);
        }
        return;
      case Direction::backward:
        break;
    }
  }

 private:
  // The epilogue takes a bias of the result's dtype: a narrower one is made in the scratch.
  std::int64_t narrow_bias_bytes() const {
    const std::int64_t bytes = spec_.columns * bytes_of(spec_.dtype);
    return bytes_of(spec_.dtype) == bytes_of(Dtype::fp32) ? 0 : cuda::before_library_scratch(bytes);
  }

  void forward(CUstream_st* stream, const SlotPointers& pointers) {
    const void* bias = pointers[Slot::bias];
    auto* workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    if (spec_.bias && narrow_bias_bytes() > 0) {
      cuda::narrow(stream, static_cast<const float*>(bias), workspace, spec_.columns, spec_.dtype);
      bias = workspace;
      workspace += narrow_bias_bytes();
    }
    product_.run(stream, {.a = pointers[Slot::src],
                          .b = pointers[Slot::weights],
                          .d = pointers[Slot::dst],
                          .bias = bias,
                          .workspace = workspace});
  }

  cuda::Matrix dst() const { return {.rows = spec_.rows, .columns = spec_.columns, .dtype = spec_.dtype}; }

  void add(Slot slot, Role role, const TensorDesc& tensor) {
    slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
  }
  void add_parameter(Slot slot, Role role, std::int64_t count, Dtype dtype) {
    slots_.push_back({.slot = slot, .role = role, .bytes = count * bytes_of(dtype), .plain_count = count});
  }

  TensorDesc stored(Slot slot, std::size_t plain_count) const {
    const SlotInfo* const info = find(slot);
    if (info == nullptr || info->plain_count != static_cast<std::int64_t>(plain_count)) {
      throw std::invalid_argument(fmt::format("linear takes no {} of {} values", name_of(slot), plain_count));
    }
    const bool bias = slot == Slot::bias || slot == Slot::diff_bias;
    return {.n = 1, .c = info->plain_count, .dtype = bias ? Dtype::fp32 : spec_.dtype};
  }

  Linear spec_;
  Device& device_;
  cublaslt::TunedProduct product_;
  std::vector<SlotInfo> slots_;
};

std::optional<std::string> unsupported(const Linear& spec, const Device& device) {
  return cublaslt::unsupported(
      spec.dtype, device, [&] { const cublaslt::TunedProduct product(cublaslt::product_of(spec), device); });
}

const Registration<Implementation<Linear>> registered{{
    .name = "cublaslt",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported = unsupported,
    .make = [](const Linear& spec, Device& device) { return std::make_unique<CublasltLinear>(spec, device); },
}};

}  // namespace
}  // namespace bench::kernels
