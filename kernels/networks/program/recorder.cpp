#include "kernels/networks/program/recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {

Recorder::Recorder(ProgramPlan& plan, Device& device, OperationCache& cache)
    : plan_(plan), device_(device), cache_(cache), extra_(plan.graph.nodes().size()) {
  add_groups();
  find_moved_by_training(false);
}

void Recorder::find_moved_by_training(bool with_input) {
  moved_by_training_ = {with_input};
  for (Value value = 1; value < plan_.graph.nodes().size(); ++value) {
    const Node& node = plan_.graph[value];
    const auto parameters = node.layer->parameters(plan_.graph.place(value));
    const bool moved =
        std::ranges::any_of(parameters, &LayerParameter::trained) ||
        std::ranges::any_of(node.inputs, [&](Value input) { return moved_by_training_[input]; });
    moved_by_training_.push_back(moved);
  }
}

void Recorder::add_groups() {
  const auto add = [&](Dtype dtype) {
    ParameterGroup group;
    group.dtype = dtype;
    group.weights = plan_.program.block(fmt::format("weights {}", name_of(dtype)), MemoryCategory::weights);
    if (training()) {
      group.gradients =
          plan_.program.block(fmt::format("gradients {}", name_of(dtype)), MemoryCategory::gradients);
    }
    plan_.groups.push_back(group);
  };
  const Dtype wanted = plan_.target.dtype;
  const Dtype stored = wanted == Dtype::tf32 ? Dtype::fp32 : wanted;  // tf32 is how it multiplies
  add(stored);
  if (training() && stored != Dtype::fp32) {
    add(Dtype::fp32);  // biases and normalisation keep full precision
  }
}

void Recorder::start_micro_batch(TensorId samples, std::string suffix) {
  const std::size_t nodes = plan_.graph.nodes().size();
  now_.suffix_ = std::move(suffix);
  now_.values_.resize(nodes);
  now_.values_.at(plan_.graph.image()) = samples;
  now_.gradients_.assign(nodes, {});
  now_.saved_.resize(nodes);
}

void Recorder::forward(Value value) {
  current_ = value;
  prefix_ = "forward ";
  node().layer->forward(*this);
}

void Recorder::forward_again(Value value) {
  const std::string suffix = now_.suffix_;
  now_.suffix_ += " again";
  again_ = true;
  forward(value);
  again_ = false;
  now_.suffix_ = suffix;
}

TensorId Recorder::total_input_gradient() {
  current_ = plan_.graph.image();
  return diff();
}

void Recorder::backward(Value value) {
  if (!now_.gradients_[value].empty()) {
    current_ = value;
    prefix_ = "backward ";
    node().layer->backward(*this);
  }
}

std::shared_ptr<Operation> Recorder::with_extra(Value value, const ExtraBytes& extra) {
  current_ = value;
  return node().layer->with_extra(*this, extra);
}

std::string Recorder::described() const {
  if (node().inputs.empty()) {
    return name() + ": ";
  }
  return fmt::format("{} of {}: ", name(), plan_.graph[node().inputs.front()].shape.text());
}

TensorDesc Recorder::rows() const {
  const Shape& shape = plan_.graph[node().inputs.front()].shape;
  const TensorDesc stored = src();
  if (stored.bytes() != stored.elements() * bytes_of(stored.dtype)) {
    throw Unsupported(described() + "rows with padded channels are not read; flatten them first");
  }
  // A flattened value's features count the channel padding, which its shape does not.
  const std::int64_t width = shape.rank() > 4 ? shape.features() : stored.c;
  return {.n = stored.elements() / width, .c = width, .dtype = stored.dtype};
}

void Recorder::need_shape_order() const {
  for (const Value input : node().inputs) {
    if (!plan_.stored[input].is_in_shape_order()) {
      throw Unsupported(described() +
                        "flattened maps are in the order they are stored in; only linear and "
                        "elementwise layers read them");
    }
  }
}

TensorDesc Recorder::src(std::size_t index) const {
  const Value value = node().inputs.at(index);
  return as_read(*node().layer, index, plan_.graph[value].shape, plan_.stored[value], plan_.target).tensor;
}

TensorId Recorder::input(std::size_t index) {
  const Value value = node().inputs.at(index);
  const Layout layout = src(index).layout;
  return layout == plan_.stored[value].tensor.layout ? this->value(value) : array(index, layout).id;
}

