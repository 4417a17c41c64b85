// The importer: each node of the file is folded, or lowered to layers; then what nothing reads is dropped.
#include "kernels/networks/onnx/import.h"

#include <algorithm>
#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "kernels/networks/onnx/control_flow.h"
#include "kernels/networks/onnx/inputs.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/one_sample.h"
#include "kernels/networks/onnx/patterns.h"
#include "kernels/networks/passes/dead_code.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::size_t kLongestReason = 400;  // characters
constexpr std::int64_t kNewestOpset = 25;    // of ONNX 1.20
constexpr const char* kNoLayer = "there is no layer for this operator";

std::string operator_of(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// Reads a file's nodes one after the other.
class Importer {
 public:
  Importer(const Model& model, const std::string& path, const ImportOptions& options)
      : stem_(std::filesystem::path(path).stem().string()),
        file_(fmt::format("--onnx: {}", quote(path))),
        plan_(plan_inputs(model, file_, options)),
        network_(model, plan_.graph()) {
    check_opset();
    for (const std::string& sentence : plan_.assumptions) {
      network_.assume(sentence);
    }
    for (const std::string& weight : model.weight_inputs) {
      network_.assume_of("The file lists weights among its inputs: {}.", weight);
    }
    inputs_ = add_inputs(plan_, file_, network_);
  }

  void run() {
    const std::vector<ValueInfo>& outputs = network_.model.graph.outputs;
    if (outputs.empty()) {
      throw UsageError(fmt::format("{}: it has no output", file_));
    }
    for (const ValueInfo& output : outputs) {
      if (output.name != network_.index.output()) {
        network_.assume_of(
            outputs.size() == 2 ? "The output {} is not computed." : "The outputs {} are not computed.",
            output.name);
      }
    }
    run(network_.model.graph);
  }

  UnsupportedNodes unsupported() && {
    const std::int64_t of = node_count();
    return {.nodes = std::move(unsupported_), .of = of};
  }

  ImportedNetwork result() && {
    require_supported();
    const auto found = network_.values.find(network_.index.output());
    if (found == network_.values.end()) {
      throw UsageError(fmt::format("{}: nothing makes the output {}", file_, quote(network_.index.output())));
    }
    const Value& output = found->second;
    const Layers::Value last = layer_of(output);
    if (last == network_.graph.image()) {
      throw UsageError(
          fmt::format("{}: nothing is computed before the output {}", file_, quote(network_.index.output())));
    }
    if (!network_.graph[last].shape.batch_dimension()) {
      throw UsageError(
          fmt::format("{}: the output {} does not depend on the input", file_, quote(output.name)));
    }
    network_.finish_assumptions();
    draw_alike();
    LiveLayers live = without_dead_code(network_.graph, last);
    ImportedNetwork made{.graph = std::move(live.graph),
                         .name = fmt::format("{}-{:08x}", stem_, network_.model.hash & 0xffffffffU),
                         .inputs = std::move(inputs_),
                         .assumptions = std::move(network_.assumptions),
                         .parameters = {},
                         .values = {}};
    for (ParameterSource& source : network_.sources) {
      if (const auto at = live.places.find(source.layer); at != live.places.end()) {
        source.layer = at->second;
        made.parameters.push_back(std::move(source));
      }
    }
    for (const auto& [name, value] : network_.values) {
      if (value.layer && *value.layer != network_.graph.image()) {
        if (const auto at = live.places.find(*value.layer); at != live.places.end()) {
          made.values.emplace(name, at->second);
        }
      }
    }
    return made;
  }

 private:
  // What reads the same initializer has the same values, whatever kind of layer it is: exporters keep one of
  // equal values.
  void draw_alike() {
    Layers& graph = network_.graph;
    const auto place_of = [&](const ParameterSource& source) { return graph.place(source.layer); };
    const auto count_of = [&](const ParameterSource& source) {
      const auto all = graph[source.layer].layer->parameters(place_of(source));
      return std::ranges::find(all, source.slot, &LayerParameter::slot)->count;
    };
    std::unordered_map<std::string, const ParameterSource*> all_from;
    for (const auto& wanted :
         {std::optional(Slot::variance), std::optional(Slot::scale), std::optional<Slot>()}) {
      for (const ParameterSource& source : network_.sources) {
        if (!wanted || source.slot == *wanted) {  // those that must be positive first
          all_from.try_emplace(source.initializer, &source);
        }
      }
    }
    for (const ParameterSource& source : network_.sources) {
      const ParameterSource& from = *all_from.at(source.initializer);
      const bool same = from.layer == source.layer && from.slot == source.slot;
      if (same || graph.owner_of(source.layer, source.slot) != source.layer ||
          count_of(from) != count_of(source)) {
        continue;
      }
      Drawn drawn{.layer = graph[from.layer].layer, .place = place_of(from), .slot = from.slot};
      if (from.transposed != source.transposed) {
        // Only a linear layer has the file's matrix transposed, as features by inputs.
        const Shape& rows = graph[(source.transposed ? source : from).layer].shape;
        const std::int64_t features = rows[rows.rank() - 1].size;
        drawn.columns = source.transposed ? count_of(source) / features : features;
      }
      std::map<Slot, Drawn> all;
      if (const auto& before = graph[source.layer].drawn; before != nullptr) {
        all = *before;
      }
      all.emplace(source.slot, std::move(drawn));
      graph.edit(source.layer).drawn = std::make_shared<const std::map<Slot, Drawn>>(std::move(all));
    }
  }

  void check_opset() {
    const std::int64_t opset = network_.opset();
    if (opset < 1) {
      throw UsageError(fmt::format("{}: its opset is {}; 1 to {} are accepted", file_, opset, kNewestOpset));
    }
    if (opset > kNewestOpset) {
      network_.assume(fmt::format("Opset {} is newer than {}, the newest known here, and is read as that.",
                                  opset, kNewestOpset));
    }
  }

  Layers::Value layer_of(const Value& output) {
    try {
      return network_.layer(output, {}, true);
    } catch (const Refused& error) {
      throw UsageError(fmt::format("{}: the output {} is not accepted: {}", file_, quote(output.name),
                                   printable(error.what(), kLongestReason)));
    }
  }

  // False where a node was refused.
  bool run(const Graph& graph) {
    const std::size_t refused = unsupported_.size();
    for (const Node& node : graph.nodes) {
      const bool gives_nothing =
          std::ranges::all_of(node.outputs, [](const std::string& name) { return name.empty(); });
      if (network_.absorbed.contains(&node) || network_.index.is_unneeded(node) || gives_nothing) {
        forget_inputs(node);
        continue;
      }
      try {
        if (prepare(node)) {
          import(node);
        } else {
          require_operator(node);
          skip(node);
        }
      } catch (const Refused& error) {
        refuse(node, error.what());
      }
      forget_inputs(node);
    }
    return unsupported_.size() == refused;
  }

  // Known values are dropped behind the last node that reads them; layers that are made of them keep theirs.
  void forget_inputs(const Node& node) {
    if (control_flow_.is_repeating()) {
      return;
    }
    for (const std::string& input : node.inputs) {
      std::size_t& read = times_read_[input];
      if (++read < network_.index.readers(input).size()) {
        continue;
      }
      const auto at = network_.values.find(input);
      if (at != network_.values.end() && at->second.is_known() && !at->second.layer) {
        if (at->second.constant.use_count() == 1) {
          network_.budget.give_back(at->second.constant->held());
        }
        network_.values.erase(at);
      }
    }
  }

  // Initializers become values when they are read. False where an input could not be imported.
  bool prepare(const Node& node) {
    const auto is_ready = [&](const std::string& input) {
      if (network_.unknown.contains(input)) {
        return false;
      }
      if (!input.empty() && network_.find(input) == nullptr) {
        throw Refused(why_missing(input));
      }
      return true;
    };
    return std::ranges::all_of(node.inputs, is_ready);
  }

  // The reader has made sure that some node makes it.
  std::string why_missing(const std::string& input) const {
    const Node* const maker = network_.index.maker(input);
    return maker == nullptr ? fmt::format("nothing makes its input '{}'", input)
                            : fmt::format("it reads '{}', a further result of {}, which is not computed",
                                          input, operator_of(*maker));
  }

  // Behind a node that was refused, shapes are not known, and so only whether there is such an operator at
  // all.
  static void require_operator(const Node& node) {
    const std::string name = operator_of(node);
    if (!ControlFlow::is_one(name) && registry<ConstantOperator>().find(name) == nullptr &&
        registry<Lowered>().find(name) == nullptr) {
      throw Refused(kNoLayer);
    }
  }

  void import(const Node& node) {
    const std::string name = operator_of(node);
    if (ControlFlow::is_one(name)) {
      return control_flow_.import(node);
    }
    if (const auto axis = axis_of_second(node, name)) {
      const Node& aligned = aligned_.emplace_back(align(node, *axis));
      compute(aligned, name);
      network_.values.erase(aligned.inputs[1]);
    } else {
      compute(node, name);
    }
    // The number of elements does not depend on what they are.
    if (name != "Shape" && name != "Size") {
      pass_on_guesses(node);
    }
  }

  // Before opset 7 the second input's first dimension could meet another of the first one's, the axis, than
  // the one that lets the last meet the last. PRelu's slopes, where there are several, were one for each
  // channel.
  std::optional<std::int64_t> axis_of_second(const Node& node, const std::string& name) const {
    if (network_.opset() >= 7) {
      return std::nullopt;
    }
    if (name == "PRelu") {
      const auto slopes =
          node.inputs.size() > 1 ? network_.values.find(node.inputs[1]) : network_.values.end();
      const bool several = slopes != network_.values.end() && slopes->second.shape.rank() == 1 &&
                           slopes->second.shape[0].size > 1;
      return several ? std::optional<std::int64_t>(1) : std::nullopt;
    }
    const bool told = node.find("broadcast") != nullptr && node.find("axis") != nullptr;
    return told ? std::optional(integer_of(node, "axis", 0)) : std::nullopt;
  }

  // Reads the second input under another name, with dimensions of 1 behind.
  Node align(const Node& node, std::int64_t axis) {
    Node aligned = node;
    const Lowering lowering(network_, node);
    Value second = lowering.in(1);
    Extents dims = extents_of(second.shape);
    const std::size_t end = axis_of(axis, lowering.rank(0)) + dims.size();
    if (end > lowering.rank(0)) {
      throw Refused(fmt::format("its second input has {} dimensions, but its first only {} from the axis on",
                                dims.size(), lowering.rank(0) + dims.size() - end));
    }
    dims.resize(dims.size() + lowering.rank(0) - end, 1);
    second.shape = shape_of(dims);
    if (second.constant != nullptr) {
      Constant constant = *second.constant;
      constant.dims = std::move(dims);
      second.constant = std::make_shared<Constant>(std::move(constant));
    }
    aligned.inputs[1] += " aligned";
    network_.values.insert_or_assign(aligned.inputs[1], std::move(second));
    return aligned;
  }

  void compute(const Node& node, const std::string& name) {
    const auto* const folded = registry<ConstantOperator>().find(name);
    const auto* const lowered = registry<Lowered>().find(name);
    Lowering lowering(network_, node);
    take_one_sample(lowering);
    if (folded != nullptr && is_known(node)) {
      try {
        return fold(lowering, *folded);
      } catch (const Refused&) {
        // A layer may compute what is too much to fold; never shapes and indices.
        if (lowered == nullptr || !makes_floats(node)) {
          throw;
        }
      }
    }
    if (lowered == nullptr) {
      throw Refused(folded != nullptr ? "it is computed on constants only, and its inputs depend on data"
                                      : kNoLayer);
    }
    lowered->lower(lowering);
  }

  bool is_known(const Node& node) const {
    return std::ranges::all_of(node.inputs, [&](const std::string& input) {
      return input.empty() || network_.values.at(input).is_known();
    });
  }

  bool makes_floats(const Node& node) const {
    if (node.inputs.empty()) {
      const Attribute* const value = node.find("value");
      return value != nullptr && value->tensor && is_float(value->tensor->type);
    }
    return std::ranges::all_of(node.inputs, [&](const std::string& input) {
      return input.empty() || is_float(network_.values.at(input).type);
    });
  }

  void fold(Lowering& lowering, const ConstantOperator& folded) {
    const Node& node = lowering.node;
    const std::int64_t before = network_.budget.held();
    const auto hold = [&](std::int64_t more) {
      network_.budget.give_back(network_.budget.held() - before - more);
    };
    std::vector<Constant> made;
    try {
      made = folded.evaluate(lowering.evaluation());
    } catch (const Refused&) {
      hold(0);
      throw;
    }
    std::int64_t held = 0;
    for (const Constant& constant : made) {
      held += constant.held();
    }
    hold(held);
    if (const Attribute* const value = node.find("value"); value != nullptr && value->tensor) {
      network_.note_unread(node.outputs.front(), *value->tensor);
    }
    for (std::size_t i = 0; i < made.size() && i < node.outputs.size(); ++i) {
      lowering.set(std::move(made[i]), i);
    }
  }

  void pass_on_guesses(const Node& node) {
    for (const std::string& input : node.inputs) {
      if (const auto guess = network_.guesses.find(input); guess != network_.guesses.end()) {
        for (const std::string& output : node.outputs) {
          network_.guesses.insert_or_assign(output, guess->second);
        }
        return;
      }
    }
  }

  void skip(const Node& node) {
    for (const std::string& output : node.outputs) {
      network_.unknown.insert(output);
    }
  }

  // A reason may repeat what the file says.
  void refuse(const Node& node, const std::string& why) {
    const std::string name = node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name;
    unsupported_.push_back({.node = name, .op = operator_of(node), .reason = printable(why, kLongestReason)});
    skip(node);
  }

  void require_supported() const {
    if (unsupported_.empty()) {
      return;
    }
    const Unsupported& first = unsupported_.front();
    const std::size_t refused = unsupported_.size();
    const std::string share = node_count() == 1
                                  ? "it is the network's only node"
                                  : fmt::format("{} of the network's {} nodes cannot", refused, node_count());
    throw UsageError(fmt::format("{}: the node {} ({}) cannot be imported: {}; {}", file_, quote(first.node),
                                 printable(first.op), first.reason, share));
  }

  // Nodes that compute, those of branches not counted.
  std::int64_t node_count() const {
    const auto computing = std::ranges::count_if(network_.model.graph.nodes,
                                                 [](const Node& node) { return node.op != "Constant"; });
    return std::max<std::int64_t>(computing, static_cast<std::int64_t>(unsupported_.size()));
  }

  std::string stem_;
  std::string file_;  // as messages name it
  InputPlan plan_;
  Importing network_;
  ControlFlow control_flow_{network_, plan_, [this](const Graph& graph) { return run(graph); }};
  std::vector<ImportedInput> inputs_;
  std::vector<Unsupported> unsupported_;
  std::deque<Node> aligned_;                                 // layers may refer to them
  std::unordered_map<std::string, std::size_t> times_read_;  // by nodes that are done with
};

}  // namespace

ImportedNetwork import_network(const std::string& path, const ImportOptions& options) {
  return import_model(read_model(path), path, options);
}

ImportedNetwork import_model(Model model, const std::string& path, const ImportOptions& options) {
  recognise_patterns(model);
  Importer importer(model, path, options);
  importer.run();
  return std::move(importer).result();
}

UnsupportedNodes unsupported_nodes(const std::string& path, const ImportOptions& options) {
  Model model = read_model(path);
  recognise_patterns(model);
  Importer importer(model, path, options);
  importer.run();
  return std::move(importer).unsupported();
}

}  // namespace bench::kernels::onnx
