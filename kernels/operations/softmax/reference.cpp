// Softmax as it is defined in softmax.h.
#include <algorithm>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/softmax/softmax.h"

namespace bench::kernels {

PlainSlots plain_slots(const Softmax& spec) {
  return PlainSlots::without_parameters(true, spec.tensor, spec.tensor);
}

namespace {

class ReferenceSoftmax final : public ReferenceOf<Softmax> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, Slot::src);
    const auto channels = static_cast<std::size_t>(spec_.tensor.c);
    for (std::size_t row = 0; row < values.size(); row += channels) {
      const std::span<float> x(values.data() + row, channels);
      const double largest = std::ranges::max(x);
      double sum = 0;
      for (const float value : x) {
        sum += std::exp(value - largest);
      }
      for (float& value : x) {
        value = static_cast<float>(std::exp(value - largest) / sum);
      }
    }
    write(pointers, Slot::dst, values);
  }
};

const Registration<Implementation<Softmax>> registered{cpu_implementation<Softmax, ReferenceSoftmax>(
    "reference", -1, [](const Softmax& spec, const Device& /*device*/) -> std::optional<std::string> {
      return spec.tensor.h == 1 && spec.tensor.w == 1
                 ? std::nullopt
                 : std::optional<std::string>("softmax takes rows of channels, not images");
    })};

}  // namespace
}  // namespace bench::kernels