Arguments Recorder::sources() {
  Arguments arguments;
  for (std::size_t index = 0; index < inputs(); ++index) {
    arguments.emplace_back(kSources.at(index), input(index));
  }
  return arguments;
}

TensorId Recorder::fresh(const std::string& name, std::int64_t bytes, Content content) {
  return plan_.program.tensor(name + now_.suffix_, bytes, content);
}

TensorId Recorder::result() {
  now_.values_[current_] = fresh(name(), dst().bytes(), Content::activation);
  return *now_.values_[current_];
}

void Recorder::place_input() {
  if (again_) {
    return;
  }
  const BlockId inputs = plan_.program.tensors()[plan_.inputs.front()].block.value();
  const TensorId made = plan_.program.keep(inputs, name() + now_.suffix_, dst().bytes());
  plan_.further_inputs.push_back({.layer = current_, .tensor = made});
  now_.values_[current_] = made;
}

TensorId Recorder::save(Slot slot, const std::string& what, std::int64_t bytes, Content content) {
  return now_.saved_[current_][slot] = fresh(what + " of " + name(), bytes, content);
}

std::optional<TensorId> Recorder::saved(Slot slot) const {
  const auto at = now_.saved_[current_].find(slot);
  return at == now_.saved_[current_].end() ? std::nullopt : std::optional(at->second);
}

Activation Recorder::take_next_activation(TakesSlope slope) {
  const auto& nodes = plan_.graph.nodes();
  const Value next = current_ + 1;
  if (!training() || next >= nodes.size() || nodes[next].inputs.empty() ||
      nodes[next].inputs.front() != current_) {
    return Activation::none;
  }
  const auto epilogue = nodes[next].layer->epilogue(plan_.graph.place(next));
  const Activation* const activation = epilogue ? std::get_if<Activation>(&*epilogue) : nullptr;
  const auto reads = [&](const Node& node) { return std::ranges::count(node.inputs, current_) > 0; };
  if (activation == nullptr || !is_rectifier(*activation) || std::ranges::count_if(nodes, reads) != 1) {
    return Activation::none;
  }
  activated_[next] = {*activation, slope};
  return *activation;
}

Activation Recorder::taken_activation() const {
  const auto taken = activated_.find(current_ + 1);
  return taken == activated_.end() ? Activation::none : taken->second.activation;
}

const std::vector<TensorId>& Recorder::diff_parts(std::size_t most) {
  std::vector<TensorId>& parts = now_.gradients_[current_];
  while (parts.size() > most) {
    const TensorId one = parts.back();
    parts.pop_back();
    const TensorId other = parts.back();
    const TensorId sum = fresh("gradient of " + name(), dst().bytes(), Content::activation_gradient);
    run("sum of gradients " + name() + now_.suffix_, Elementwise{.tensor = dst(), .summands = 2},
        {{Slot::src, one}, {Slot::src1, other}, {Slot::dst, sum}}, {sum, {one}});
    parts.back() = sum;
  }
  return parts;
}

TensorId Recorder::input_gradient(std::size_t index) {
  const Value input = node().inputs.at(index);
  if (const Layout layout = src(index).layout; layout != plan_.stored[input].tensor.layout) {
    return input_gradient_array(index, layout).id;
  }
  const TensorId made =
      fresh("gradient of " + plan_.graph[input].name, src(index).bytes(), Content::activation_gradient);
  contribute(input, made);
  return made;
}

TensorId Recorder::in_layout(TensorId id, const Array& array, Layout layout, const std::string& name) {
  Array wanted = array;
  wanted.layout = layout;
  const StridedCopy copy = StridedCopy::reorder(array, wanted);
  if (array.layout == layout || copy.is_the_same_memory()) {
    return id;
  }
  const auto known = copied_.find({id, layout});
  // A block that is computed again makes its copies again: the first ones would be kept until then.
  if (known != copied_.end() && (known->second.again || !again_)) {
    return known->second.copy;
  }
  const TensorId made =
      fresh(fmt::format("{} in {}", name, name_of(layout)), wanted.tensor().bytes(), Content::activation);
  run(fmt::format("{}{}{} (layout of {})", prefix_, this->name(), now_.suffix_, name), copy,
      {{Slot::src, id}, {Slot::dst, made}});
  copied_[{id, layout}] = {made, again_};
  return made;
}

