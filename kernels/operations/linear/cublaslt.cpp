// A linear layer and its gradients by cuBLASLt, over plain weights; the gradient of the bias by a kernel of
// our own.
#include <algorithm>
#include <array>

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

class CublasltLinear final : public ReferenceOf<Linear> {
 public:
  CublasltLinear(const Linear& spec, Device& device)
      : ReferenceOf(spec), card_(cuda::card_of(device)), product_(cublaslt::product_of(spec), device) {
    std::int64_t workspace = product_.workspace() + narrow_bias_bytes();
    if (find(Slot::diff_bias) != nullptr) {
      workspace = std::max(workspace, cuda::column_sums_scratch(dst()));
    }
    if (workspace > 0) {
      slots_.push_back(cuda::library_scratch(workspace));
    }
  }

  std::string algorithm() const override { return product_.algorithm(); }

  void run(const SlotPointers& pointers) override {
    const ProductSlots& slots = kProducts.at(static_cast<std::size_t>(spec_.direction));
    const void* bias = pointers[Slot::bias];
    auto* workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    if (narrow_bias_bytes() > 0) {
      cuda::narrow(card_, static_cast<const float*>(bias), workspace, spec_.columns, spec_.dtype);
      bias = workspace;
      workspace += narrow_bias_bytes();
    }
    product_.run({.a = pointers[slots.a],
                  .b = pointers[slots.b],
                  .d = pointers[slots.d],
                  .bias = bias,
                  .workspace = workspace});
    if (find(Slot::diff_bias) != nullptr) {
      cuda::column_sums(card_, dst(), pointers[Slot::diff_dst],
                        static_cast<float*>(pointers[Slot::diff_bias]), workspace);
    }
  }

 private:
  // The epilogue takes a bias of the result's dtype: a narrower one is made in the scratch.
  std::int64_t narrow_bias_bytes() const {
    const bool narrows =
        spec_.bias && spec_.direction == Direction::forward && bytes_of(spec_.dtype) < bytes_of(Dtype::fp32);
    return narrows ? cuda::before_library_scratch(spec_.columns * bytes_of(spec_.dtype)) : 0;
  }
  cuda::Matrix dst() const { return {.rows = spec_.rows, .columns = spec_.columns, .dtype = spec_.dtype}; }

  const cuda::Card& card_;
  cublaslt::TunedProduct product_;
};

const Registration<Implementation<Linear>> BENCH_REGISTERED{{
    .name = "cublaslt",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported =
        [](const Linear& spec, const Device& device) {
          return cublaslt::unsupported(spec.dtype, device, [&] {
            const cublaslt::TunedProduct product(cublaslt::product_of(spec), device);
          });
        },
    .make = [](const Linear& spec, Device& device) { return std::make_unique<CublasltLinear>(spec, device); },
}};

}  // namespace
}  // namespace bench::kernels
