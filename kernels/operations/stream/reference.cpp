// The stream kernels as they are defined in stream.h.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/stream/stream.h"

namespace bench::kernels {

PlainSlots plain_slots(const Stream& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.src());
  if (spec.has_src1()) {
    slots.add_activation(Slot::src1, Role::input, spec.src());
  }
  slots.add_activation(Slot::dst, Role::output, spec.dst());
  return slots;
}

namespace {

class ReferenceStream final : public ReferenceOf<Stream> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const std::vector<float> src = read(pointers, Slot::src);
    const std::vector<float> src1 = spec_.has_src1() ? read(pointers, Slot::src1) : std::vector<float>{};
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
    if (spec_.kind == Stream::Kind::read) {
      const auto count = static_cast<std::size_t>(spec_.count);
      for (std::size_t row = 0; row < dst.size(); ++row) {
        double sum = 0;
        for (std::size_t i = row * count; i < (row + 1) * count; ++i) {
          sum += static_cast<double>(src[i]) * static_cast<double>(src[i]);
        }
        dst[row] = static_cast<float>(sum);
      }
    } else {
      for (std::size_t i = 0; i < dst.size(); ++i) {
        dst[i] = element(src[i], src1.empty() ? 0 : src1[i]);
      }
    }
    write(pointers, Slot::dst, dst);
  }

 private:
  float element(float a, float b) const {
    switch (spec_.kind) {
      case Stream::Kind::scale:
        return Stream::kScalar * a;
      case Stream::Kind::add:
        return a + b;
      case Stream::Kind::triad:
        return a + Stream::kScalar * b;
      default:
        return a;
    }
  }
};

const Registration<Implementation<Stream>> BENCH_REGISTERED{
    reference_implementation<Stream, ReferenceStream>()};

}  // namespace
}  // namespace bench::kernels