ArrayTensor Recorder::array(std::size_t index) {
  const Value value = node().inputs.at(index);
  const StoredValue& stored = plan_.stored[value];
  ArrayTensor given{this->value(value), array_of(plan_.graph[value].shape, stored, batch())};
  if (!stored.is_in_shape_order()) {
    given.id = in_layout(given.id, flattened_maps(stored), Layout::nchw, plan_.graph[value].name);
  }
  return given;
}

ArrayTensor Recorder::array(std::size_t index, Layout layout) {
  ArrayTensor given = array(index);
  if (given.array.dims.rank() == 4) {
    given.id = in_layout(given.id, given.array, layout, plan_.graph[node().inputs[index]].name);
    given.array.layout = layout;
  }
  return given;
}

ArrayTensor Recorder::diff_array(Layout layout) {
  ArrayTensor given = diff_array();
  if (given.array.dims.rank() == 4) {
    given.id = in_layout(given.id, given.array, layout, "gradient of " + name());
    given.array.layout = layout;
  }
  return given;
}

ArrayTensor Recorder::input_gradient_array(std::size_t index) {
  const Value value = node().inputs.at(index);
  return input_gradient_array(index, array_of(plan_.graph[value].shape, plan_.stored[value], batch()).layout);
}

ArrayTensor Recorder::input_gradient_array(std::size_t index, Layout layout) {
  const Value value = node().inputs.at(index);
  const StoredValue& stored = plan_.stored[value];
  const std::string name = "gradient of " + plan_.graph[value].name;
  Array given = array_of(plan_.graph[value].shape, stored, batch());
  const TensorId made = fresh(name, stored.tensor.bytes(), Content::activation_gradient);
  contribute(value, made);
  const Array own = stored.is_in_shape_order() ? given : flattened_maps(stored);
  Array wanted = own;
  if (wanted.dims.rank() == 4) {
    wanted.layout = stored.is_in_shape_order() ? layout : Layout::nchw;
  }
  if (given.dims.rank() == 4) {
    given.layout = layout;
  }
  const StridedCopy copy = StridedCopy::reorder(wanted, own);
  if (copy.is_the_same_memory()) {
    return {made, given};
  }
  const TensorId written = fresh(fmt::format("{} in {}", name, name_of(wanted.layout)),
                                 wanted.tensor().bytes(), Content::activation_gradient);
  pending_copies_.push_back({copy, written, made});
  return {written, given};
}

void Recorder::pass_gradient(std::size_t index, TensorId gradient) {
  const Value value = node().inputs.at(index);
  const Shape& shape = plan_.graph[value].shape;
  if (!shape.is_maps() || node().shape != shape || plan_.stored[value].tensor.layout == dst().layout) {
    return contribute(value, gradient);
  }
  contribute(value, in_layout(gradient, array_of(shape, plan_.stored[current_], batch()),
                              plan_.stored[value].tensor.layout, "gradient of " + name()));
}

void Recorder::pass_gradient_in_order(std::size_t index, TensorId gradient) {
  const Value value = node().inputs.at(index);
  const StoredValue& stored = plan_.stored[value];
  const Array own = stored.is_in_shape_order() ? array_of(plan_.graph[value].shape, stored, batch())
                                               : flattened_maps(stored);
  contribute(value, in_layout(gradient, {.dims = own.dims, .dtype = own.dtype}, own.layout,
                              "gradient of " + name()));
}

void Recorder::record_gradient_of_each_input(StridedCopy copy, std::optional<Layout> layout) {
  const TensorId diff = this->diff();
  copy.direction = Direction::backward;
  for (copy.index = 0; copy.index < inputs(); ++copy.index) {
    if (wants_gradient(copy.index)) {
      const ArrayTensor made =
          layout ? input_gradient_array(copy.index, *layout) : input_gradient_array(copy.index);
      record(copy, {{Slot::diff_dst, diff}, {Slot::diff_src, made.id}}, {},
             " (" + plan_.graph[node().inputs[copy.index]].name + ")");
    }
  }
}

void Recorder::copy_gradients() {
  for (const GradientCopy& pending : std::exchange(pending_copies_, {})) {
    run(fmt::format("{}{}{} (layout of a gradient)", prefix_, name(), now_.suffix_), pending.copy,
        {{Slot::src, pending.from}, {Slot::dst, pending.to}});
  }
}

