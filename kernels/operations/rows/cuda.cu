// Rows and their gradient as copies, one launch a map: in nhwc a sample's rows lie in its map as they do in
// dst.
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/operations/rows/rows.h"

namespace bench::kernels::cuda {

template <class Machine>
class RowsOperation final : public KernelOperation<Machine, Rows> {
 public:
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
    auto reason = not_nhwc(spec.dst());
    for (std::size_t i = 0; !reason && i < spec.maps.size(); ++i) {
      reason = not_nhwc(spec.maps[i]);
    }
    return reason;
  }

  using KernelOperation<Machine, Rows>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    const auto at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (!spec_.forward()) {
      return copy(spec_.index, at(Slot::diff_dst), at(Slot::diff_src));
    }
    for (std::size_t i = 0; i < spec_.maps.size(); ++i) {
      copy(i, at(Slot::dst), at(kSources[i]));
    }
  }

 private:
  // Between a map, or its gradient, and its rows. Whole samples are copied as if they were pixels.
  void copy(std::size_t index, std::byte* joined, std::byte* input) const {
    const TensorDesc& map = spec_.maps[index];
    const TensorDesc dst = spec_.dst();
    const std::int64_t row = spec_.classes * bytes_of(map.dtype);
    const std::int64_t bytes = map.h * map.w * map.c * bytes_of(map.dtype);
    const PixelMap own{.data = input, .pitch = bytes};
    const PixelMap part{.data = joined + spec_.first_row(index) * row, .pitch = dst.h * row};
    copy_pixels<Machine>(this->queue(), {.from = spec_.forward() ? own : part,
                                         .to = spec_.forward() ? part : own,
                                         .samples = map.n,
                                         .bytes = bytes});
  }

  using KernelOperation<Machine, Rows>::spec_;
};

template struct OnGpu<RowsOperation>;

}  // namespace bench::kernels::cuda
