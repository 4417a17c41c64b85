#include "kernels/networks/onnx/reader/tensor.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/quote.h"

namespace bench::kernels::onnx {
namespace {

// TensorProto's fields.
enum Field : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloats = 4,
  kInts32 = 5,
  kInts64 = 7,
  kName = 8,
  kRaw = 9,
  kDoubles = 10,
  kUnsigned64 = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

// The field that holds elements of a type where they are not raw bytes.
std::uint32_t typed_field(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return kFloats;
    case ElementType::f64:
      return kDoubles;
    case ElementType::i64:
      return kInts64;
    case ElementType::u32:
    case ElementType::u64:
      return kUnsigned64;
    default:
      return kInts32;
  }
}

wire::Type wire_type(std::uint32_t field) {
  return field == kFloats    ? wire::Type::fixed32
         : field == kDoubles ? wire::Type::fixed64
                             : wire::Type::varint;
}

// Elements that a file holds number by number. Those of a large tensor are counted and not kept.
class Elements {
 public:
  void add(const wire::Message& message) {
    if (field_ != 0 && field_ != message.field()) {
      message.damaged("a tensor's elements in two fields");
    }
    field_ = message.field();
    const wire::Type type = wire_type(field_);
    if (message.type() != wire::Type::length) {
      if (message.type() != type) {
        message.damaged("a tensor's element of another wire type");
      }
      return add(message.bits());
    }
    const FileRange bytes = message.range();
    if (type != wire::Type::varint && bytes.size > kLargestValues) {  // not read for being counted
      const std::uint64_t width = type == wire::Type::fixed32 ? 4 : 8;
      if (bytes.size % width != 0) {
        message.damaged("a tensor's last element does not end");
      }
      count_ += bytes.size / width;
      return;
    }
    for (wire::Message packed = message.message(); packed.next_packed(type);) {
      add(packed.bits());
    }
  }

  std::uint32_t field() const { return field_; }  // 0: there are none
  std::uint64_t count() const { return count_; }

  // nullptr where some were not kept.
  std::shared_ptr<const std::vector<std::byte>> as(std::uint64_t size) const {
    if (bits_.size() != count_) {
      return nullptr;
    }
    auto bytes = std::make_shared<std::vector<std::byte>>();
    bytes->reserve(bits_.size() * size);
    for (const std::uint64_t bits : bits_) {
      for (std::uint64_t i = 0; i < size; ++i) {
        bytes->push_back(static_cast<std::byte>(bits >> (8 * i)));
      }
    }
    return bytes;
  }

 private:
  void add(std::uint64_t bits) {
    ++count_;
    if (count_ <= kLargestValues / sizeof(bits)) {
      bits_.push_back(bits);
    }
  }

  std::uint32_t field_ = 0;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> bits_;
};

std::string shown(const Tensor& tensor) {
  return fmt::format(
      "tensor {} ({} of {})", quote(tensor.name),
      tensor.dims.empty() ? "a scalar" : printable(fmt::format("{}", fmt::join(tensor.dims, "x"))),
      type_name(tensor.type));
}

// Elements that the dimensions ask for.
std::uint64_t elements(const Tensor& tensor) {
  if (tensor.dims.size() > kMostDimensions) {
    throw Refusal(fmt::format("has tensor {} of {} dimensions, and a tensor may have at most {}",
                              quote(tensor.name), tensor.dims.size(), kMostDimensions));
  }
  const std::uint64_t size = std::max<std::uint64_t>(element_size(tensor.type), 1);
  std::uint64_t count = 1;
  for (const std::int64_t dim : tensor.dims) {
    if (dim < 0) {
      throw Refusal(fmt::format("has {} with a negative dimension; export it again", shown(tensor)));
    }
    const auto length = static_cast<std::uint64_t>(dim);
    if (length > kLargestDimension || (length != 0 && count > kLargestTensor / size / length)) {
      throw Refusal(fmt::format("has {}, and a tensor may have at most 1 TiB", shown(tensor)));
    }
    count *= length;
  }
  return count;
}

[[noreturn]] void wrong_count(const Tensor& tensor, std::uint64_t needed, std::uint64_t given,
                              const char* unit) {
  throw Refusal(fmt::format("is damaged: {} needs {} {} and has {}; export it again", shown(tensor), needed,
                            unit, given));
}

// Takes the elements from the field that has them.
void settle(Tensor& tensor, const Elements& typed, Allowance& allowance) {
  const std::uint64_t count = elements(tensor);
  const std::uint64_t size = element_size(tensor.type);
  if (tensor.external || size == 0) {
    tensor.external = true;
    tensor.range.reset();
    return;
  }
  if (tensor.range) {
    if (tensor.range->size != count * size) {
      wrong_count(tensor, count * size, tensor.range->size, "bytes");
    }
    return;
  }
  const bool fits = typed.field() == typed_field(tensor.type);
  if ((fits ? typed.count() : 0) != count) {
    wrong_count(tensor, count, fits ? typed.count() : 0, "elements");
  }
  tensor.owned = allowance.keep_values(count * size, size) ? typed.as(size) : nullptr;
  tensor.external = !tensor.owned;
  if (tensor.owned) {
    tensor.bytes = *tensor.owned;
  }
}

}  // namespace

