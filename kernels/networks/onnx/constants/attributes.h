// Attributes of a node, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

std::int64_t integer_of(const Node& node, const std::string& attribute, std::int64_t otherwise);
float number_of(const Node& node, const std::string& attribute, float otherwise);
std::string text_of(const Node& node, const std::string& attribute, const std::string& otherwise);
std::optional<std::vector<std::int64_t>> integers_of(const Node& node, const std::string& attribute);

// A dimension counted from the outermost; below 0 it is counted from the end. Throws Refused.
std::size_t axis_of(std::int64_t axis, std::size_t rank);

}  // namespace bench::kernels::onnx
