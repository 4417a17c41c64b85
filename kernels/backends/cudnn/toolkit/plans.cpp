// Asks cuDNN, by its backend API: from a Convolution to a graph of descriptors, its plans, and runs of them.
// The API itself and not cudnn-frontend, whose headers take a minute and a half to compile.
//
// A descriptor is created, given attributes and finalized. The heuristics answer with engine configurations;
// one of them makes an execution plan.
#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/toolkit/dynload.h"

namespace bench::kernels::cudnn {
namespace {

const cuda::dynload::Cudnn& api() {
  return cuda::dynload::cudnn();
}

// A call that cuDNN refused: "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED: no engine fits".
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void demand(cudnnStatus_t status, std::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) {
    return;
  }
  constexpr std::size_t kLongest = 1024;
  std::array<char, kLongest> text{};
  api().cudnnGetLastErrorString(text.data(), text.size());
  const std::string_view reason(text.data());
  throw Refusal(fmt::format("{}: {}{}{}", call, api().cudnnGetErrorString(status), reason.empty() ? "" : ": ",
                            reason.substr(0, reason.find('\n'))));
}

// A value's type, as the API wants to be told.
constexpr auto type_of(const std::int64_t* /*value*/) {
  return CUDNN_TYPE_INT64;
}
constexpr auto type_of(const float* /*value*/) {
  return CUDNN_TYPE_FLOAT;
}
constexpr auto type_of(const double* /*value*/) {
  return CUDNN_TYPE_DOUBLE;
}
constexpr auto type_of(const bool* /*value*/) {
  return CUDNN_TYPE_BOOLEAN;
}
constexpr auto type_of(const char* /*value*/) {
  return CUDNN_TYPE_CHAR;
}
constexpr auto type_of(void* const* /*value*/) {
  return CUDNN_TYPE_VOID_PTR;
}
constexpr auto type_of(const cudnnHandle_t* /*value*/) {
  return CUDNN_TYPE_HANDLE;
}
constexpr auto type_of(const cudnnDataType_t* /*value*/) {
  return CUDNN_TYPE_DATA_TYPE;
}
constexpr auto type_of(const cudnnConvolutionMode_t* /*value*/) {
  return CUDNN_TYPE_CONVOLUTION_MODE;
}
constexpr auto type_of(const cudnnPointwiseMode_t* /*value*/) {
  return CUDNN_TYPE_POINTWISE_MODE;
}
constexpr auto type_of(const cudnnNanPropagation_t* /*value*/) {
  return CUDNN_TYPE_NAN_PROPOGATION;
}
constexpr auto type_of(const cudnnBackendHeurMode_t* /*value*/) {
  return CUDNN_TYPE_HEUR_MODE;
}
constexpr auto type_of(const cudnnBackendKnobType_t* /*value*/) {
  return CUDNN_TYPE_KNOB_TYPE;
}
constexpr auto type_of(const cudnnBackendNumericalNote_t* /*value*/) {
  return CUDNN_TYPE_NUMERICAL_NOTE;
}
constexpr auto type_of(const cudnnBackendBehaviorNote_t* /*value*/) {
  return CUDNN_TYPE_BEHAVIOR_NOTE;
}

using Attribute = cudnnBackendAttributeName_t;

// A descriptor with one owner.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    demand(api().cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ != nullptr) {
      api().cudnnBackendDestroyDescriptor(descriptor_);
    }
  }

  cudnnBackendDescriptor_t get() const { return descriptor_; }

  template <class Value>
  void set_all(Attribute name, std::span<const Value> values) {
    set_raw(name, type_of(values.data()), static_cast<std::int64_t>(values.size()), values.data());
  }
  template <class Value>
  void set(Attribute name, const Value& value) {
    set_raw(name, type_of(&value), 1, &value);
  }
  void set(Attribute name, const Descriptor& other) {
    set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
  }
  void set(Attribute name, const std::vector<Descriptor>& others) {
    const std::vector<cudnnBackendDescriptor_t> all = descriptors_of(others);
    set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(all.size()), all.data());
  }
  void finalize() { demand(api().cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize"); }

  template <class Value>
  Value value(Attribute name) const {
    Value value{};
    get_raw(name, type_of(&value), 1, nullptr, &value);
    return value;
  }
  // At most `most` values.
  template <class Value>
  std::vector<Value> values(Attribute name, std::int64_t most) const {
    std::vector<Value> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    get_raw(name, type_of(values.data()), most, &count, values.data());
    values.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)));
    return values;
  }
  Descriptor descriptor(Attribute name, cudnnBackendDescriptorType_t type) const {
    return std::move(descriptors(name, type, 1).at(0));
  }
  // At most `most`: the API fills descriptors that have been created.
  std::vector<Descriptor> descriptors(Attribute name, cudnnBackendDescriptorType_t type,
                                      std::int64_t most) const {
    std::vector<Descriptor> found;
    for (std::int64_t i = 0; i < most; ++i) {
      found.emplace_back(type);
    }
    std::vector<cudnnBackendDescriptor_t> all = descriptors_of(found);
    std::int64_t count = 0;
    get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, all.data());
    found.erase(found.begin() + std::clamp<std::int64_t>(count, 0, most), found.end());
    return found;
  }
  std::int64_t count(Attribute name) const {
    std::int64_t count = 0;
    get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
    return count;
  }

 private:
  static std::vector<cudnnBackendDescriptor_t> descriptors_of(const std::vector<Descriptor>& all) {
    std::vector<cudnnBackendDescriptor_t> descriptors;
    std::ranges::transform(all, std::back_inserter(descriptors), &Descriptor::get);
    return descriptors;
  }
  void set_raw(Attribute name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
    demand(api().cudnnBackendSetAttribute(descriptor_, name, type, count, values),
           "cudnnBackendSetAttribute");
  }
  void get_raw(Attribute name, cudnnBackendAttributeType_t type, std::int64_t most, std::int64_t* count,
               void* values) const {
    demand(api().cudnnBackendGetAttribute(descriptor_, name, type, most, count, values),
           "cudnnBackendGetAttribute");
  }

  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// cuDNN's handle for a card that is here, made when it is first needed.
