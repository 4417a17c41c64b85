// Records the forward and backward passes of layers into a program.
//
// Passes say what is recorded in which order; a layer then records itself, asking the recorder for its
// tensors. Parameters need not be named: an operation's parameter slots are those of the layer.
#pragma once

#include <algorithm>
#include <any>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "bench/error.h"
#include "kernels/networks/program/plan.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {

// Operations shared by description: ResNet-50 has 53 convolutions of 23 kinds, and describing one to a
// library costs more than everything else a plan does.
class OperationCache {
 public:
  template <class Spec>
  std::shared_ptr<Operation> make(const Spec& spec, Device& device, const std::string& implementation) {
    auto& known = all<Spec>();
    // Networks have far fewer different ones of a kind. Looking no further back keeps the time for a chain of
    // a hundred thousand in proportion to its length.
    constexpr std::size_t kLatest = 512;
    for (std::size_t back = 1; back <= std::min(known.size(), kLatest); ++back) {
      const auto& [described, operation] = known[known.size() - back];
      if (described == spec) {
        return operation;
      }
    }
    return known.emplace_back(spec, make_operation(spec, device, implementation)).second;
  }

  // The descriptions asked for, with their operations; one of more than 512 may be there twice.
  template <class Spec>
  std::vector<std::pair<Spec, std::shared_ptr<Operation>>>& all() {
    using Entries = std::vector<std::pair<Spec, std::shared_ptr<Operation>>>;
    std::any& known = by_kind_[typeid(Spec)];
    return known.has_value() ? std::any_cast<Entries&>(known) : known.emplace<Entries>();
  }

 private:
  std::map<std::type_index, std::any> by_kind_;
};

enum class TakesSlope { no, yes };

// A tensor of the program by its dimensions.
struct ArrayTensor {
  TensorId id = 0;
  Array array;
};

class Recorder {
 public:
  using Value = Graph::Value;

  // Records into the plan: a step of inference, or where plan.training is set of training.
  Recorder(ProgramPlan& plan, Device& device, OperationCache& cache);

  // --- For passes.

  // Bytes that each layer may spend on a faster algorithm; none at first.
  void set_extra(std::vector<ExtraBytes> extra) { extra_ = std::move(extra); }
  // `samples`: where the first input lies. `suffix` goes after the names; later micro-batches add to the
  // gradients of earlier ones.
  void start_micro_batch(TensorId samples, std::string suffix = {});
  // Results and gradients of a micro-batch so far. A pass that records several in turns swaps them in and
  // out.
  class MicroBatch {
    friend class Recorder;
    std::string suffix_;
    std::vector<std::optional<TensorId>> values_;   // by node, as the following; the latest results
    std::vector<std::vector<TensorId>> gradients_;  // contributed so far
    std::vector<std::map<Slot, TensorId>> saved_;
  };
  void swap(MicroBatch& other) { std::swap(now_, other); }
  // The gradient of the network's input is wanted too. Called before anything is recorded.
  void want_input_gradient() { find_moved_by_training(true); }
  // The sum of what the backward pass contributed to it.
  TensorId total_input_gradient();
  void forward(Value value);
  // Once more, for a backward pass that finds the first result gone.
  void forward_again(Value value);
  // Records the operations from the gradients contributed to the layer's result to those of its inputs and
  // parameters. Skips a layer whose result has no part in the loss.
  void backward(Value value);
  TensorId value(Value value) const { return now_.values_.at(value).value(); }
  void contribute(Value value, TensorId gradient) { now_.gradients_.at(value).push_back(gradient); }
  // The operation of a layer that has one with this much memory for a faster algorithm; nullptr otherwise.
  std::shared_ptr<Operation> with_extra(Value value, const ExtraBytes& extra);

  // An instruction of no layer.
  template <class Spec>
  void run(const std::string& name, const Spec& spec, const Arguments& arguments,
           const InPlace& in_place = {}) {
    plan_.program.run(instruction(name, spec, cache_.make(spec, device_, plan_.target.implementation),
                                  arguments, in_place));
  }

  // --- For layers: the one that is being recorded.

