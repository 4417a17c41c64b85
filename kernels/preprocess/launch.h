// Preprocessing by our own kernels, one for each order of the result.
#pragma once

#include "kernels/cuda/kernel_operation.h"
#include "kernels/preprocess/preprocess.cuh"
#include "kernels/preprocess/preprocess.h"

namespace bench::kernels::cuda {

template <class Machine>
class PreprocessOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Preprocess;
  static Dtype dtype_of(const Preprocess& spec) { return spec.dst.dtype; }
  static std::optional<std::string> unsupported(const Preprocess& spec) {
    TensorDesc counted = spec.dst;
    counted.layout = Layout::nhwc;
    const auto reason = spec.invalid();
    return reason ? reason : not_nhwc(counted);
  }

  PreprocessOperation(const Preprocess& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_opaque(Slot::src, Role::input, spec.src_bytes());
    this->add_activation(Slot::dst, Role::output, spec.dst);
    for (std::size_t c = 0; c < Preprocess::kMostChannels; ++c) {
      const double deviation = spec.deviation[c];
      factors_.factor[c] = static_cast<float>(1 / (255 * deviation));
      factors_.offset[c] = static_cast<float>(-double{spec.mean[c]} / deviation);
    }
  }

  void run(const SlotPointers& pointers) override {
    const auto* const src = static_cast<const std::uint8_t*>(pointers[Slot::src]);
    this->with_element(spec_.dst.dtype, [&]<class Element>() {
      auto* const dst = this->template stored<Element>(pointers, Slot::dst);
      const bool whole = aligned(kAccess, 0, src, dst);
      if (spec_.dst.layout == Layout::nchw) {
        if (whole && spec_.dst.h * spec_.dst.w % kLanes<Element> == 0) {
          planes<Element, kLanes<Element>>(src, dst);
        } else {
          planes<Element, 1>(src, dst);
        }
      } else if (whole) {
        bytes<Element, kLanes<Element>>(src, dst);
      } else {
        bytes<Element, 1>(src, dst);
      }
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Element, int kCount, class Stored>
  void bytes(const std::uint8_t* src, Stored* dst) const {
    using Kernel = NormalizeBytes<Element, kCount>;
    const std::int64_t count = spec_.dst.elements();
    const std::int64_t groups = count / kCount;
    this->queue().launch(Kernel{src, dst, static_cast<std::uint32_t>(groups),
                                static_cast<std::uint32_t>(count), Divider(spec_.dst.c), factors_},
                         blocks_for(groups + count % kCount, Kernel::kThreads));
  }

  template <class Element, int kCount, class Stored>
  void planes(const std::uint8_t* src, Stored* dst) const {
    using Kernel = NormalizePlanes<Element, kCount>;
    const std::int64_t groups = spec_.dst.elements() / kCount;
    this->queue().launch(Kernel{src, dst, static_cast<std::uint32_t>(groups),
                                Divider(spec_.dst.h * spec_.dst.w / kCount), Divider(spec_.dst.c), factors_},
                         blocks_for(groups, Kernel::kThreads));
  }

  Preprocess spec_;
  ChannelFactors factors_{};
};

}  // namespace bench::kernels::cuda