class Handle {
 public:
  explicit Handle(const cuda::Card& card) : card_(card) {
    card_.use();
    check(api().cudnnCreate(&handle_), "cudnnCreate");
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { api().cudnnDestroy(handle_); }

  cudnnHandle_t get() const {
    card_.use();
    return handle_;
  }
  // With its work queued on `stream`.
  cudnnHandle_t on(CUstream_st* stream) const {
    card_.use();
    check(api().cudnnSetStream(handle_, stream), "cudnnSetStream");
    return handle_;
  }

 private:
  static void check(cudnnStatus_t status, const char* call, cuda::Place place = cuda::Place::current()) {
    if (status != CUDNN_STATUS_SUCCESS) {
      cuda::library_failed(fmt::format("{} failed: {} ({}) at {}", call, static_cast<int>(status),
                                       api().cudnnGetErrorString(status), cuda::text_of(place)),
                           cuda::says_out_of_memory(api().cudnnGetErrorString(status)));
    }
  }

  const cuda::Card& card_;
  cudnnHandle_t handle_ = nullptr;
};

// What tensors are called in a graph and when it runs; those between operations come after.
enum Id : std::int64_t { kX = 1, kW, kY, kBias, kResidual, kBetween };

cudnnDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return CUDNN_DATA_HALF;
    case Dtype::bf16:
      return CUDNN_DATA_BFLOAT16;
    case Dtype::fp32:
    case Dtype::tf32:
      return CUDNN_DATA_FLOAT;
  }
  return CUDNN_DATA_FLOAT;
}

// What the three tensors of a pass are called.
struct PassAttributes {
  cudnnBackendDescriptorType_t operation;
  Attribute x, w, y, geometry, alpha, beta;
};
constexpr std::array<PassAttributes, 3> kPasses{{
    // by Pass
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
}};

