// Matrix product by cuBLASLt, with bias and activation in its epilogue; activations that it does not have
// come behind it in a kernel of our own. The bias is stored in the dtype.
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/backends/cublaslt/tuned.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/elementwise/bias.h"
#include "kernels/operations/matmul/matmul.h"

namespace bench::kernels {
namespace {

struct Planned {
  cublaslt::TunedProduct product;
  Activation left = Activation::none;  // behind it, to our own kernel
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

class CublasltMatmul final : public Operation {
 public:
  CublasltMatmul(const Matmul& spec, Device& device)
      : spec_(spec), device_(device), planned_(planned(spec, device)) {
    slots_.push_back(
        {.slot = Slot::src, .role = Role::input, .bytes = spec.src().bytes(), .tensor = spec.src()});
    add_parameter(Slot::weights, spec.columns * spec.inner);
    if (spec.bias) {
      add_parameter(Slot::bias, spec.columns);
    }
    slots_.push_back(
        {.slot = Slot::dst, .role = Role::output, .bytes = spec.dst().bytes(), .tensor = spec.dst()});
    if (planned_.product.workspace() > 0) {
      slots_.push_back(cuda::library_scratch(planned_.product.workspace()));
    }
  }

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return planned_.product.algorithm(); }

  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    store(stored(slot, plain.size()), plain, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    load(stored(slot, plain.size()), packed, plain);
  }

  void run(const SlotPointers& pointers) override {
    CUstream_st* const stream = cuda::stream_of(device_);
    planned_.product.run(stream, {.a = pointers[Slot::src],
                                  .b = pointers[Slot::weights],
                                  .d = pointers[Slot::dst],
                                  .bias = pointers[Slot::bias],
                                  .workspace = pointers[Slot::workspace]});
    if (planned_.left != Activation::none) {
      const cuda::Matrix dst{.rows = spec_.rows, .columns = spec_.columns, .dtype = spec_.dtype};
      cuda::finish(stream, {.dst = dst, .activation = planned_.left}, pointers[Slot::dst], nullptr, nullptr);
    }
  }

 private:
  void add_parameter(Slot slot, std::int64_t count) {
    slots_.push_back({.slot = slot,
                      .role = Role::parameter,
                      .bytes = count * bytes_of(spec_.dtype),
                      .plain_count = count});
  }

  TensorDesc stored(Slot slot, std::size_t plain_count) const {
    const SlotInfo* const info = find(slot);
    if (info == nullptr || info->plain_count != static_cast<std::int64_t>(plain_count)) {
      throw std::invalid_argument(fmt::format("matmul takes no {} of {} values", name_of(slot), plain_count));
    }
    return {.n = 1, .c = info->plain_count, .dtype = spec_.dtype};
  }

  Matmul spec_;
  Device& device_;
  Planned planned_;
  std::vector<SlotInfo> slots_;
};

std::optional<std::string> unsupported(const Matmul& spec, const Device& device) {
  return cublaslt::unsupported(spec.dtype, device, [&] { planned(spec, device); });
}

const Registration<Implementation<Matmul>> registered{{
    .name = "cublaslt",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported = unsupported,
    .make = [](const Matmul& spec, Device& device) { return std::make_unique<CublasltMatmul>(spec, device); },
}};

}  // namespace
}  // namespace bench::kernels
