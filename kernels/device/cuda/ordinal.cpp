#include "kernels/device/cuda/ordinal.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace bench::kernels::cuda {

int ordinal_of(const Device& device) {
  const std::string& id = device.info().id;
  const std::size_t start = id.find(':') + 1;  // 0 where there is none
  int ordinal = 0;
  const auto [end, error] = std::from_chars(id.data() + start, id.data() + id.size(), ordinal);
  if (start == 0 || error != std::errc() || end != id.data() + id.size()) {
    throw std::logic_error(fmt::format("'{}' is no CUDA device: its id ends in no number", id));
  }
  return ordinal;
}

}  // namespace bench::kernels::cuda
