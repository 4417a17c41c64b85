// Rows and their gradient as they are defined in rows.h.
#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/rows/rows.h"

namespace bench::kernels {

TensorDesc Rows::dst() const {
  return {.n = maps.front().n,
          .c = classes,
          .h = first_row(maps.size()),
          .w = 1,
          .layout = Layout::nhwc,
          .dtype = maps.front().dtype};
}

std::int64_t Rows::first_row(std::size_t map) const {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < map; ++i) {
    rows += maps[i].h * maps[i].w * (maps[i].c / classes);
  }
  return rows;
}

std::optional<std::string> Rows::invalid() const {
  if (maps.empty() || maps.size() > kSources.size() || classes < 1) {
    return fmt::format("rows: {} maps of {} classes, but 1 to {} maps of at least 1 are accepted",
                       maps.size(), classes, kSources.size());
  }
  if (index >= maps.size()) {
    return std::string("rows: there is no such map");
  }
  for (const TensorDesc& map : maps) {
    if (map.n < 1 || map.c < 1 || map.h < 1 || map.w < 1) {
      return std::string("rows: sizes must be at least 1");
    }
    if (map.c % classes != 0) {
      return fmt::format("rows: {} channels are no whole number of rows of {} classes", map.c, classes);
    }
    if (map.n != maps[0].n || map.dtype != maps[0].dtype) {
      return std::string("rows: the maps differ in batch or dtype");
    }
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Rows& spec) {
  const std::size_t index = spec.forward() ? 0 : spec.index;
  PlainSlots slots = PlainSlots::without_parameters(spec.forward(), spec.maps[index], spec.dst());
  for (std::size_t i = 1; spec.forward() && i < spec.maps.size(); ++i) {
    slots.add_activation(kSources[i], Role::input, spec.maps[i]);
  }
  return slots;
}

namespace {

// The index of a map's element (n, channel, pixel) among dst's values in NCHW order.
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

class ReferenceRows final : public ReferenceOf<Rows> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    if (!spec_.forward()) {
      const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
      std::vector<float> diff_src(static_cast<std::size_t>(spec_.maps[spec_.index].elements()));
      for_each_value(spec_, spec_.index,
                     [&](std::int64_t in, std::int64_t out) { diff_src[in] = diff_dst[out]; });
      return write(pointers, Slot::diff_src, diff_src);
    }
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
    for (std::size_t i = 0; i < spec_.maps.size(); ++i) {
      const std::vector<float> map = read(pointers, kSources[i]);
      for_each_value(spec_, i, [&](std::int64_t in, std::int64_t out) { dst[out] = map[in]; });
    }
    write(pointers, Slot::dst, dst);
  }
};

const Registration<Implementation<Rows>> BENCH_REGISTERED{reference_implementation<Rows, ReferenceRows>()};

}  // namespace
}  // namespace bench::kernels
