// The one file that includes cudnn-frontend: from a Convolution to a graph, its plans, and runs of them.
#include <cudnn_frontend.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/cudnn/cudnn_handle.h"
#include "kernels/cudnn/graph_plans.h"
#include "kernels/cudnn/reason.h"
#include "kernels/device/cuda/library.h"
#include "kernels/device/cuda/status.h"

namespace bench::kernels::cudnn {
namespace {

namespace fe = cudnn_frontend;
using Attributes = std::shared_ptr<fe::graph::Tensor_attributes>;

// What tensors are called in a graph and when it runs.
enum Id : std::int64_t { kX = 1, kW, kY, kBias, kResidual };

// The frontend keeps the notes and settings of its plans to its descendants.
class OpenGraph final : public fe::graph::Graph {
 public:
  fe::graph::Execution_plan_list& all() { return plans; }
};

fe::DataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return fe::DataType_t::HALF;
    case Dtype::bf16:
      return fe::DataType_t::BFLOAT16;
    case Dtype::fp32:
    case Dtype::tf32:
      return fe::DataType_t::FLOAT;
  }
  return fe::DataType_t::NOT_SET;
}

std::vector<std::int64_t> vector_of(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

fe::graph::Pointwise_attributes pointwise(fe::PointwiseMode_t mode) {
  return fe::graph::Pointwise_attributes().set_mode(mode);
}

fe::graph::Pointwise_attributes pointwise(Activation activation) {
  if (activation == Activation::gelu) {
    return pointwise(fe::PointwiseMode_t::GELU_APPROX_TANH_FWD);
  }
  auto relu = pointwise(fe::PointwiseMode_t::RELU_FWD);
  if (activation == Activation::relu6) {
    relu.set_relu_lower_clip(0.0F).set_relu_upper_clip(6.0F);
  } else if (activation == Activation::leaky_relu) {
    relu.set_relu_lower_clip_slope(kLeakySlope);
  }
  return relu;
}

class GraphPlans final : public Plans {
 public:
  GraphPlans(const Convolution& convolution, const Target& target)
      : what_(described(convolution)), ordinal_(target.ordinal), here_(target.properties.empty()) {
    const fe::DataType_t type = type_of(convolution.dtype);
    graph_.set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT)
        .set_sm_version(target.compute_capability);
    connect(convolution);
    supported(graph_.validate());
    if (here_) {
      supported(graph_.build_operation_graph(handle_of(ordinal_)));
    } else {
      graph_.set_device_properties(properties_of(target));
      supported(graph_.build_operation_graph());
    }
    supported(graph_.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
    read_plans();
  }

  std::span<const Plan> list() const override { return list_; }

  std::string name(std::size_t plan) const override {
    std::string name;
    demand(graph_.get_plan_name_at_index(static_cast<std::int64_t>(plan), name), plan);
    return name;
  }

  std::optional<std::int64_t> build(std::size_t plan) override {
    if (built_[plan] == State::untried) {
      // Engines check a few limits of theirs only now. Where the device is why the plan stays untried.
      fe::error_t status = graph_.build_plan_at_index(static_cast<std::int64_t>(plan));
      if (status.is_bad()) {
        ask_device(fmt::format("{}: cuDNN's plan {} was not built: {}", what_, plan,
                               reason_of(status.get_message())),
                   status.get_message());
      }
      built_[plan] = status.is_good() ? State::built : State::refused;
      refusal_ = status.is_good() ? refusal_ : reason_of(status.get_message());
    }
    if (built_[plan] != State::built) {
      return std::nullopt;
    }
    return graph_.all().execution_plans[plan]->getWorkspaceSize();
  }

  std::string last_refusal() const override { return refusal_; }

  void run(std::size_t plan, CUstream_st* stream, const Arguments& arguments) override {
    for (auto& [id, pointer] : pointers_) {
      pointer = pointer_for(static_cast<Id>(id), arguments);
    }
    demand(graph_.execute_plan_at_index(handle_on(ordinal_, stream), pointers_, arguments.workspace,
                                        static_cast<std::int64_t>(plan)),
           plan);
  }

 private:
  enum class State { untried, built, refused };

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
    }
    return nullptr;
  }

  static std::shared_ptr<fe::DeviceProperties> properties_of(const Target& target) {
    auto properties = std::make_shared<fe::DeviceProperties>();
    std::vector<std::uint8_t> json(target.properties.begin(), target.properties.end());
    json.push_back(0);
    if (auto status = properties->deserialize(json); status.is_bad()) {
      throw std::runtime_error(
          fmt::format("cuDNN refuses the card's properties: {}", reason_of(status.get_message())));
    }
    return properties;
  }

  void connect(const Convolution& convolution) {
    const auto pad = vector_of(convolution.pad);
    const auto stride = vector_of(convolution.stride);
    const auto dilation = vector_of(convolution.dilation);
    const auto geometry = [&](auto attributes) {
      return attributes.set_padding(pad).set_stride(stride).set_dilation(dilation);
    };
    switch (convolution.pass) {
      case Pass::fprop: {
        const Attributes x = input(kX, convolution.x);
        const Attributes w = input(kW, convolution.w);
        Attributes y = graph_.conv_fprop(x, w, geometry(fe::graph::Conv_fprop_attributes()));
        const auto add = [&](Id id, const Tensor& tensor) {
          y = graph_.pointwise(y, input(id, tensor), pointwise(fe::PointwiseMode_t::ADD));
        };
        if (convolution.residual) {
          add(kResidual, convolution.y);
        }
        if (convolution.bias) {
          add(kBias, channels_last(1, convolution.y.dims[1], 1, 1));
        }
        if (convolution.activation != Activation::none) {
          y = graph_.pointwise(y, pointwise(convolution.activation));
        }
        output(y, kY, convolution.y);
        return;
      }
      case Pass::dgrad: {
        const Attributes y = input(kY, convolution.y);
        const Attributes w = input(kW, convolution.w);
        output(graph_.conv_dgrad(y, w, geometry(fe::graph::Conv_dgrad_attributes())), kX, convolution.x);
        return;
      }
      case Pass::wgrad: {
        const Attributes y = input(kY, convolution.y);
        const Attributes x = input(kX, convolution.x);
        output(graph_.conv_wgrad(y, x, geometry(fe::graph::Conv_wgrad_attributes())), kW, convolution.w);
        return;
      }
    }
  }

  Attributes input(Id id, const Tensor& tensor) {
    pointers_.emplace(id, nullptr);
    return graph_.tensor(fe::graph::Tensor_attributes()
                             .set_uid(id)
                             .set_dim(vector_of(tensor.dims))
                             .set_stride(vector_of(tensor.strides)));
  }

  void output(const Attributes& attributes, Id id, const Tensor& tensor) {
    pointers_.emplace(id, nullptr);
    attributes->set_output(true)
        .set_uid(id)
        .set_dim(vector_of(tensor.dims))
        .set_stride(vector_of(tensor.strides));
  }

  void read_plans() {
    auto& all = graph_.all();
    auto configurations = all.get_barred_engine_configs();  // those not barred, in spite of the name
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const auto has = [&](auto note) {
        return std::ranges::find(all.numeric_notes[i], note) != all.numeric_notes[i].end();
      };
      Plan plan;
      std::unordered_map<fe::KnobType_t, std::int64_t> knobs;
      plan.unknown =
          fe::detail::get_workspace_size(configurations[i], plan.workspace).is_bad() ||
          graph_.get_engine_and_knobs_at_index(static_cast<std::int64_t>(i), plan.engine, knobs).is_bad();
      plan.tensor_cores = has(fe::NumericalNote_t::TENSOR_CORE);
      plan.narrows = has(fe::NumericalNote_t::DOWN_CONVERT_INPUTS) ||
                     has(fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION);
      const auto& behavior = all.behavior_notes[i];
      plan.compiles = std::ranges::find(behavior, fe::BehaviorNote_t::RUNTIME_COMPILATION) != behavior.end();
      list_.push_back(plan);
    }
    built_.assign(list_.size(), State::untried);
  }

  void supported(fe::error_t status) const {
    if (status.is_good()) {
      return;
    }
    const std::string what =
        fmt::format("cuDNN has no plan for {}: {}", what_, reason_of(status.get_message()));
    ask_device(what, status.get_message());
    throw Unsupported(what);
  }

  // Returns where cuDNN's refusal is its own. A card that is not here is never the reason.
  void ask_device(const std::string& what, const std::string& message) const {
    const bool out_of_memory = cuda::says_out_of_memory(message);
    if (out_of_memory || (here_ && !cuda::says_not_supported(message))) {
      cuda::library_refused(what, out_of_memory);
    }
  }

  void demand(fe::error_t status, std::size_t plan, cuda::Place place = cuda::Place::current()) const {
    if (status.is_bad()) {
      cuda::library_failed(fmt::format("{}: cuDNN's plan {} failed: {} (cudnn-frontend's error {}) at {}",
                                       what_, plan, reason_of(status.get_message()),
                                       static_cast<int>(status.get_code()), cuda::text_of(place)),
                           cuda::says_out_of_memory(status.get_message()));
    }
  }

  std::string what_;
  int ordinal_ = 0;
  bool here_ = false;
  mutable OpenGraph graph_;
  std::vector<Plan> list_;
  std::vector<State> built_;
  std::string refusal_;
  std::unordered_map<std::int64_t, void*> pointers_;  // by id; filled anew for each run
};

}  // namespace

std::unique_ptr<Plans> graph_plans(const Convolution& convolution, const Target& target) {
  return std::make_unique<GraphPlans>(convolution, target);
}

}  // namespace bench::kernels::cudnn
