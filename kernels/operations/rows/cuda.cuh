// Rows and their gradient as copies, one launch a map: in nhwc a sample's rows lie in its map as they do in
// dst.
#pragma once

#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/operations/rows/rows.h"

namespace bench::kernels::cuda {

template <class Machine>
class RowsOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Rows;
  static Dtype dtype_of(const Rows& spec) {
    return spec.maps.empty() ? Dtype::fp32 : spec.maps.front().dtype;
  }
  static Batch batch_of(const Rows& spec) { return {spec.dst().n, elements_of_sample(spec.dst())}; }
  static Rows of_samples(Rows spec, std::int64_t samples) {
    for (TensorDesc& map : spec.maps) {
      map.n = samples;
    }
    return spec;
  }
  static std::optional<std::string> unsupported(const Rows& spec) {
    auto reason = spec.invalid();
    for (std::size_t i = 0; !reason && i < spec.maps.size(); ++i) {
      reason = not_nhwc(spec.maps[i]);
    }
    return reason ? reason : not_nhwc(spec.dst());
  }

  RowsOperation(const Rows& spec, Device& device)
      : KernelOperation<Machine>(device, plain_slots(spec)), spec_(spec) {}

  void run(const SlotPointers& pointers) override {
    const auto at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (!spec_.forward()) {
      return copy(spec_.index, at(Slot::diff_dst), at(Slot::diff_src));
    }
    for (std::size_t i = 0; i < spec_.maps.size(); ++i) {
      copy(i, at(Slot::dst), at(kSources[i]));
    }
  }

  double flops() const override { return 0; }

 private:
  // Between a map, or its gradient, and its rows. Whole samples are copied as if they were pixels.
  void copy(std::size_t index, std::byte* joined, std::byte* input) const {
    const TensorDesc& map = spec_.maps[index];
    const TensorDesc dst = spec_.dst();
    const std::int64_t row = spec_.classes * bytes_of(map.dtype);
    std::byte* const part = joined + spec_.first_row(index) * row;
    PixelCopy copy{.n = map.n, .bytes = map.h * map.w * map.c * bytes_of(map.dtype)};
    copy.src = spec_.forward() ? input : part;
    copy.dst = spec_.forward() ? part : input;
    copy.src_pitch = spec_.forward() ? copy.bytes : dst.h * row;
    copy.dst_pitch = spec_.forward() ? dst.h * row : copy.bytes;
    copy_pixels<Machine>(this->queue(), copy);
  }

  Rows spec_;
};

}  // namespace bench::kernels::cuda
