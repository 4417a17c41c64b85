// Matrix product by cuBLASLt, with bias and activation in its epilogue; activations that it does not have
// come after it in a kernel of our own. The bias is stored in the dtype.
#include "bench/error.h"
#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/elementwise/bias.h"
#include "kernels/operations/matmul/matmul.h"

namespace bench::kernels {
namespace {

struct Planned {
  cublaslt::TunedProduct product;
  Activation left = Activation::none;  // after it, to our own kernel
};

// With the activation in the epilogue where cuBLASLt has an algorithm that does so.
Planned planned(const Matmul& spec, const Device& device) {
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

class CublasltMatmul final : public ReferenceOperation {
 public:
  CublasltMatmul(const Matmul& spec, Device& device)
      : spec_(spec), card_(cuda::card_of(device)), planned_(planned(spec, device)) {
    add_activation(Slot::src, Role::input, spec.src());
    add_values(Slot::weights, Role::parameter, spec.columns * spec.inner, spec.dtype);
    if (spec.bias) {
      add_values(Slot::bias, Role::parameter, spec.columns, spec.dtype);
    }
    add_activation(Slot::dst, Role::output, spec.dst());
    if (planned_.product.workspace() > 0) {
      slots_.push_back(cuda::library_scratch(planned_.product.workspace()));
    }
  }

  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return planned_.product.algorithm(); }

  void run(const SlotPointers& pointers) override {
    planned_.product.run({.a = pointers[Slot::src],
                          .b = pointers[Slot::weights],
                          .d = pointers[Slot::dst],
                          .bias = pointers[Slot::bias],
                          .workspace = pointers[Slot::workspace]});
    if (planned_.left != Activation::none) {
      const cuda::Matrix dst{.rows = spec_.rows, .columns = spec_.columns, .dtype = spec_.dtype};
      cuda::epilogue(card_, {.dst = dst, .activation = planned_.left}, pointers[Slot::dst], nullptr, nullptr);
    }
  }

 private:
  Matmul spec_;
  const cuda::Card& card_;
  Planned planned_;
};

const Registration<Implementation<Matmul>> BENCH_REGISTERED{{
    .name = "cublaslt",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported =
        [](const Matmul& spec, const Device& device) {
          return cublaslt::unsupported(spec.dtype, device, [&] { planned(spec, device); });
        },
    .make = [](const Matmul& spec, Device& device) { return std::make_unique<CublasltMatmul>(spec, device); },
}};

}  // namespace
}  // namespace bench::kernels
