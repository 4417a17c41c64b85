#include "kernels/operations/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "kernels/operations/element.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kBlock = 16;  // channels that stay together in nChw16c

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Where one (n, c) plane lies in the stored tensor, in elements.
struct Plane {
  std::int64_t start;
  std::int64_t step_h;
  std::int64_t step_w;
};

Plane plane_of(const TensorDesc& desc, std::int64_t n, std::int64_t c) {
  const std::int64_t area = desc.h * desc.w;
  switch (desc.layout) {
    case Layout::nchw:
      return {(n * desc.c + c) * area, desc.w, 1};
    case Layout::nhwc:
      return {n * area * desc.c + c, desc.w * desc.c, desc.c};
    case Layout::nchw16c:
      break;
  }
  const std::int64_t channels = rounded_up(desc.c, kBlock);
  return {n * channels * area + c / kBlock * kBlock * area + c % kBlock, desc.w * kBlock, kBlock};
}

// Whether the stored order is that of plain NCHW, so that a tensor is one row of values.
bool stored_as_nchw(const TensorDesc& desc) {
  return desc.layout == Layout::nchw ||
         (desc.layout == Layout::nhwc && (desc.c == 1 || desc.h * desc.w == 1));
}

// Few values are converted sooner than threads are woken.
constexpr std::int64_t kWorthThreads = 1 << 18;

// Where the stored form is the plain one.
bool is_plain(const TensorDesc& desc) {
  return desc.layout == Layout::nchw && (desc.dtype == Dtype::fp32 || desc.dtype == Dtype::tf32);
}

// Calls visit(place in NCHW order, place in the stored tensor) for each element.
template <class Visit>
void for_each_place(const TensorDesc& desc, const Visit& visit) {
  const std::int64_t count = desc.elements();
  if (stored_as_nchw(desc)) {
#pragma omp parallel for schedule(static) if (count > kWorthThreads)
    for (std::int64_t i = 0; i < count; ++i) {
      visit(i, i);
    }
    return;
  }
#pragma omp parallel for schedule(static) if (count > kWorthThreads)
  for (std::int64_t n = 0; n < desc.n; ++n) {
    for (std::int64_t c = 0; c < desc.c; ++c) {
      const Plane plane = plane_of(desc, n, c);
      std::int64_t plain = (n * desc.c + c) * desc.h * desc.w;
      for (std::int64_t h = 0; h < desc.h; ++h) {
        for (std::int64_t w = 0; w < desc.w; ++w) {
          visit(plain++, plane.start + h * plane.step_h + w * plane.step_w);
        }
      }
    }
  }
}

template <class Visit>
void with_format(Dtype dtype, Visit visit) {
  switch (dtype) {
    case Dtype::fp32:
    case Dtype::tf32:
      return visit.template operator()<Fp32>();
    case Dtype::fp16:
      return visit.template operator()<Fp16>();
    case Dtype::bf16:
      return visit.template operator()<Bf16>();
  }
}

void require_elements(const TensorDesc& desc, std::size_t given) {
  if (static_cast<std::int64_t>(given) != desc.elements()) {
    throw std::invalid_argument("a tensor of " + std::to_string(desc.elements()) + " elements was given " +
                                std::to_string(given) + " values");
  }
}

// Steele, Lea and Flood's splitmix64 finaliser: a bijection whose outputs look independent.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::nchw:
      return "nchw";
    case Layout::nhwc:
      return "nhwc";
    case Layout::nchw16c:
      return "nchw16c";
  }
  return "?";
}

std::int64_t TensorDesc::bytes() const {
  const std::int64_t channels = layout == Layout::nchw16c ? rounded_up(c, kBlock) : c;
  return n * channels * h * w * bytes_of(dtype);
}

ChannelBlocks channel_blocks(const TensorDesc& tensor) {
  const std::int64_t width = tensor.layout == Layout::nhwc   ? tensor.c
                             : tensor.layout == Layout::nchw ? 1
                                                             : kBlock;
  return {.width = width, .count = (tensor.c + width - 1) / width};
}

std::int64_t stored_index(const TensorDesc& tensor, std::int64_t n, std::int64_t c, std::int64_t h,
                          std::int64_t w) {
  const Plane plane = plane_of(tensor, n, c);
  return plane.start + h * plane.step_h + w * plane.step_w;
}

void store(const TensorDesc& desc, std::span<const float> nchw, void* stored) {
  require_elements(desc, nchw.size());
  if (is_plain(desc)) {
    std::memcpy(stored, nchw.data(), nchw.size_bytes());
    return;
  }
  if (desc.layout == Layout::nchw16c && desc.c % kBlock != 0) {
    std::memset(stored, 0, static_cast<std::size_t>(desc.bytes()));
  }
  with_format(desc.dtype, [&]<class Format>() {
    auto* const out = static_cast<typename Format::Stored*>(stored);
    for_each_place(desc,
                   [out, nchw](std::int64_t from, std::int64_t to) { out[to] = Format::from(nchw[from]); });
  });
}

void load(const TensorDesc& desc, const void* stored, std::span<float> nchw) {
  require_elements(desc, nchw.size());
  if (is_plain(desc)) {
    std::memcpy(nchw.data(), stored, nchw.size_bytes());
    return;
  }
  with_format(desc.dtype, [&]<class Format>() {
    const auto* const in = static_cast<const typename Format::Stored*>(stored);
    for_each_place(desc, [in, nchw](std::int64_t to, std::int64_t from) { nchw[to] = Format::to(in[from]); });
  });
}

double relative_error(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) {
    throw std::invalid_argument("cannot compare " + std::to_string(a.size()) + " values with " +
                                std::to_string(b.size()));
  }
  double difference = 0;
  double reference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i];
    const double y = b[i];
    difference += (x - y) * (x - y);
    reference += y * y;
  }
  // A NaN or infinity anywhere makes a sum NaN or infinite; squares of finite floats fit a double.
  if (!std::isfinite(difference) || !std::isfinite(reference)) {
    return std::numeric_limits<double>::infinity();
  }
  return reference == 0 ? std::sqrt(difference) : std::sqrt(difference / reference);
}

void fill_random(std::span<float> values, std::uint64_t seed, std::uint64_t stream, std::uint64_t first) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t key = mix(mix(seed + kGolden) ^ (stream * kGolden + 1));
  constexpr std::int64_t kManyDraws = 1 << 15;
  const auto count = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static) if (count > kManyDraws)
  for (std::int64_t i = 0; i < count; ++i) {
    // Odd multiples of 2^-24: exact in fp32, evenly spread over (-1, 1), and never zero.
    const auto top24 =
        static_cast<std::int32_t>(mix(key + (first + static_cast<std::uint64_t>(i) + 1) * kGolden) >> 40);
    values[i] = static_cast<float>(2 * top24 + 1 - (1 << 24)) * 0x1p-24F;
  }
}

}  // namespace bench::kernels
