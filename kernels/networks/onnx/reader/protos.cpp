#include "kernels/networks/onnx/reader/protos.h"

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bench/text/quote.h"
#include "kernels/networks/onnx/reader/tensor.h"

namespace bench::kernels::onnx {
namespace {

using wire::Message;

// One file's reading. Graphs of attributes are kept for their tensors, which are read at the end.
class Reading {
 public:
  explicit Reading(Allowance& allowance) : allowance_(allowance) {}

  void model(Message message, Protos& read);
  // The tensors of the main graph, of functions, and of graphs in attributes.
  std::vector<Tensor*> tensors(Protos& read) const;

 private:
  void opset(Message message, std::map<std::string, std::int64_t>& opsets);
  Function function(Message message);
  void graph(Message message, Graph& graph, int depth);
  Node node(Message message, int depth);
  Attribute attribute(Message message, int depth);
  ValueInfo value(Message message);
  void type(Message message, ValueInfo& value);
  std::vector<Dimension> shape(Message message);
  Dimension dimension(Message message);

  std::string text(const Message& message) { return message.text(allowance_); }
  std::string domain(const Message& message) {
    const std::string name = text(message);
    return name == "ai.onnx" ? "" : name;
  }
  void append(const Message& message, std::vector<std::string>& names) {
    allowance_.keep(sizeof(std::string));
    names.push_back(text(message));
  }

  Allowance& allowance_;
  std::vector<std::shared_ptr<Graph>> inner_;
};

void Reading::model(Message message, Protos& read) {
  Model& model = read.model;
  std::string version;
  bool graph_found = false;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        model.ir_version = message.integer();
        break;
      case 2:
        model.producer = text(message);
        break;
      case 3:
        version = text(message);
        break;
      case 7:
        if (std::exchange(graph_found, true)) {
          message.damaged("a second graph");
        }
        graph(message.message(), model.graph, 0);
        break;
      case 8:
        opset(message.message(), model.opsets);
        break;
      case 25:
        read.functions.push_back(function(message.message()));
        break;
      default:
        break;
    }
  }
  if (!graph_found) {
    throw Refusal("is cut short (it has no graph); copy or export it again");
  }
  if (!version.empty()) {
    model.producer += (model.producer.empty() ? "" : " ") + version;
  }
}

void Reading::opset(Message message, std::map<std::string, std::int64_t>& opsets) {
  std::string name;
  std::int64_t version = 0;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        name = domain(message);
        break;
      case 2:
        version = message.integer();
        break;
      default:
        break;
    }
  }
  allowance_.keep(sizeof(std::string) + 64);  // a map's node
  opsets[name] = version;
}

Function Reading::function(Message message) {
  allowance_.keep(sizeof(Function));
  Function read;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        read.name = text(message);
        break;
      case 4:
        append(message, read.inputs);
        break;
      case 5:
        append(message, read.outputs);
        break;
      case 7:
        read.nodes.push_back(node(message.message(), 0));
        break;
      case 9:
        opset(message.message(), read.opsets);
        break;
      case 10:
        read.domain = domain(message);
        break;
      case 11:
        read.defaults.push_back(attribute(message.message(), 0));
        break;
      case 13:
        read.overload = text(message);
        break;
      default:
        break;
    }
  }
  return read;
}

void Reading::graph(Message message, Graph& graph, int depth) {
  if (depth > kDeepestGraph) {
    throw Refusal(fmt::format("has graphs nested deeper than {}; bench imports networks without branches",
                              kDeepestGraph));
  }
  while (message.next()) {
    switch (message.field()) {
      case 1:
        graph.nodes.push_back(node(message.message(), depth));
        break;
      case 2:
        graph.name = text(message);
        break;
      case 5:
        graph.initializers.push_back(read_tensor(message.message(), allowance_));
        break;
      case 11:
        graph.inputs.push_back(value(message.message()));
        break;
      case 12:
        graph.outputs.push_back(value(message.message()));
        break;
      case 13:
        graph.values.push_back(value(message.message()));
        break;
      case 15:
        graph.initializers.push_back(read_sparse_tensor(message.message(), allowance_));
        break;
      default:
        break;
    }
  }
  // Before IR version 4 every initializer is an input too.
  std::unordered_set<std::string_view> given;
  for (const Tensor& tensor : graph.initializers) {
    given.insert(tensor.name);
  }
  std::erase_if(graph.inputs, [&](const ValueInfo& input) { return given.contains(input.name); });
}

Node Reading::node(Message message, int depth) {
  allowance_.add_node();
  allowance_.keep(sizeof(Node));
  Node read;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        append(message, read.inputs);
        break;
      case 2:
        append(message, read.outputs);
        break;
      case 3:
        read.name = text(message);
        break;
      case 4:
        read.op = text(message);
        break;
      case 5:
        read.attributes.push_back(attribute(message.message(), depth));
        break;
      case 7:
        read.domain = domain(message);
        break;
      case 8:
        read.overload = text(message);
        break;
      default:
        break;
    }
  }
  allowance_.add_inputs(read.inputs.size());
  if (read.op.empty()) {
    throw Refusal(fmt::format("has a node without an operator ({}); export it again", quote(read.name)));
  }
  return read;
}

