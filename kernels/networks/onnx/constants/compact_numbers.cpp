#include "kernels/networks/onnx/constants/compact_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench::kernels::onnx {
namespace {

// −0 is no integer, since its sign counts.
template <class T>
bool holds(double value) {
  if constexpr (std::numeric_limits<T>::is_integer) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max() &&
           static_cast<double>(static_cast<T>(value)) == value && !(value == 0 && std::signbit(value));
  } else {
    return sizeof(T) == sizeof(double) || !std::isfinite(value) ||
           (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
            static_cast<double>(static_cast<T>(value)) == value);
  }
}

// Makes a list of wider numbers; false where they cannot hold the value or one that is there.
template <class Wide, class Kinds>
bool widen(Kinds& kinds, double value) {
  return std::visit(
      [&](const auto& values) {
        const auto fits = [](const auto& each) { return holds<Wide>(static_cast<double>(each)); };
        if (!holds<Wide>(value) || !std::ranges::all_of(values, fits)) {
          return false;
        }
        std::vector<Wide> wide;
        wide.reserve(std::max(values.capacity(), values.size() + 1));
        for (const auto each : values) {
          wide.push_back(static_cast<Wide>(each));
        }
        kinds = std::move(wide);
        return true;
      },
      kinds);
}

}  // namespace

void CompactNumbers::widen_to_hold(double value) {
  const bool held =
      std::visit([&]<class T>(const std::vector<T>& /*values*/) { return holds<T>(value); }, values_);
  if (held) {
    return;
  }
  const std::size_t kind = values_.index();
  if ((kind < 1 && widen<std::int32_t>(values_, value)) || (kind < 2 && widen<float>(values_, value))) {
    return;
  }
  widen<double>(values_, value);
}

}  // namespace bench::kernels::onnx