void Recorder::add_parameters(Instruction& instruction) {
  for (const SlotInfo& slot : instruction.operation->slots()) {
    const bool given = std::ranges::count(instruction.tensors, slot.slot,
                                          [](const auto& slot_and_id) { return slot_and_id.first; }) > 0;
    if (slot.role != Role::parameter || given) {
      continue;
    }
    const Value owner = plan_.graph.owner_of(current_, slot.slot);
    if (training() && !is_trained(owner, slot.slot)) {
      instruction.tensors.emplace_back(slot.slot, constant(owner, slot, instruction.operation));
      continue;
    }
    const bool known = parameter_index_.contains({owner, slot.slot});
    const PlannedParameter& parameter =
        known ? this->parameter(slot.slot) : declare(owner, slot, instruction.operation);
    instruction.tensors.emplace_back(slot.slot, parameter.value);
  }
}

bool Recorder::is_trained(Value layer, Slot slot) const {
  const auto all = plan_.graph[layer].layer->parameters(plan_.graph.place(layer));
  const auto at = std::ranges::find(all, slot, &LayerParameter::slot);
  return at == all.end() || at->trained;
}

TensorId Recorder::constant(Value layer, const SlotInfo& slot, const std::shared_ptr<Operation>& operation) {
  const auto known = constants_.find({layer, slot.slot});
  if (known != constants_.end()) {
    return known->second;
  }
  if (!constants_block_) {
    constants_block_ = plan_.program.block("constants", MemoryCategory::weights);
  }
  const TensorId value = plan_.program.keep(
      *constants_block_, fmt::format("{} {}", plan_.graph[layer].name, name_of(slot.slot)), slot.bytes);
  plan_.constants.push_back({.layer = layer, .slot = slot.slot, .operation = operation, .value = value});
  constants_[{layer, slot.slot}] = value;
  return value;
}

const PlannedParameter& Recorder::declare(Value layer, const SlotInfo& slot,
                                          const std::shared_ptr<Operation>& operation) {
  const bool full_precision = slot.bytes == slot.plain_count * 4 && slot.slot != Slot::weights;
  const ParameterGroup& group = full_precision ? plan_.groups.back() : plan_.groups.front();
  const std::string name = fmt::format("{} {}", plan_.graph[layer].name, name_of(slot.slot));
  PlannedParameter parameter{.layer = layer, .slot = slot.slot, .operation = operation};
  parameter.value = plan_.program.keep(group.weights, name, slot.bytes);
  if (training()) {
    parameter.gradient = plan_.program.keep(group.gradients, "gradient of " + name, slot.bytes);
  }
  parameter_index_[{layer, slot.slot}] = plan_.parameters.size();
  plan_.parameters.push_back(std::move(parameter));
  return plan_.parameters.back();
}

const PlannedParameter& Recorder::parameter(Slot slot) const {
  return plan_.parameters[parameter_index_.at({plan_.graph.owner_of(current_, slot), slot})];
}

TensorId Recorder::parameter_gradient(Slot slot) {
  const auto [total, holds] = total_gradient(slot);
  if (!holds) {
    return total;
  }
  const TensorId made = fresh(fmt::format("gradient of {} {}", name(), name_of(slot)),
                              plan_.program.tensors()[total].bytes, Content::parameter_gradient);
  pending_.emplace_back(slot, made);
  return made;
}

std::pair<TensorId, bool> Recorder::total_gradient(Slot slot) {
  const TensorId total = parameter(slot).gradient;
  return {total, !written_.insert(total).second};
}

void Recorder::add_up_gradients() {
  for (const auto& [slot, made] : pending_) {
    const TensorId total = parameter(slot).gradient;
    const ProgramTensor& stored = plan_.program.tensors()[total];
    const bool in_front = stored.block == plan_.groups.front().gradients;
    const Dtype dtype = in_front ? plan_.groups.front().dtype : Dtype::fp32;
    const TensorDesc row{1, stored.bytes / bytes_of(dtype), 1, 1, Layout::nhwc, dtype};
    run("gradient sum " + name() + now_.suffix_, Elementwise{.tensor = row, .summands = 2},
        {{Slot::src, made}, {Slot::src1, total}, {Slot::dst, total}});
  }
  pending_.clear();
}

}  // namespace bench::kernels
