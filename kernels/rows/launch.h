// Rows and their gradient as copies, one launch a map: in nhwc a sample's rows lie in its map as they do in
// dst.
#pragma once

#include "kernels/cuda/copy_launch.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/rows_backward.h"

namespace bench::kernels::cuda {

inline Dtype dtype_of_rows(const Rows& spec) {
  return spec.maps.empty() ? Dtype::fp32 : spec.maps.front().dtype;
}

inline std::optional<std::string> cannot_make_rows(const Rows& spec) {
  auto reason = spec.invalid();
  for (std::size_t i = 0; !reason && i < spec.maps.size(); ++i) {
    reason = not_nhwc(spec.maps[i]);
  }
  return reason ? reason : not_nhwc(spec.dst());
}

// Whole samples are copied as if they were pixels.
inline PixelCopy sample_copy(const Rows& spec, std::size_t index) {
  const TensorDesc& map = spec.maps[index];
  return {.n = map.n, .bytes = map.h * map.w * map.c * bytes_of(map.dtype)};
}
inline std::int64_t sample_bytes(const Rows& spec) {
  const TensorDesc dst = spec.dst();
  return dst.h * dst.c * bytes_of(dst.dtype);
}
inline std::int64_t bytes_before(const Rows& spec, std::size_t index) {
  return spec.first_row(index) * spec.classes * bytes_of(spec.maps[index].dtype);
}

template <class Machine>
class RowsOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Rows;
  static Dtype dtype_of(const Rows& spec) { return dtype_of_rows(spec); }
  static std::optional<std::string> unsupported(const Rows& spec) { return cannot_make_rows(spec); }

  RowsOperation(const Rows& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    for (std::size_t i = 0; i < spec.maps.size(); ++i) {
      this->add_activation(kSources[i], Role::input, spec.maps[i]);
    }
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    for (std::size_t i = 0; i < spec_.maps.size(); ++i) {
      PixelCopy copy = sample_copy(spec_, i);
      copy.src = pointers[kSources[i]];
      copy.src_pitch = copy.bytes;
      copy.dst = static_cast<std::byte*>(pointers[Slot::dst]) + bytes_before(spec_, i);
      copy.dst_pitch = sample_bytes(spec_);
      copy_pixels<Machine>(this->queue(), copy);
    }
  }

  double flops() const override { return 0; }

 private:
  Rows spec_;
};

template <class Machine>
class RowsBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = RowsBackward;
  static Dtype dtype_of(const RowsBackward& spec) { return dtype_of_rows(spec.forward); }
  static std::optional<std::string> unsupported(const RowsBackward& spec) {
    const auto reason = spec.invalid();
    return reason ? reason : cannot_make_rows(spec.forward);
  }

  RowsBackwardOperation(const RowsBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    this->add_activation(Slot::diff_src, Role::output, spec.src());
  }

  void run(const SlotPointers& pointers) override {
    PixelCopy copy = sample_copy(spec_.forward, spec_.index);
    copy.src =
        static_cast<const std::byte*>(pointers[Slot::diff_dst]) + bytes_before(spec_.forward, spec_.index);
    copy.src_pitch = sample_bytes(spec_.forward);
    copy.dst = pointers[Slot::diff_src];
    copy.dst_pitch = copy.bytes;
    copy_pixels<Machine>(this->queue(), copy);
  }

  double flops() const override { return 0; }

 private:
  RowsBackward spec_;
};

}  // namespace bench::kernels::cuda
