// Einstein sums of one or two values, as a product of matrices whose dimensions are groups of letters:
//
//   a[both…, rows…, joined…] · b[both…, joined…, columns…] = c[both…, rows…, columns…]
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels::onnx {
namespace {

struct Equation {
  std::vector<std::string> inputs;
  std::string result;
};

// "..." in an input, or the result, is as many letters as the input has dimensions that the others do not
// name; they are counted from the last.
class Ellipsis {
 public:
  explicit Ellipsis(const std::string& equation) {
    for (char letter = 'A'; letter <= 'Z'; ++letter) {
      if (equation.find(letter) == std::string::npos) {
        letters_ += letter;
      }
    }
  }
  void spell_input(std::string& term, std::size_t rank) {
    const std::size_t named = term.size() - std::min<std::size_t>(term.size(), 3);
    if (term.find("...") != std::string::npos && rank >= named) {
      longest_ = std::max(longest_, rank - named);
      spell(term, rank - named);
    }
  }
  void spell_result(std::string& term) const { spell(term, longest_); }

 private:
  void spell(std::string& term, std::size_t count) const {
    const std::size_t at = term.find("...");
    if (at != std::string::npos && count <= kMost && letters_.size() >= kMost) {
      term.replace(at, 3, letters_.substr(kMost - count, count));
    }
  }

  static constexpr std::size_t kMost = Shape::kMostDims;
  std::string letters_;
  std::size_t longest_ = 0;
};

// The letters that an equation without a result gives: those that it has once, in order.
std::string letters_once(const std::string& inputs) {
  std::string once;
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    if (letter != '.' && std::ranges::count(inputs, letter) == 1) {
      once += letter;
    }
  }
  return (inputs.find("...") == std::string::npos ? "" : "...") + once;
}

Equation parse(const Lowering& node) {
  std::string text;
  for (const char c : text_of(node.node, "equation", "")) {
    if (c != ' ') {
      text += c;
    }
  }
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation equation{.inputs = {""},
                    .result = arrow == std::string::npos ? letters_once(left) : text.substr(arrow + 2)};
  for (const char c : left) {
    if (c == ',') {
      equation.inputs.emplace_back();
    } else {
      equation.inputs.back() += c;
    }
  }
  Ellipsis ellipsis(text);
  for (std::size_t i = 0; i < equation.inputs.size() && i < node.inputs(); ++i) {
    ellipsis.spell_input(equation.inputs[i], node.rank(i));
  }
  ellipsis.spell_result(equation.result);
  const auto repeats = [](std::string letters) {
    std::ranges::sort(letters);
    return std::ranges::adjacent_find(letters) != letters.end();
  };
  const auto is_odd = [&](const std::string& letters) {
    return repeats(letters) || letters.find('.') != std::string::npos;
  };
  if (equation.inputs.size() != node.inputs() || equation.inputs.size() > 2 || is_odd(equation.result) ||
      std::ranges::any_of(equation.inputs, is_odd)) {
    throw Refused(
        fmt::format("the equation '{}' is not accepted; one or two inputs with each letter once are", text));
  }
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    if (equation.inputs[i].size() != node.rank(i)) {
      throw Refused(fmt::format("the equation '{}' for {}", text, node.shape(i).text()));
    }
  }
  return equation;
}

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// A value whose dimensions have names.
struct Lettered {
  Layers::Value layer;
  std::string letters;
};

class Sum {
 public:
  explicit Sum(Lowering& node) : node_(node), equation_(parse(node)) {
    for (std::size_t i = 0; i < equation_.inputs.size(); ++i) {
      for (std::size_t d = 0; d < equation_.inputs[i].size(); ++d) {
        const Extent& extent = node.shape(i)[d];
        const auto [at, added] = extents_.emplace(equation_.inputs[i][d], extent);
        if (!added && at->second.size != extent.size) {
          throw Refused("dimensions of one letter that differ");
        }
        at->second.per_sample |= extent.per_sample;
      }
    }
  }

