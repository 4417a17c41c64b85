#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "kernels/networks/onnx/model.h"
#include "kernels/networks/onnx/reader/hash.h"
#include "kernels/networks/onnx/reader/inline_functions.h"
#include "kernels/networks/onnx/reader/order.h"
#include "kernels/networks/onnx/reader/protos.h"
#include "kernels/networks/onnx/reader/source.h"
#include "kernels/networks/onnx/reader/weights_among_inputs.h"

namespace bench::kernels::onnx {
namespace {

Model read(const Source& source) {
  Allowance allowance;
  wire::Input input(source);
  Protos protos = read_protos(input, allowance);
  inline_functions(protos, allowance);
  Model model = std::move(protos.model);
  if (model.graph.outputs.empty()) {
    throw Refusal("has no output; export it again");
  }
  if (model.ir_version < 3) {  // whose files do not name it
    model.opsets.emplace("", 1);
  }
  if (!model.opsets.contains("")) {
    throw Refusal("does not say for which version of ONNX's operators it is; copy or export it again");
  }
  order_nodes(model.graph);
  take_weights(model);
  model.hash = graph_hash(model);
  return model;
}

// A long path by its end, which tells files apart.
std::string sentence(const std::string& path, const Refusal& refusal) {
  const std::string name =
      path.size() > kLongestQuote ? std::filesystem::path(path).filename().string() : path;
  return fmt::format("--onnx: {} {}", quote(name), refusal.what());
}

}  // namespace

Model read_model(const std::string& path) {
  try {
    return read(*open_file(path));
  } catch (const Refusal& refusal) {
    throw UsageError(sentence(path, refusal));
  }
}

Model parse_model(std::span<const std::byte> bytes, const std::string& name) {
  try {
    return read(*in_memory(bytes));
  } catch (const Refusal& refusal) {
    throw UsageError(sentence(name, refusal));
  }
}

bool is_float(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f16 || type == ElementType::f64 ||
         type == ElementType::bf16;
}

const Attribute* Node::find(const std::string& attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& candidate) { return candidate.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

}  // namespace bench::kernels::onnx
