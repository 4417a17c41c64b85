// Rows and their gradient as they are defined in rows.h and rows_backward.h.
#include "kernels/reference/reference_operation.h"
#include "kernels/rows/rows_backward.h"

namespace bench::kernels {
namespace {

// Where element (n, channel, pixel) of a map stands among dst's values in NCHW order.
std::int64_t place(const Rows& spec, std::size_t index, std::int64_t n, std::int64_t channel,
                   std::int64_t pixel) {
  const std::int64_t a = channel / spec.classes;
  const std::int64_t k = channel % spec.classes;
  const std::int64_t row = spec.first_row(index) + pixel * (spec.maps[index].c / spec.classes) + a;
  return (n * spec.classes + k) * spec.dst().h + row;
}

// For each value of the map in NCHW order, with its place in dst.
template <class Visit>
void for_each_value(const Rows& spec, std::size_t index, Visit visit) {
  const TensorDesc& map = spec.maps[index];
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < map.n; ++n) {
    for (std::int64_t channel = 0; channel < map.c; ++channel) {
      for (std::int64_t pixel = 0; pixel < map.h * map.w; ++pixel, ++at) {
        visit(at, place(spec, index, n, channel, pixel));
      }
    }
  }
}

class ReferenceRows final : public ReferenceOperation {
 public:
  explicit ReferenceRows(const Rows& spec) : spec_(spec) {
    for (std::size_t i = 0; i < spec.maps.size(); ++i) {
      add_activation(kSources[i], Role::input, spec.maps[i]);
    }
    add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
    for (std::size_t i = 0; i < spec_.maps.size(); ++i) {
      const std::vector<float> map = read(pointers, kSources[i]);
      for_each_value(spec_, i, [&](std::int64_t in, std::int64_t out) { dst[out] = map[in]; });
    }
    write(pointers, Slot::dst, dst);
  }

  double flops() const override { return 0; }

 private:
  Rows spec_;
};

class ReferenceRowsBackward final : public ReferenceOperation {
 public:
  explicit ReferenceRowsBackward(const RowsBackward& spec) : spec_(spec) {
    add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    add_activation(Slot::diff_src, Role::output, spec.src());
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<float> diff_src(static_cast<std::size_t>(spec_.src().elements()));
    for_each_value(spec_.forward, spec_.index,
                   [&](std::int64_t in, std::int64_t out) { diff_src[in] = diff_dst[out]; });
    write(pointers, Slot::diff_src, diff_src);
  }

  double flops() const override { return 0; }

 private:
  RowsBackward spec_;
};

const Registration<Implementation<Rows>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Rows& spec, const Device& /*device*/) { return spec.invalid(); },
    .make = [](const Rows& spec, Device& /*device*/) { return std::make_unique<ReferenceRows>(spec); },
}};

const Registration<Implementation<RowsBackward>> registered_backward{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const RowsBackward& spec, const Device& /*device*/) { return spec.invalid(); },
    .make = [](const RowsBackward& spec,
               Device& /*device*/) { return std::make_unique<ReferenceRowsBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
