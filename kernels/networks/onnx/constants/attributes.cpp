#include "kernels/networks/onnx/constants/attributes.h"

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {

std::int64_t integer_of(const Node& node, const std::string& attribute, std::int64_t otherwise) {
  const Attribute* const found = node.find(attribute);
  return found == nullptr ? otherwise : found->i.value_or(otherwise);
}

float number_of(const Node& node, const std::string& attribute, float otherwise) {
  const Attribute* const found = node.find(attribute);
  return found == nullptr ? otherwise : found->f.value_or(otherwise);
}

std::string text_of(const Node& node, const std::string& attribute, const std::string& otherwise) {
  const Attribute* const found = node.find(attribute);
  return found == nullptr ? otherwise : found->s.value_or(otherwise);
}

std::optional<std::vector<std::int64_t>> integers_of(const Node& node, const std::string& attribute) {
  const Attribute* const found = node.find(attribute);
  return found == nullptr ? std::nullopt : std::optional(found->ints);
}

std::size_t axis_of(std::int64_t axis, std::size_t rank) {
  const auto dimensions = static_cast<std::int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions) {
    throw Refused(fmt::format("dimension {} of a value of rank {}", axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis);
}

}  // namespace bench::kernels::onnx
