// Strided copies as they are defined in strided_copy.h, element by element.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

bool is_sound(const Array& array) {
  if (array.layout != Layout::nchw && array.dims.rank() != 4) {
    return false;
  }
  for (std::size_t dimension = 0; dimension < array.dims.rank(); ++dimension) {
    if (array.dims[dimension] < 1) {
      return false;
    }
  }
  return true;
}

}  // namespace

StridedCopy::Part StridedCopy::same(const Array& src) {
  Part part{.src = src};
  for (std::size_t dimension = 0; dimension < src.dims.rank(); ++dimension) {
    part.axes[dimension].dimension = static_cast<int>(dimension);
  }
  return part;
}

StridedCopy StridedCopy::reorder(const Array& src, const Array& dst) {
  return {.parts = {same(src)}, .dst = dst};
}

StridedCopy StridedCopy::joined(const std::vector<Array>& sources, const Array& dst, std::size_t along) {
  StridedCopy copy{.parts = {}, .dst = dst};
  std::int64_t before = 0;
  for (const Array& src : sources) {
    Part& part = copy.parts.emplace_back(same(src));
    for (std::size_t d = 0; d < dst.dims.rank(); ++d) {
      part.axes[d].start = d == along ? -before : -((dst.dims[d] - src.dims[d]) / 2);
    }
    before += src.dims[along];
  }
  return copy;
}

std::optional<std::string> StridedCopy::invalid() const {
  if (parts.empty() || parts.size() > kSources.size() || index >= parts.size()) {
    return fmt::format("strided copy: {} parts, but 1 to {} are accepted", parts.size(), kSources.size());
  }
  if (!is_sound(dst)) {
    return std::string("strided copy: sizes must be at least 1, and a layout belongs to four dimensions");
  }
  if (outside != Outside::value && parts.size() != 1) {
    return std::string("strided copy: several parts have no common border");
  }
  for (const Part& part : parts) {
    if (!is_sound(part.src) || part.src.dtype != dst.dtype) {
      return std::string("strided copy: the parts differ in dtype, or a size is below 1");
    }
    for (std::size_t d = 0; d < dst.dims.rank(); ++d) {
      const Axis& axis = part.axes[d];
      if (axis.dimension >= static_cast<int>(part.src.dims.rank())) {
        return std::string("strided copy: an input has no such dimension");
      }
      const bool repeated = dst.dims[d] > 1 && (axis.dimension < 0 || axis.step == 0);
      if (repeated && !forward()) {
        return std::string("strided copy: the gradient of repeated elements is a sum");
      }
      const std::int64_t size =
          axis.dimension < 0 ? 1 : part.src.dims[static_cast<std::size_t>(axis.dimension)];
      if (axis.dimension >= 0 && axis.step == 0 && (axis.start < 0 || axis.start >= size)) {
        return std::string("strided copy: a repeated element lies outside its input");
      }
      const std::int64_t behind = axis.start + dst.dims[d] - size;
      if (outside != Outside::value && axis.dimension >= 0 &&
          (axis.step != 1 || axis.start > 0 || behind < 0 ||
           (outside == Outside::reflect && (-axis.start >= size || behind >= size)))) {
        return std::string(
            "strided copy: a border lies around all of its input, and reflected is no wider than that");
      }
    }
  }
  return std::nullopt;
}

PlainSlots plain_slots(const StridedCopy& spec) {
  const std::size_t index = spec.forward() ? 0 : spec.index;
  PlainSlots slots =
      PlainSlots::without_parameters(spec.forward(), spec.parts[index].src.tensor(), spec.dst.tensor());
  for (std::size_t i = 1; spec.forward() && i < spec.parts.size(); ++i) {
    slots.add_activation(kSources[i], Role::input, spec.parts[i].src.tensor());
  }
  return slots;
}

namespace {

// The index of the element in `part`, in the order of its dimensions, that an element of dst reads; nullopt
// where it reads none.
std::optional<std::int64_t> read_by(const StridedCopy& spec, const StridedCopy::Part& part,
                                    const std::array<std::int64_t, Dims::kMost>& at) {
  std::array<std::int64_t, Dims::kMost> from{};
  for (std::size_t d = 0; d < spec.dst.dims.rank(); ++d) {
    const StridedCopy::Axis& axis = part.axes[d];
    if (axis.dimension < 0) {
      continue;
    }
    const std::int64_t size = part.src.dims[static_cast<std::size_t>(axis.dimension)];
    std::int64_t j = axis.start + axis.step * at[d];
    if (spec.outside == StridedCopy::Outside::edge) {
      j = std::clamp<std::int64_t>(j, 0, size - 1);
    } else if (spec.outside == StridedCopy::Outside::reflect) {
      j = j < 0 ? -j : j >= size ? 2 * (size - 1) - j : j;
    }
    if (j < 0 || j >= size) {
      return std::nullopt;
    }
    from[static_cast<std::size_t>(axis.dimension)] = j;
  }
  return Array{.dims = part.src.dims}.place(from);
}

// Calls visit(place in dst, place in the part) for each element that is copied, both in the order of the
// dimensions.
template <class Visit>
void for_each_copied(const StridedCopy& spec, const StridedCopy::Part& part, Visit visit) {
  const Dims& dims = spec.dst.dims;
  std::array<std::int64_t, Dims::kMost> at{};
  for (std::int64_t place = 0; place < dims.elements(); ++place) {
    if (const auto from = read_by(spec, part, at)) {
      visit(place, *from);
    }
    for (std::size_t d = dims.rank(); d > 0; --d) {
      if (++at[d - 1] < dims[d - 1]) {
        break;
      }
      at[d - 1] = 0;
    }
  }
}

class ReferenceStridedCopy final : public ReferenceOf<StridedCopy> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    if (!spec_.forward()) {
      const StridedCopy::Part& part = spec_.parts[spec_.index];
      const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
      std::vector<float> diff_src(static_cast<std::size_t>(part.src.dims.elements()));
      for_each_copied(spec_, part,
                      [&](std::int64_t to, std::int64_t from) { diff_src[from] += diff_dst[to]; });
      return write(pointers, Slot::diff_src, diff_src);
    }
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst.dims.elements()), spec_.value);
    for (std::size_t i = 0; i < spec_.parts.size(); ++i) {
      const std::vector<float> src = read(pointers, kSources[i]);
      for_each_copied(spec_, spec_.parts[i],
                      [&](std::int64_t to, std::int64_t from) { dst[to] = src[from]; });
    }
    write(pointers, Slot::dst, dst);
  }
};

const Registration<Implementation<StridedCopy>> BENCH_REGISTERED{
    reference_implementation<StridedCopy, ReferenceStridedCopy>()};

}  // namespace
}  // namespace bench::kernels
