// A product with weights and its gradients by cuBLASLt, over the plain matrix in the dtype. Bias and
// activation are in its epilogue; activations that it does not have come after it in a kernel of our own, as
// does the gradient of the bias.
#include <algorithm>
#include <array>

#include "bench/error.h"
#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/elementwise/bias.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

// The slots of a direction's product d = a · b.
struct ProductSlots {
  Slot a, b, d;
};
constexpr std::array<ProductSlots, 3> kProducts{{
    {Slot::src, Slot::weights, Slot::dst},            // forward
    {Slot::diff_dst, Slot::weights, Slot::diff_src},  // backward_data
    {Slot::diff_dst, Slot::src, Slot::diff_weights},  // backward_weights
}};

struct Planned {
  cublaslt::TunedProduct product;
  Activation left = Activation::none;  // after it, to our own kernel
};

// With the activation in the epilogue where cuBLASLt has an algorithm that does so.
Planned planned(const Linear& spec, const Device& device) {
  cublaslt::Product product = cublaslt::product_of(spec);
  if (product.activation != Activation::none) {
    try {
      return {.product = {product, device}};
    } catch (const Unsupported&) {
      product.activation = Activation::none;
    }
  }
  return {.product = {product, device}, .left = spec.activation};
}

// As linear.h has them, but a packed bias is in the dtype, as the epilogue takes it.
PlainSlots slots_of(const Linear& spec) {
  if (!spec.packed) {
    return plain_slots(spec);
  }
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.src());
  slots.add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
  if (spec.bias) {
    slots.add_values(Slot::bias, Role::parameter, spec.columns, spec.dtype);
  }
  slots.add_activation(Slot::dst, Role::output, spec.dst());
  return slots;
}

class CublasltLinear final : public ReferenceOperation {
 public:
  CublasltLinear(const Linear& spec, Device& device)
      : ReferenceOperation(slots_of(spec)),
        spec_(spec),
        card_(cuda::card_of(device)),
        planned_(planned(spec, device)) {
    std::int64_t workspace = planned_.product.workspace() + narrow_bias_bytes();
    if (find(Slot::diff_bias) != nullptr) {
      workspace = std::max(workspace, cuda::column_sums_scratch(dst()));
    }
    if (workspace > 0) {
      slots_.push_back(cuda::library_scratch(workspace));
    }
  }

  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return planned_.product.algorithm(); }

  void run(const SlotPointers& pointers) override {
    const ProductSlots& slots = kProducts.at(static_cast<std::size_t>(spec_.direction));
    const void* bias = pointers[Slot::bias];
    auto* workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    if (narrow_bias_bytes() > 0) {
      cuda::narrow(card_, static_cast<const float*>(bias), workspace, spec_.columns, spec_.dtype);
      bias = workspace;
      workspace += narrow_bias_bytes();
    }
    planned_.product.run({.a = pointers[slots.a],
                          .b = pointers[slots.b],
                          .d = pointers[slots.d],
                          .bias = bias,
                          .workspace = workspace});
    if (planned_.left != Activation::none) {
      cuda::epilogue(card_, {.dst = dst(), .activation = planned_.left}, pointers[Slot::dst], nullptr,
                     nullptr);
    }
    if (find(Slot::diff_bias) != nullptr) {
      cuda::column_sums(card_, dst(), pointers[Slot::diff_dst],
                        static_cast<float*>(pointers[Slot::diff_bias]), workspace);
    }
  }

 private:
  // The epilogue takes a bias of the result's dtype: of one in fp32 a narrower one is made in the scratch.
  std::int64_t narrow_bias_bytes() const {
    const bool narrows = spec_.bias && !spec_.packed && spec_.direction == Direction::forward &&
                         bytes_of(spec_.dtype) < bytes_of(Dtype::fp32);
    return narrows ? cuda::before_library_scratch(spec_.columns * bytes_of(spec_.dtype)) : 0;
  }
  cuda::Matrix dst() const { return {.rows = spec_.rows, .columns = spec_.columns, .dtype = spec_.dtype}; }

  Linear spec_;
  const cuda::Card& card_;
  Planned planned_;
};

const Registration<Implementation<Linear>> BENCH_REGISTERED{{
    .name = "cublaslt",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported =
        [](const Linear& spec, const Device& device) {
          return cublaslt::unsupported(spec.dtype, device, [&] { planned(spec, device); });
        },
    .make = [](const Linear& spec, Device& device) { return std::make_unique<CublasltLinear>(spec, device); },
}};

}  // namespace
}  // namespace bench::kernels
