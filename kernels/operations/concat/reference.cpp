// Concatenation and its gradient as they are defined in concat.h.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/concat/concat.h"

namespace bench::kernels {

TensorDesc Concat::dst() const {
  TensorDesc dst = inputs.front();
  dst.c = first_channel(inputs.size());
  for (const TensorDesc& input : inputs) {
    dst.h = std::max(dst.h, input.h);
    dst.w = std::max(dst.w, input.w);
  }
  return dst;
}

std::int64_t Concat::first_channel(std::size_t input) const {
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < input; ++i) {
    channels += inputs[i].c;
  }
  return channels;
}

std::optional<std::string> Concat::invalid() const {
  if (inputs.size() < 2 || inputs.size() > kSources.size()) {
    return fmt::format("concat: {} inputs, but 2 to {} are accepted", inputs.size(), kSources.size());
  }
  if (index >= inputs.size()) {
    return std::string("concat: there is no such input");
  }
  for (const TensorDesc& input : inputs) {
    if (input.n < 1 || input.c < 1 || input.h < 1 || input.w < 1) {
      return std::string("concat: sizes must be at least 1");
    }
    if (input.n != inputs[0].n || input.layout != inputs[0].layout || input.dtype != inputs[0].dtype) {
      return std::string("concat: the inputs differ in batch, layout or dtype");
    }
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Concat& spec) {
  const std::size_t index = spec.forward() ? 0 : spec.index;
  PlainSlots slots = PlainSlots::without_parameters(spec.forward(), spec.inputs[index], spec.dst());
  for (std::size_t i = 1; spec.forward() && i < spec.inputs.size(); ++i) {
    slots.add_activation(kSources[i], Role::input, spec.inputs[i]);
  }
  return slots;
}

namespace {

// Calls visit with the places of each row of an input, in the input and in dst, in NCHW order.
template <class Visit>
void for_each_row(const Concat& spec, std::size_t index, Visit visit) {
  const TensorDesc& in = spec.inputs[index];
  const TensorDesc out = spec.dst();
  const std::int64_t top = (out.h - in.h) / 2;
  const std::int64_t left = (out.w - in.w) / 2;
  std::int64_t at = 0;
  for (std::int64_t n = 0; n < in.n; ++n) {
    for (std::int64_t c = 0; c < in.c; ++c) {
      for (std::int64_t h = 0; h < in.h; ++h, at += in.w) {
        const std::int64_t channel = n * out.c + spec.first_channel(index) + c;
        visit(at, (channel * out.h + top + h) * out.w + left);
      }
    }
  }
}

class ReferenceConcat final : public ReferenceOf<Concat> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    if (!spec_.forward()) {
      const TensorDesc& in = spec_.inputs[spec_.index];
      const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
      std::vector<float> diff_src(static_cast<std::size_t>(in.elements()));
      for_each_row(spec_, spec_.index, [&](std::int64_t inner, std::int64_t outer) {
        std::copy_n(&diff_dst[outer], in.w, &diff_src[inner]);
      });
      return write(pointers, Slot::diff_src, diff_src);
    }
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()), 0.0F);
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      const std::vector<float> src = read(pointers, kSources[i]);
      for_each_row(spec_, i, [&](std::int64_t inner, std::int64_t outer) {
        std::copy_n(&src[inner], spec_.inputs[i].w, &dst[outer]);
      });
    }
    write(pointers, Slot::dst, dst);
  }
};

const Registration<Implementation<Concat>> BENCH_REGISTERED{
    reference_implementation<Concat, ReferenceConcat>()};

}  // namespace
}  // namespace bench::kernels