  void lower() {
    const std::string& a = equation_.inputs[0];
    const std::string b = equation_.inputs.size() > 1 ? equation_.inputs[1] : "";
    const std::string& c = equation_.result;
    Lettered result{};
    if (equation_.inputs.size() == 1) {
      result = summed(0, [&](char letter) { return contains(c, letter); });
    } else {
      const auto in_both = [&](char l) { return contains(a, l) && contains(b, l); };
      Lettered one = summed(0, [&](char l) { return contains(c, l) || contains(b, l); });
      Lettered other = summed(1, [&](char l) { return contains(c, l) || contains(a, l); });
      const std::string both = pick(c, in_both);
      const std::string rows = pick(c, [&](char l) { return contains(a, l) && !contains(b, l); });
      const std::string columns = pick(c, [&](char l) { return contains(b, l) && !contains(a, l); });
      const std::string joined = pick(a, [&](char l) { return contains(b, l) && !contains(c, l); });
      const Layers::Value left = grouped(one, both, rows, joined);
      const Layers::Value right = grouped(other, both, joined, columns);
      result = {node_.append({left, right}, MatmulOptions{}), both + rows + columns};
      result.layer = node_.all.reshaped(result.layer, shape(result.letters));
    }
    if (result.letters.size() != c.size()) {
      throw Refused("a result with letters of no input");
    }
    node_.set(ordered(result, c).layer);
  }

 private:
  template <class Suits>
  static std::string pick(const std::string& letters, const Suits& suits) {
    std::string picked;
    std::ranges::copy_if(letters, std::back_inserter(picked), suits);
    return picked;
  }

  Shape shape(const std::string& letters) const {
    Extents dims;
    for (const char letter : letters) {
      dims.push_back(extents_.at(letter));
    }
    return shape_of(dims);
  }

  // An input, summed over the letters that nothing else has. Where another one has the batch along a letter,
  // each sample has this one's elements.
  template <class Kept>
  Lettered summed(std::size_t input, const Kept& kept) {
    const std::string& letters = equation_.inputs[input];
    Lettered value{node_.layer(input, Uniform{0, 0.1}), pick(letters, kept)};
    if (!node_.shape(input).batch_dimension()) {
      value.layer = node_.all.repeated(value.layer, shape(letters));
    }
    ReduceOptions options{.function = ReduceFunction::sum, .dimensions = {}, .keep_dims = false};
    for (std::size_t d = 0; d < letters.size(); ++d) {
      if (!kept(letters[d])) {
        options.dimensions.push_back(d);
      }
    }
    if (!options.dimensions.empty()) {
      value.layer = node_.append({value.layer}, options);
    }
    return value;
  }

  Lettered ordered(const Lettered& value, const std::string& letters) {
    if (value.letters == letters) {
      return value;
    }
    TransposeOptions options;
    for (const char letter : letters) {
      options.order.push_back(value.letters.find(letter));
    }
    return {node_.append({value.layer}, options), letters};
  }

  // As matrices: the letters of both inputs lead, the others are two groups.
  Layers::Value grouped(const Lettered& value, const std::string& both, const std::string& first,
                        const std::string& second) {
    const Lettered sorted = ordered(value, both + first + second);
    Shape matrices = shape(both);
    for (const std::string& group : {first, second}) {
      Extent all = 1;
      for (const char letter : group) {
        const Extent& extent = extents_.at(letter);
        all = {all.size * extent.size, all.per_sample || extent.per_sample};
      }
      matrices.append(all);
    }
    return node_.all.reshaped(sorted.layer, matrices);
  }

  Lowering& node_;
  Equation equation_;
  std::map<char, Extent> extents_;
};

void lower_einsum(Lowering& node) {
  Sum(node).lower();
}

const Registration<Lowered> einsum{{"Einsum", lower_einsum}};

}  // namespace
}  // namespace bench::kernels::onnx