  bool training() const { return plan_.training.has_value(); }
  bool on_host() const { return device_.host_accessible(); }
  const Target& target() const { return plan_.target; }
  const ExtraBytes& extra() const { return extra_[current_]; }
  const std::string& name() const { return node().name; }
  const Shape& shape() const { return node().shape; }  // of the result
  std::size_t inputs() const { return node().inputs.size(); }
  bool shares_weights() const { return node().shares.has_value(); }

  // How an input is given, and the result stored.
  TensorDesc src(std::size_t index = 0) const;
  const TensorDesc& dst() const { return plan_.stored[current_].tensor; }
  // The first input as a matrix: rows of its last dimension, one after the other. Throws Unsupported where
  // channel padding lies between them.
  TensorDesc rows() const;
  // Throws Unsupported where an input is flattened maps in another order than the shape's: only a linear
  // layer, which arranges its weights, and elementwise layers read those.
  void need_shape_order() const;

  TensorId input(std::size_t index = 0);
  // All of them, as src, src1, … of an operation.
  Arguments sources();

  // For layers of any rank: an input by its dimensions, as it is stored. Flattened maps in another order than
  // the shape's are copied into that first.
  ArrayTensor array(std::size_t index = 0);
  // Of rank 4 in this layout, others in the order of their dimensions: where it is stored otherwise a copy,
  // which is recorded once for all that read it. Layout::nchw is the order of the dimensions.
  ArrayTensor array(std::size_t index, Layout layout);
  // How the result is stored, by its dimensions, and its gradient.
  Array dst_array() const { return array_of(node().shape, plan_.stored[current_], batch()); }
  ArrayTensor diff_array() { return {diff(), dst_array()}; }
  ArrayTensor diff_array(Layout layout);
  // A new tensor for the gradient of an input, as array() gives the input; contributed to it, by way of a
  // copy after the next instruction where the input is stored otherwise.
  ArrayTensor input_gradient_array(std::size_t index = 0);
  ArrayTensor input_gradient_array(std::size_t index, Layout layout);

  // A new tensor for the result.
  TensorId result();
  // A place next to the network's first input for a result that is given, not computed.
  void place_input();
  // The result is what an input is, in the same memory.
  void pass_on(TensorId input) { now_.values_[current_] = input; }
  // The result that the forward pass left.
  TensorId output() const { return value(current_); }
  // A tensor that the forward pass keeps for the backward pass, by the slot that it is read from.
  TensorId save(Slot slot, const std::string& what, std::int64_t bytes, Content content);
  std::optional<TensorId> saved(Slot slot) const;

  // A tensor that only instructions of this layer use.
  TensorId temporary(const std::string& what, std::int64_t bytes, Content content) {
    return fresh(what + " of " + name(), bytes, content);
  }

  // In training, for a layer whose only reader is the activation right after it: the activation that the
  // layer applies itself, so that the activation's own layer computes nothing; else none. Rectifiers only,
  // whose gradient does not ask for what they read. `slope`: whether the layer also multiplies the gradient
  // by the activation's slope.
  Activation take_next_activation(TakesSlope slope);
  // The one it took in the forward pass.
  Activation taken_activation() const;
  // Whether the layer before applies this one, and whether its slope too.
  bool is_activated() const { return activated_.contains(current_); }
  bool is_sloped() const { return is_activated() && activated_.at(current_).slope == TakesSlope::yes; }

  // The gradient of the result: the sum of what was contributed.
  TensorId diff() { return diff_parts(1).front(); }
  // The same in at most so many parts.
  const std::vector<TensorId>& diff_parts(std::size_t most);
  // Whether a parameter comes before that input.
  bool wants_gradient(std::size_t index = 0) const { return moved_by_training_[node().inputs.at(index)]; }
  // A new tensor for the gradient of an input; contributed to it.
  TensorId input_gradient(std::size_t index = 0);
  // Passes the gradient of the result on as that of an input of its shape.
  void pass_gradient(std::size_t index, TensorId gradient);
  // The same for one that has the elements of an input of any shape in the order of its dimensions.
  void pass_gradient_in_order(std::size_t index, TensorId gradient);
  // The tensor into which the next instruction writes a parameter's gradient. If an earlier micro-batch, or
  // another layer with the same parameter, wrote one already, the recorder adds the two after that
  // instruction.
  TensorId parameter_gradient(Slot slot);
  // The parameter's gradient itself, for an operation that can add to it, and whether a gradient is in it.
  std::pair<TensorId, bool> total_gradient(Slot slot);

