#pragma once

#include <cstdint>

namespace bench::kernels {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;

}  // namespace bench::kernels