std::uint64_t element_size(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8:
    case ElementType::boolean:
      return 1;
    case ElementType::u16:
    case ElementType::i16:
    case ElementType::f16:
    case ElementType::bf16:
      return 2;
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::u32:
      return 4;
    case ElementType::i64:
    case ElementType::f64:
    case ElementType::u64:
      return 8;
    default:
      return 0;
  }
}

std::string type_name(ElementType type) {
  static constexpr std::array kNames = {"undefined", "f32", "u8",     "i8",   "u16", "i16",
                                        "i32",       "i64", "string", "bool", "f16", "f64",
                                        "u32",       "u64", "",       "",     "bf16"};
  const auto number = static_cast<std::int32_t>(type);
  const bool known = number >= 0 && number < static_cast<std::int32_t>(kNames.size()) &&
                     *kNames.at(static_cast<std::size_t>(number)) != '\0';
  return known ? kNames.at(static_cast<std::size_t>(number)) : fmt::format("element type {}", number);
}

Tensor read_tensor(wire::Message message, Allowance& allowance) {
  allowance.keep(sizeof(Tensor));
  Tensor tensor;
  Elements typed;
  while (message.next()) {
    switch (message.field()) {
      case kDims:
        message.integers(tensor.dims, allowance);
        break;
      case kDataType:
        tensor.type = static_cast<ElementType>(message.integer());
        break;
      case kSegment:
        throw Refusal("has a tensor in segments; export it with whole tensors");
      case kName:
        tensor.name = message.text(allowance);
        break;
      case kRaw:
        tensor.range = message.range();
        break;
      case kFloats:
      case kDoubles:
      case kInts32:
      case kInts64:
      case kUnsigned64:
        typed.add(message);
        break;
      case kExternalData:
        tensor.external = true;
        break;
      case kDataLocation:
        tensor.external |= message.integer() == 1;
        break;
      default:
        break;
    }
  }
  settle(tensor, typed, allowance);
  return tensor;
}

Tensor read_sparse_tensor(wire::Message message, Allowance& allowance) {
  Tensor values;
  std::vector<std::int64_t> dims;
  while (message.next()) {
    if (message.field() == 1) {
      values = read_tensor(message.message(), allowance);
    } else if (message.field() == 3) {
      message.integers(dims, allowance);
    }
  }
  Tensor dense;
  dense.name = values.name;
  dense.type = values.type;
  dense.dims = std::move(dims);
  dense.external = true;
  elements(dense);
  return dense;
}

void read_elements(wire::Input& input, std::span<Tensor* const> tensors, Allowance& allowance) {
  std::vector<Tensor*> left;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(left),
               [](const Tensor* tensor) { return tensor->range.has_value(); });
  std::stable_sort(left.begin(), left.end(),
                   [](const Tensor* a, const Tensor* b) { return a->range->size < b->range->size; });
  for (Tensor* tensor : left) {
    if (!allowance.keep_values(tensor->range->size, element_size(tensor->type))) {
      tensor->external = true;
      continue;
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(tensor->range->size);
    input.read(tensor->range->offset, *bytes);
    tensor->owned = bytes;
    tensor->bytes = *bytes;
  }
}

}  // namespace bench::kernels::onnx