  template <class Spec>
  std::shared_ptr<Operation> make(const Spec& spec) {
    try {
      return cache_.make(spec, device_, plan_.target.implementation);
    } catch (const Unsupported& error) {
      throw Unsupported(described() + error.what());
    }
  }
  // Whether the device has the operation.
  template <class Spec>
  bool has(const Spec& spec) {
    try {
      cache_.make(spec, device_, plan_.target.implementation);
      return true;
    } catch (const Unsupported&) {
      return false;
    }
  }
  // `label` goes after the instruction's name.
  template <class Spec>
  void record(const Spec& spec, const Arguments& arguments, const InPlace& in_place = {},
              const std::string& label = {}) {
    Instruction made =
        instruction(prefix_ + node().name + now_.suffix_ + label, spec, make(spec), arguments, in_place);
    made.layers = {current_};
    add_parameters(made);
    plan_.program.run(std::move(made));
    add_up_gradients();
    copy_gradients();
  }

  // The backward pass of a copy of all inputs: each one's gradient by itself, in this layout or else as it is
  // stored.
  void record_gradient_of_each_input(StridedCopy copy, std::optional<Layout> layout = {});

 private:
  std::string described() const;  // the layer and what it reads, to begin an error with
  template <class Spec>
  Instruction instruction(const std::string& name, const Spec& spec,
                          const std::shared_ptr<Operation>& operation, const Arguments& arguments,
                          const InPlace& in_place) {
    return {.name = name,
            .operation = operation,
            .make_own = [spec, &device = device_, implementation = plan_.target.implementation]()
                -> std::shared_ptr<Operation> { return make_operation(spec, device, implementation); },
            .tensors = arguments,
            .in_place = in_place};
  }

  const Node& node() const { return plan_.graph[current_]; }
  std::int64_t batch() const { return plan_.target.batch; }
  // An array in another layout: itself, or a copy.
  TensorId in_layout(TensorId id, const Array& array, Layout layout, const std::string& name);
  void copy_gradients();
  void add_groups();
  void find_moved_by_training(bool with_input);
  // Gives the instruction the layer's parameters; places them where it is the first that has them.
  void add_parameters(Instruction& instruction);
  const PlannedParameter& declare(Value layer, const SlotInfo& slot,
                                  const std::shared_ptr<Operation>& operation);
  // Whether training moves the parameter.
  bool is_trained(Value layer, Slot slot) const;
  TensorId constant(Value layer, const SlotInfo& slot, const std::shared_ptr<Operation>& operation);
  const PlannedParameter& parameter(Slot slot) const;
  void add_up_gradients();
  TensorId fresh(const std::string& name, std::int64_t bytes, Content content);

  ProgramPlan& plan_;
  Device& device_;
  OperationCache& cache_;
  std::vector<ExtraBytes> extra_;  // by node
  MicroBatch now_;
  struct Taken {
    Activation activation = Activation::none;
    TakesSlope slope = TakesSlope::no;
  };
  std::map<Value, Taken> activated_;  // by the layer before
  std::map<std::pair<Value, Slot>, std::size_t> parameter_index_;
  std::map<std::pair<Value, Slot>, TensorId> constants_;
  std::optional<BlockId> constants_block_;
  std::set<TensorId> written_;                      // gradients of parameters that hold something
  std::vector<std::pair<Slot, TensorId>> pending_;  // gradients to be added up after the next instruction
  struct GradientCopy {
    StridedCopy copy;
    TensorId from = 0, to = 0;
  };
  std::vector<GradientCopy> pending_copies_;
  struct Copied {
    TensorId copy = 0;
    bool again = false;  // by forward_again()
  };
  std::map<std::pair<TensorId, Layout>, Copied> copied_;
  std::vector<bool> moved_by_training_;  // by node
  bool again_ = false;
  Value current_ = 0;
  std::string prefix_;
};

}  // namespace bench::kernels
