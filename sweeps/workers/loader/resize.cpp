#include "sweeps/workers/loader/resize.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bench::loader {
namespace {

int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

constexpr int kHalf = Filter::kOne / 2;

// No weight is negative and they add up to one: a sum cannot leave the range of a byte.
std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(sum / Filter::kOne);
}

}  // namespace

void Filter::set(int size, double from, double to, int outputs, bool reversed, int group) {
  const double scale = (to - from) / outputs;
  const double support = std::max(scale, 1.0);  // the triangle's half width; enlarging only interpolates
  // More inputs than this never lie under the triangle: at its very ends it is 0.
  const int most = static_cast<int>(std::ceil(2 * support));
  taps = round_up(most, group);
  first.assign(static_cast<std::size_t>(outputs), 0);
  weights.assign(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(taps), 0);
  std::vector<double> exact(static_cast<std::size_t>(most));
  const int lowest = static_cast<int>(std::floor(from));
  const int highest = std::min(size, static_cast<int>(std::ceil(to)));
  for (int i = 0; i < outputs; ++i) {
    const double centre = from + (i + 0.5) * scale;
    const int begin = std::clamp(static_cast<int>(std::floor(centre - support + 0.5)), lowest, highest - 1);
    const int end = std::min(highest, static_cast<int>(std::floor(centre + support + 0.5)));
    const int count = std::clamp(end - begin, 1, most);
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      exact[k] = std::max(0.0, 1 - std::abs((k + begin - centre + 0.5) / support));
      sum += exact[k];
    }
    const std::size_t place = reversed ? outputs - 1 - i : i;
    // All taps within the part where it is wide enough, so that no more than a row is read past its end.
    first[place] = std::max(lowest, std::min(begin, highest - taps));
    std::int16_t* const out = &weights[place * static_cast<std::size_t>(taps)] + (begin - first[place]);
    int rest = kOne;
    for (int k = 0; k < count; ++k) {
      out[k] = static_cast<std::int16_t>(std::lround(exact[k] / sum * kOne));
      rest -= out[k];
    }
    // A flat area must stay as it is: the weights add up to one exactly.
    std::int16_t* const largest = std::max_element(out, out + count);
    *largest = static_cast<std::int16_t>(*largest + rest);
  }
}

void Filter::spread_weights() {
  spread.resize(weights.size() * 4);
  std::int16_t* out = spread.data();
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    for (int copy = 0; copy < 4; ++copy) {
      *out++ = weights[i];
      *out++ = weights[i + 1];
    }
  }
}

void resize_across(const Filter& across, const std::uint8_t* from, std::uint8_t* to) {
  const std::int16_t* weight = across.weights.data();
  for (const int first : across.first) {
    std::array<std::int32_t, 4> sum{kHalf, kHalf, kHalf, kHalf};
    const std::uint8_t* pixel = from + 4 * static_cast<std::ptrdiff_t>(first);
    for (int k = 0; k < across.taps; ++k, pixel += 4) {
      for (std::size_t c = 0; c < 4; ++c) {
        sum[c] += weight[k] * pixel[c];
      }
    }
    for (std::size_t c = 0; c < 4; ++c) {
      to[c] = rounded(sum[c]);
    }
    weight += across.taps;
    to += 4;
  }
}

void resize_down(const std::int16_t* weights, int taps, const std::uint8_t* from, std::size_t stride,
                 int bytes, std::uint8_t* to) {
  constexpr int kBlock = 64;
  for (int begin = 0; begin < bytes; begin += kBlock) {
    const int count = bytes - begin < kBlock ? bytes - begin : kBlock;
    std::array<std::int32_t, kBlock> sum{};
    sum.fill(kHalf);
    for (int k = 0; k < taps; ++k) {
      const std::uint8_t* const row = from + static_cast<std::size_t>(k) * stride + begin;
      for (int i = 0; i < count; ++i) {
        sum[i] += weights[k] * row[i];
      }
    }
    for (int i = 0; i < count; ++i) {
      to[begin + i] = rounded(sum[i]);
    }
  }
}

Instructions best_instructions() {
  return avx2_usable() ? Instructions::avx2 : Instructions::portable;
}

void Resizer::resize(const Pixels& from, const Part& part, int size, bool flip, std::uint8_t* to) {
  const bool avx2 = instructions_ == Instructions::avx2;
  across_.set(from.width, part.left, part.right, size, flip, Filter::kAcross);
  down_.set(from.height, part.top, part.bottom, size, false, Filter::kDown);
  if (avx2) {
    across_.spread_weights();
  }

  const auto across = avx2 ? resize_across_avx2 : resize_across;
  const auto down = avx2 ? resize_down_avx2 : resize_down;
  const int bytes = 4 * size;
  const auto stride = static_cast<std::size_t>(round_up(bytes, 32));
  const int top = static_cast<int>(part.top);
  const int bottom = std::min(from.height, static_cast<int>(std::ceil(part.bottom)));
  // Taps of weight 0 reach past the last row: those rows exist and are ignored.
  rows_.resize(std::max(rows_.size(), static_cast<std::size_t>(bottom - top + down_.taps) * stride));
  for (int y = top; y < bottom; ++y) {
    across(across_, from.data + static_cast<std::size_t>(y) * from.stride,
           rows_.data() + static_cast<std::size_t>(y - top) * stride);
  }
  for (int y = 0; y < size; ++y) {
    down(&down_.weights[static_cast<std::size_t>(y) * static_cast<std::size_t>(down_.taps)], down_.taps,
         rows_.data() + static_cast<std::size_t>(down_.first[y] - top) * stride, stride, bytes,
         to + static_cast<std::size_t>(y) * static_cast<std::size_t>(bytes));
  }
}

std::int64_t Resizer::scratch_bytes() const {
  return static_cast<std::int64_t>(
      rows_.capacity() +
      (across_.weights.capacity() + across_.spread.capacity() + down_.weights.capacity()) * 2 +
      (across_.first.capacity() + down_.first.capacity()) * sizeof(int));
}

}  // namespace bench::loader
