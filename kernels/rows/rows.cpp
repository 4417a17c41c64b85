#include "kernels/rows/rows.h"

#include <fmt/format.h>

namespace bench::kernels {

TensorDesc Rows::dst() const {
  return {.n = maps.front().n,
          .c = classes,
          .h = first_row(maps.size()),
          .w = 1,
          .layout = Layout::nhwc,
          .dtype = maps.front().dtype};
}

std::int64_t Rows::first_row(std::size_t index) const {
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < index; ++i) {
    rows += maps[i].h * maps[i].w * (maps[i].c / classes);
  }
  return rows;
}

std::optional<std::string> Rows::invalid() const {
  if (maps.empty() || maps.size() > kSources.size() || classes < 1) {
    return fmt::format("rows: {} maps of {} classes, but 1 to {} maps of at least 1 are accepted",
                       maps.size(), classes, kSources.size());
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

}  // namespace bench::kernels