Attribute Reading::attribute(Message message, int depth) {
  enum Type : std::uint8_t { kFloat = 1, kInt = 2, kString = 3 };
  allowance_.keep(sizeof(Attribute));
  Attribute read;
  std::int64_t type = 0;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        read.name = text(message);
        break;
      case 2:
        read.f = message.real();
        break;
      case 3:
        read.i = message.integer();
        break;
      case 4:
        read.s = text(message);
        break;
      case 5:
        read.tensor = read_tensor(message.message(), allowance_);
        break;
      case 6: {
        allowance_.keep(sizeof(Graph));
        const auto inner = std::make_shared<Graph>();
        graph(message.message(), *inner, depth + 1);
        inner_.push_back(inner);
        read.graph = inner;
        break;
      }
      case 7:
        message.reals(read.floats, allowance_);
        break;
      case 8:
        message.integers(read.ints, allowance_);
        break;
      case 9:
        append(message, read.strings);
        break;
      case 20:
        type = message.integer();
        break;
      case 21:
        read.reference = text(message);
        break;
      default:
        break;
    }
  }
  // A writer of proto3 leaves out zeros and empty strings.
  if (read.reference.empty()) {
    if (type == kFloat && !read.f) {
      read.f = 0;
    } else if (type == kInt && !read.i) {
      read.i = 0;
    } else if (type == kString && !read.s) {
      read.s = "";
    }
  }
  return read;
}

ValueInfo Reading::value(Message message) {
  allowance_.keep(sizeof(ValueInfo));
  ValueInfo read;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        read.name = text(message);
        break;
      case 2:
        type(message.message(), read);
        break;
      default:
        break;
    }
  }
  return read;
}

// TypeProto, of which only tensors are read.
void Reading::type(Message message, ValueInfo& value) {
  while (message.next()) {
    if (message.field() != 1) {
      continue;
    }
    for (Message tensor = message.message(); tensor.next();) {
      if (tensor.field() == 1) {
        value.type = static_cast<ElementType>(tensor.integer());
      } else if (tensor.field() == 2) {
        value.dims = shape(tensor.message());
      }
    }
  }
  for (const Dimension& dim : value.dims.value_or(std::vector<Dimension>{})) {
    if (dim.size && (*dim.size < 0 || *dim.size > static_cast<std::int64_t>(kLargestDimension))) {
      throw Refusal(fmt::format("declares {} with a dimension of {}; it must be between 0 and 2^40",
                                quote(value.name), *dim.size));
    }
  }
}

std::vector<Dimension> Reading::shape(Message message) {
  std::vector<Dimension> dims;
  while (message.next()) {
    if (message.field() == 1) {
      allowance_.keep(sizeof(Dimension));
      dims.push_back(dimension(message.message()));
    }
  }
  return dims;
}

Dimension Reading::dimension(Message message) {
  Dimension read;
  while (message.next()) {
    if (message.field() == 1) {
      read = {.size = message.integer(), .symbol = {}};
    } else if (message.field() == 2) {
      read = {.size = std::nullopt, .symbol = text(message)};
    }
  }
  if (read.size == -1) {  // as some exporters write a free dimension
    read.size.reset();
  }
  return read;
}

std::vector<Tensor*> Reading::tensors(Protos& read) const {
  std::vector<Tensor*> all;
  const auto of_attributes = [&](std::vector<Attribute>& attributes) {
    for (Attribute& attribute : attributes) {
      if (attribute.tensor) {
        all.push_back(&*attribute.tensor);
      }
    }
  };
  const auto of_nodes = [&](std::vector<Node>& nodes) {
    for (Node& node : nodes) {
      of_attributes(node.attributes);
    }
  };
  const auto of_graph = [&](Graph& graph) {
    for (Tensor& tensor : graph.initializers) {
      all.push_back(&tensor);
    }
    of_nodes(graph.nodes);
  };
  of_graph(read.model.graph);
  for (const std::shared_ptr<Graph>& graph : inner_) {
    of_graph(*graph);
  }
  for (Function& function : read.functions) {
    of_attributes(function.defaults);
    of_nodes(function.nodes);
  }
  return all;
}

}  // namespace

Protos read_protos(wire::Input& input, Allowance& allowance) {
  if (input.size() == 0) {
    throw Refusal("is empty; export the network again");
  }
  Reading reading(allowance);
  Protos read;
  try {
    reading.model(Message(input), read);
  } catch (const Refusal&) {
    // Every network begins with its format's version or its producer.
    if (read.model.ir_version <= 0 && read.model.producer.empty() && read.model.graph.nodes.empty()) {
      throw Refusal("is not an ONNX network; give a file that torch.onnx.export() or another exporter wrote");
    }
    throw;
  }
  read_elements(input, reading.tensors(read), allowance);
  return read;
}

}  // namespace bench::kernels::onnx