// The descriptors of one convolution's graph. Those that others refer to live as long as it.
class Graph {
 public:
  // `handle`: of the card that is here, else null.
  Graph(const Convolution& convolution, cudnnHandle_t handle)
      : type_(type_of(convolution.dtype)), graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
    connect(convolution);
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
    if (handle != nullptr) {
      graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
    }
    graph_.finalize();
  }

  const Descriptor& get() const { return graph_; }
  const std::vector<std::int64_t>& ids() const { return ids_; }  // of the tensors in memory

 private:
  static constexpr auto kSum = CUDNN_DATA_FLOAT;  // whatever the tensors hold

  void connect(const Convolution& convolution) {
    const PassAttributes& names = kPasses.at(static_cast<std::size_t>(convolution.pass));
    const int behind = (convolution.residual ? 1 : 0) + (convolution.bias ? 1 : 0) +
                       (convolution.activation != Activation::none ? 1 : 0);
    const Descriptor& y = result(convolution.y, behind);
    Descriptor operation(names.operation);
    operation.set(names.x, stored(kX, convolution.x));
    operation.set(names.w, stored(kW, convolution.w));
    operation.set(names.y, y);
    operation.set(names.geometry, geometry_of(convolution));
    operation.set(names.alpha, 1.0F);
    operation.set(names.beta, 0.0F);
    add(std::move(operation));
    append_pointwise(convolution, y, behind);
  }

  static Descriptor geometry_of(const Convolution& convolution) {
    const auto set = [](Descriptor& to, Attribute name, const std::array<std::int64_t, 2>& values) {
      to.set_all(name, std::span<const std::int64_t>(values));
    };
    Descriptor geometry(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    geometry.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, kSum);
    geometry.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    geometry.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
    set(geometry, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, convolution.pad);
    set(geometry, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, convolution.pad);
    set(geometry, CUDNN_ATTR_CONVOLUTION_DILATIONS, convolution.dilation);
    set(geometry, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, convolution.stride);
    geometry.finalize();
    return geometry;
  }

  // What is fused behind fprop, `left` operations in all, the last of which writes y.
  void append_pointwise(const Convolution& convolution, const Descriptor& y, int left) {
    const Descriptor* from = &y;
    const auto append = [&](const Descriptor& mode, const Descriptor* other) {
      const Descriptor& to = result(convolution.y, --left);
      Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, mode);
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *from);
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
      if (other != nullptr) {
        operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
      }
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1.0F);
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1.0F);
      add(std::move(operation));
      from = &to;
    };
    if (convolution.residual) {
      append(pointwise(CUDNN_POINTWISE_ADD), &stored(kResidual, convolution.y));
    }
    if (convolution.bias) {
      append(pointwise(CUDNN_POINTWISE_ADD), &stored(kBias, channels_last(1, convolution.y.dims[1], 1, 1)));
    }
    if (convolution.activation != Activation::none) {
      append(pointwise(convolution.activation), nullptr);
    }
  }

  static Descriptor pointwise(cudnnPointwiseMode_t mode) {
    Descriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    pointwise.set(CUDNN_ATTR_POINTWISE_MODE, mode);
    pointwise.set(CUDNN_ATTR_POINTWISE_MATH_PREC, kSum);
    if (mode != CUDNN_POINTWISE_RELU_FWD) {
      pointwise.finalize();
    }
    return pointwise;
  }
  static Descriptor pointwise(Activation activation) {
    if (activation == Activation::gelu) {
      return pointwise(CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
    }
    constexpr double kNoClip = std::numeric_limits<float>::max();
    Descriptor relu = pointwise(CUDNN_POINTWISE_RELU_FWD);
    relu.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
    relu.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0.0);
    relu.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, activation == Activation::relu6 ? 6.0 : kNoClip);
    relu.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE,
             activation == Activation::leaky_relu ? double{kLeakySlope} : 0.0);
    relu.finalize();
    return relu;
  }

  const Descriptor& stored(Id id, const Tensor& tensor) {
    ids_.push_back(id);
    return add_tensor(id, tensor, type_, false);
  }
  // y, or where operations are left a tensor that is never in memory.
  const Descriptor& result(const Tensor& y, int left) {
    return left == 0 ? stored(kY, y) : add_tensor(kBetween + left, y, kSum, true);
  }
  const Descriptor& add_tensor(std::int64_t id, const Tensor& tensor, cudnnDataType_t type, bool is_virtual) {
    constexpr std::int64_t kAlignment = 16;  // bytes
    Descriptor& added = tensors_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    added.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    added.set_all(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(tensor.dims));
    added.set_all(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(tensor.strides));
    added.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    added.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
    if (is_virtual) {
      added.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    }
    added.finalize();
    return added;
  }

  void add(Descriptor operation) {
    operation.finalize();
    operations_.push_back(std::move(operation));
  }

  cudnnDataType_t type_;
  std::vector<std::int64_t> ids_;
  std::deque<Descriptor> tensors_;  // a deque leaves its elements where they are
  std::vector<Descriptor> operations_;
  Descriptor graph_;
};

