#include "kernels/networks/onnx/constants/constant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/refused.h"
#include "kernels/networks/onnx/reader/tensor.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::int64_t kMostCompactNumbers = std::int64_t{1} << 48;

float from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25));
}

template <class T>
CompactNumbers read(std::span<const std::byte> bytes, std::int64_t count, double (*number)(T) = nullptr) {
  CompactNumbers values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values.push_back(number == nullptr ? static_cast<double>(value) : number(value));
  }
  return values;
}

CompactNumbers read(ElementType type, std::span<const std::byte> bytes, std::int64_t count) {
  switch (type) {
    case ElementType::f32:
      return read<float>(bytes, count);
    case ElementType::f64:
      return read<double>(bytes, count);
    case ElementType::u8:
    case ElementType::boolean:
      return read<std::uint8_t>(bytes, count);
    case ElementType::i8:
      return read<std::int8_t>(bytes, count);
    case ElementType::u16:
      return read<std::uint16_t>(bytes, count);
    case ElementType::i16:
      return read<std::int16_t>(bytes, count);
    case ElementType::i32:
      return read<std::int32_t>(bytes, count);
    case ElementType::u32:
      return read<std::uint32_t>(bytes, count);
    case ElementType::u64:
      return read<std::uint64_t>(bytes, count);
    case ElementType::f16:
      return read<std::uint16_t>(bytes, count,
                                 [](std::uint16_t bits) { return static_cast<double>(from_half(bits)); });
    case ElementType::bf16:
      return read<std::uint16_t>(bytes, count, [](std::uint16_t bits) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
      });
    default:
      return read<std::int64_t>(bytes, count);
  }
}

}  // namespace

std::int64_t elements_of(const Extents& dims) {
  std::int64_t count = 1;
  for (const Extent& extent : dims) {
    if (extent.size == 0) {
      return 0;
    }
    if (extent.size < 0 || count > kMostCompactNumbers / extent.size) {
      throw Refused("a value of more elements than can be: at most 2^48");
    }
    count *= extent.size;
  }
  return count;
}

std::int64_t to_whole(double value) {
  constexpr double kLimit = 9.2233720368547758e18;
  if (std::isnan(value)) {
    return 0;
  }
  return value >= kLimit    ? std::numeric_limits<std::int64_t>::max()
         : value <= -kLimit ? std::numeric_limits<std::int64_t>::min()
                            : static_cast<std::int64_t>(value);
}

void Constant::append(const Number& number) {
  if (number.per_batch != 0 && per_batch.empty()) {
    per_batch.assign(values.size(), 0);
  }
  values.push_back(number.fixed);
  if (!per_batch.empty() || number.per_batch != 0) {
    per_batch.push_back(number.per_batch);
  }
}

std::vector<std::int64_t> Constant::wholes() const {
  const std::int64_t count = elements();
  if (count > Budget::kMost) {
    throw Refused(fmt::format("a list of {} numbers", count));
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Number each = number(i);
    if (each.per_batch != 0) {
      throw Refused("a number that depends on the batch");
    }
    all[static_cast<std::size_t>(i)] = to_whole(each.fixed);
  }
  return all;
}

std::int64_t Constant::whole() const {
  if (elements() != 1) {
    throw Refused(fmt::format("{} numbers where one is needed", elements()));
  }
  return wholes().front();
}

Constant Constant::of(std::vector<std::int64_t> wholes) {
  Constant made{.type = ElementType::i64, .dims = {static_cast<std::int64_t>(wholes.size())}, .values = {}};
  made.values.assign(wholes.begin(), wholes.end());
  return made;
}

Constant Constant::uniform(ElementType type, Extents dims, double value) {
  return {.type = type, .dims = std::move(dims), .values = {value}};
}

void Budget::take(std::int64_t elements) {
  const auto within = [&](std::int64_t before, std::int64_t most) {
    if (elements > most - before) {
      throw Refused(fmt::format("folding constants would make more than {} elements", most));
    }
  };
  within(0, kMost);
  within(held_, kMostHeld);
  within(made_, kMostInAll);
  held_ += elements;
  made_ += elements;
}

std::shared_ptr<const Constant> constant_of(const Tensor& tensor, Budget& budget) {
  const std::uint64_t size = element_size(tensor.type);
  if (size == 0 || (tensor.external && is_float(tensor.type))) {
    return nullptr;
  }
  Extents dims(tensor.dims.begin(), tensor.dims.end());
  const std::int64_t count = elements_of(dims);
  if (tensor.external || tensor.bytes.size() != static_cast<std::size_t>(count) * size) {
    return std::make_shared<Constant>(
        Constant::uniform(tensor.type, std::move(dims), tensor.type == ElementType::boolean ? 1 : 0));
  }
  budget.take(count);
  Constant made{
      .type = tensor.type, .dims = std::move(dims), .values = read(tensor.type, tensor.bytes, count)};
  compress(made);
  budget.give_back(count - made.held());
  return std::make_shared<Constant>(std::move(made));
}

void compress(Constant& constant) {
  const auto alike = [](const auto& values) {
    std::size_t i = 1;
    while (i < values.size() && values[i] == values[0]) {
      ++i;
    }
    return i >= values.size();
  };
  if (constant.values.size() > 1 && alike(constant.values) && alike(constant.per_batch)) {
    const Number each{constant.values.front(), constant.per_batch.empty() ? 0 : constant.per_batch.front()};
    constant.values.assign(1, each.fixed);
    constant.per_batch.assign(each.per_batch == 0 ? 0 : 1, each.per_batch);
  }
}

Constant picked(const Constant& input, Extents dims, const std::vector<std::int64_t>& from) {
  Constant made{.type = input.type, .dims = std::move(dims), .values = {}};
  made.sample_step = input.sample_step;
  if (input.is_uniform()) {
    made.values = input.values;
    made.per_batch = input.per_batch;
    return made;
  }
  made.values.reserve(from.size());
  for (const std::int64_t at : from) {
    made.append(input.number(at));
  }
  compress(made);
  return made;
}

std::vector<std::int64_t> steps_of(const Extents& dims) {
  std::vector<std::int64_t> steps(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) {
    steps[i - 1] = steps[i] * dims[i].size;
  }
  return steps;
}

}  // namespace bench::kernels::onnx
