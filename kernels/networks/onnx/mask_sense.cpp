#include "kernels/networks/onnx/mask_sense.h"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kernels/networks/onnx/constants/constant.h"
#include "kernels/networks/onnx/constants/refused.h"
#include "kernels/networks/onnx/reader/weights_among_inputs.h"

namespace bench::kernels::onnx {
namespace {

constexpr double kHides = -1e4;  // of a score, and all below

// Follows values that are masks, and numbers.
class Follower {
 public:
  explicit Follower(const Graph& graph) {
    for (const ValueInfo& input : graph.inputs) {
      if (input.type == ElementType::boolean || is_mask(input.name)) {
        masks_.emplace(input.name, Mask{.input = input.name});
      }
    }
    for (const Tensor& tensor : graph.initializers) {
      note_number(tensor.name, tensor);
    }
    for (const Node& node : graph.nodes) {
      if (!node.outputs.empty() && node.domain.empty()) {
        follow(node);
      }
    }
  }

  std::set<std::string> hiding() const {
    std::set<std::string> all;
    for (const auto& [input, hides] : hides_) {
      if (hides) {
        all.emplace(input);
      }
    }
    return all;
  }

 private:
  struct Mask {
    std::string_view input;
    bool negated = false;
  };

  void note_number(std::string_view name, const Tensor& tensor) {
    constexpr std::size_t kMostBytes = 64;
    if (tensor.external || tensor.bytes.size() > kMostBytes) {
      return;
    }
    try {
      Budget budget;
      const auto constant = constant_of(tensor, budget);
      if (constant != nullptr && constant->is_uniform() && constant->elements() > 0) {
        numbers_.emplace(name, constant->value(0));
      }
    } catch (const Refused&) {
      return;  // no number then
    }
  }

  const Mask* mask(const Node& node, std::size_t input) const {
    const auto at = input < node.inputs.size() ? masks_.find(node.inputs[input]) : masks_.end();
    return at == masks_.end() ? nullptr : &at->second;
  }
  std::optional<double> number(const Node& node, std::size_t input) const {
    const auto at = input < node.inputs.size() ? numbers_.find(node.inputs[input]) : numbers_.end();
    return at == numbers_.end() ? std::nullopt : std::optional(at->second);
  }

  void pass(const Node& node, const Mask* mask, bool negated = false) {
    if (mask != nullptr) {
      const Mask passed{.input = mask->input, .negated = mask->negated != negated};
      masks_.emplace(node.outputs.front(), passed);
    }
  }
  // What uses a mask first tells its sense.
  void decide(const Mask& mask, bool hides_where_true) {
    hides_.emplace(mask.input, hides_where_true != mask.negated);
  }

  void follow(const Node& node) {
    static const std::set<std::string_view> kKeep{"Cast",    "Expand", "Identity",  "Reshape",  "Slice",
                                                  "Squeeze", "Tile",   "Transpose", "Unsqueeze"};
    const std::string_view op = node.op;
    const Mask* const first = mask(node, 0);
    const Mask* const second = mask(node, 1);
    const Mask* const any = first != nullptr ? first : second;
    const auto other = number(node, first != nullptr ? 1 : 0);  // that meets the mask
    if (op == "Constant" || op == "ConstantOfShape") {
      if (const Attribute* const value = node.find("value"); value != nullptr && value->tensor) {
        note_number(node.outputs.front(), *value->tensor);
      } else if (const Attribute* const real = node.find("value_float"); real != nullptr && real->f) {
        numbers_.emplace(node.outputs.front(), *real->f);
      }
    } else if (kKeep.contains(op)) {
      pass(node, first);
      if (const auto same = number(node, 0)) {
        numbers_.emplace(node.outputs.front(), *same);
      }
    } else if (op == "Where" && first != nullptr) {
      // A large negative number hides, else zeros do.
      const auto where_true = number(node, 1);
      const auto where_false = number(node, 2);
      const bool low_true = where_true.value_or(0) <= kHides;
      const bool low_false = where_false.value_or(0) <= kHides;
      if (low_true != low_false) {
        decide(*first, low_true);
      } else if (where_true.has_value() != where_false.has_value()) {
        decide(*first, where_true == 0.0);
      }
    } else if (op == "Mul" && any != nullptr && other.value_or(0) <= kHides) {
      decide(*any, true);
    } else if (op == "Mul" && any != nullptr && !other && (first == nullptr || second == nullptr)) {
      decide(*any, false);  // what it is 0 for
    } else if (op == "Not") {
      pass(node, first, true);
    } else if ((op == "Equal" && other == 0.0) || (op == "Sub" && first == nullptr && other == 1.0)) {
      pass(node, any, true);
    } else if (op == "And" || op == "Or" || op == "Mul" || (op == "Equal" && other == 1.0)) {
      pass(node, any);
    }
  }

  std::unordered_map<std::string_view, Mask> masks_;
  std::unordered_map<std::string_view, double> numbers_;
  std::unordered_map<std::string_view, bool> hides_;  // where true, by inputs
};

}  // namespace

std::set<std::string> masks_that_hide(const Graph& graph) {
  return Follower(graph).hiding();
}

}  // namespace bench::kernels::onnx
