#include "kernels/networks/onnx/constants/elements.h"

#include <algorithm>

namespace bench::kernels::onnx {

// To the narrowest kind that holds the new value and those that are there.
void Elements::widen(double value) {
  const auto fits = [](std::uint32_t bits) {
    return is_float(static_cast<double>(std::bit_cast<std::int32_t>(bits)));
  };
  if (kind_ == Kind::whole && is_float(value) && std::ranges::all_of(words_, fits)) {
    kind_ = Kind::floats;
    for (std::uint32_t& bits : words_) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<std::int32_t>(bits)));
    }
    return;
  }
  std::vector<double> wide;
  wide.reserve(words_.capacity());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    wide.push_back((*this)[i]);
  }
  doubles_ = std::move(wide);
  words_ = {};
  kind_ = Kind::doubles;
}

}  // namespace bench::kernels::onnx