// "eng41_k2=28_k19=0": the engine, and its settings by their number.
std::string name_of(const Descriptor& configuration) {
  const Descriptor engine =
      configuration.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  std::vector<std::pair<int, std::int64_t>> settings;
  for (const Descriptor& knob : configuration.descriptors(
           CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    settings.emplace_back(knob.value<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE),
                          knob.value<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  std::ranges::sort(settings);
  std::string name = fmt::format("eng{}", engine.value<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  for (const auto& [knob, value] : settings) {
    name += fmt::format("_k{}={}", knob, value);
  }
  return name;
}

Plan plan_of(const Descriptor& configuration) {
  const Descriptor engine =
      configuration.descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const auto numerical = engine.values<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                    CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const auto behavior = engine.values<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                                  CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  const auto has = [](const auto& notes, auto note) { return std::ranges::count(notes, note) > 0; };
  Plan plan{.tensor_cores = has(numerical, CUDNN_NUMERICAL_NOTE_TENSOR_CORE),
            .narrows = has(numerical, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
                       has(numerical, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION),
            .compiles = has(behavior, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)};
  try {
    plan.engine = engine.value<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
    plan.workspace = configuration.value<std::int64_t>(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
  } catch (const Refusal&) {
    plan.unknown = true;
  }
  return plan;
}

class GraphPlans final : public Plans {
 public:
  GraphPlans(const Convolution& convolution, cuda::Card& card)
      : what_(described(convolution)), here_(card.is_here()) {
    try {
      if (here_) {
        handle_ = card.keep<Handle>();
      } else {
        properties_.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        const std::string& json = card.properties();
        properties_->set_all(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                             std::span<const char>(json.c_str(), json.size() + 1));
        properties_->finalize();
      }
      graph_.emplace(convolution, here_ ? handle_->get() : nullptr);
      list_plans();
    } catch (const Refusal& refusal) {
      const std::string what = fmt::format("cuDNN has no plan for {}: {}", what_, refusal.what());
      ask_device(what);
      throw Unsupported(what);
    }
  }

  std::span<const Plan> list() const override { return list_; }

  std::string name(std::size_t plan) const override {
    try {
      return name_of(configurations_[plan]);
    } catch (const Refusal& refusal) {
      fail(plan, refusal);
    }
  }

  std::optional<std::int64_t> build(std::size_t plan) override {
    Built& built = built_[plan];
    if (!built.tried) {
      try {
        Descriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        made.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configurations_[plan]);
        made.finalize();
        built.workspace = made.value<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
        built.plan = std::move(made);
      } catch (const Refusal& refusal) {
        // Engines check a few limits of theirs only now. Where the device is why the plan stays untried.
        ask_device(fmt::format("{}: cuDNN's plan {} was not built: {}", what_, plan, refusal.what()));
        refusal_ = refusal.what();
      }
      built.tried = true;
    }
    return built.plan ? std::optional(built.workspace) : std::nullopt;
  }

  std::string last_refusal() const override { return refusal_; }

  void run(std::size_t plan, CUstream_st* stream, const Arguments& arguments) override {
    const cudnnHandle_t handle = handle_->on(stream);
    std::vector<void*> pointers;
    for (const std::int64_t id : graph_->ids()) {
      pointers.push_back(pointer_for(static_cast<Id>(id), arguments));
    }
    try {
      Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
      pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, arguments.workspace);
      pack.set_all(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(pointers));
      pack.set_all(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(graph_->ids()));
      pack.finalize();
      demand(api().cudnnBackendExecute(handle, built_[plan].plan->get(), pack.get()), "cudnnBackendExecute");
    } catch (const Refusal& refusal) {
      fail(plan, refusal);
    }
  }

 private:
  struct Built {
    bool tried = false;
    std::int64_t workspace = 0;
    std::optional<Descriptor> plan;  // none where cuDNN refused
  };

  static void* pointer_for(Id id, const Arguments& arguments) {
    switch (id) {
      case kX:
        return arguments.x;
      case kW:
        return arguments.w;
      case kY:
        return arguments.y;
      case kBias:
        return arguments.bias;
      case kResidual:
        return arguments.residual;
      case kBetween:
        break;
    }
    return nullptr;
  }

  // The heuristics' favourites, then what supports anything. One mode may refuse as long as the other does
  // not.
  void list_plans() {
    std::optional<Refusal> refused;
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
      try {
        Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_->get());
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
        if (properties_) {
          heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
        }
        heuristics.finalize();
        for (Descriptor& configuration :
             heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                    heuristics.count(CUDNN_ATTR_ENGINEHEUR_RESULTS))) {
          configurations_.push_back(std::move(configuration));
        }
      } catch (const Refusal& refusal) {
        refused = refusal;
      }
    }
    if (configurations_.empty()) {
      throw refused ? *refused : Refusal("its heuristics know none");
    }
    std::ranges::transform(configurations_, std::back_inserter(list_), plan_of);
    built_.resize(list_.size());
  }

  // Returns where cuDNN's refusal is its own. A card that is not here is never the reason.
  void ask_device(const std::string& what) const {
    const bool out_of_memory = cuda::says_out_of_memory(what);
    if (out_of_memory || (here_ && !cuda::says_not_supported(what))) {
      cuda::library_refused(what, out_of_memory);
    }
  }

  [[noreturn]] void fail(std::size_t plan, const Refusal& refusal,
                         cuda::Place place = cuda::Place::current()) const {
    cuda::library_failed(fmt::format("{}: cuDNN's plan {} failed: {} at {}", what_, plan, refusal.what(),
                                     cuda::text_of(place)),
                         cuda::says_out_of_memory(refusal.what()));
  }

  // In this order: what comes first outlives what refers to it.
  std::string what_;
  bool here_ = false;
  std::shared_ptr<Handle> handle_;        // of a card that is here
  std::optional<Descriptor> properties_;  // of one that is not
  std::optional<Graph> graph_;
  std::vector<Descriptor> configurations_;
  std::vector<Plan> list_;
  std::vector<Built> built_;
  std::string refusal_;
};

const Registration<PlanSource> registered{
    {.name = "cudnn",
     .version = [] { return static_cast<std::int64_t>(api().cudnnGetVersion()); },
     .newest_capability = [] { return static_cast<int>(api().cudnnGetMaxDeviceVersion() / 10); },
     .plans = [](const Convolution& convolution, cuda::Card& card) -> std::unique_ptr<Plans> {
       return std::make_unique<GraphPlans>(convolution, card);
     }}};

}  // namespace
}  // namespace bench::kernels::cudnn
