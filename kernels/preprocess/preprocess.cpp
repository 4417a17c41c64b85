#include "kernels/preprocess/preprocess.h"

#include <fmt/format.h>

namespace bench::kernels {

std::optional<std::string> Preprocess::invalid() const {
  if (dst.n < 1 || dst.c < 1 || dst.h < 1 || dst.w < 1) {
    return std::string("preprocess: sizes must be at least 1");
  }
  if (dst.c > static_cast<std::int64_t>(kMostChannels)) {
    return fmt::format("preprocess: images have 1 to {} channels, not {}", kMostChannels, dst.c);
  }
  if (dst.layout == Layout::nchw16c) {
    return std::string("preprocess: the result is nhwc or nchw");
  }
  for (std::int64_t c = 0; c < dst.c; ++c) {
    if (!(deviation[static_cast<std::size_t>(c)] > 0)) {
      return fmt::format("preprocess: the deviation of channel {} must be above 0", c);
    }
  }
  return std::nullopt;
}

}  // namespace bench::kernels
