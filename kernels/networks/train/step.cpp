#include "kernels/networks/train/step.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/add/add.h"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/loss_scale/loss_scale.h"
#include "kernels/networks/train/layers.h"
#include "kernels/networks/train/updates.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// Softmax is part of the loss.
Value logits_of(const Graph& graph) {
  const Value last = graph.output();
  return graph[last].kind == LayerKind::softmax ? graph[last].inputs[0] : last;
}

// Winograd's transforms may take a twelfth of what the layers' results would take if all were kept.
// Recomputation asks for little memory, not for speed.
std::int64_t convolution_scratch(const Graph& graph, const Target& target, const TrainOptions& options) {
  std::int64_t results = 0;
  for (Value value = 1; value < graph.layers().size(); ++value) {
    results += tensor_of(graph, value, target).bytes();
  }
  return options.recompute ? 0 : results / 12;
}

class Recorder {
 public:
  Recorder(const Graph& graph, const Target& target, const TrainOptions& options, Device& device)
      : graph_(graph),
        target_(target),
        options_(options),
        device_(device),
        layers_(graph, target, device, step_) {}

  TrainingStep run() && {
    program().set_in_place(options_.in_place);
    layers_.set_convolution_scratch(convolution_scratch(graph_, target_, options_));
    layers_.declare_parameters(logits_of(graph_));
    if (options_.loss_scaling) {
      step_.loss_scale = program().keep(program().block("loss scale", MemoryCategory::optimizer),
                                        "loss scale", sizeof(LossScale));
    }
    for (std::int64_t micro = 0; micro < options_.accumulate; ++micro) {
      record_micro_batch(micro);
    }
    record_updates(step_, layers_, graph_, options_, device_);
    return std::move(step_);
  }

 private:
  Program& program() { return step_.program; }

  void record_micro_batch(std::int64_t micro) {
    const Value logits = logits_of(graph_);
    const std::string of_micro = options_.accumulate > 1 ? fmt::format(" of micro-batch {}", micro) : "";
    layers_.start_micro_batch(of_micro);
    record_images(micro);
    for (Value value = 1; value <= logits; ++value) {
      layers_.forward(value);
    }
    record_loss(logits, micro, of_micro);
    if (options_.recompute) {
      backward_by_segments(logits);
    } else {
      for (Value value = logits; value >= 1; --value) {
        layers_.backward(value);
      }
    }
  }

  void record_images(std::int64_t micro) {
    step_.input = input_of(graph_, target_);
    const BlockId input = micro == 0 ? program().block("input", MemoryCategory::input) : input_;
    input_ = input;
    const TensorId image = program().keep(input, fmt::format("samples {}", micro), step_.input.bytes());
    step_.inputs.push_back(image);
    layers_.set_image(image);
  }

  void record_loss(Value logits, std::int64_t micro, const std::string& of_micro) {
    const TensorDesc scores = tensor_of(graph_, logits, target_);
    step_.classes = graph_[logits].shape.c;
    step_.rows = scores.h * scores.w;
    if (scores.c != step_.classes || scores.layout != Layout::nhwc) {
      throw Unsupported(
          fmt::format("training needs a network that ends in rows of classes, not {}", graph_[logits].name));
    }
    CrossEntropy loss;
    loss.rows = target_.batch * step_.rows;
    loss.classes = step_.classes;
    loss.scale = 1.0F / static_cast<float>(loss.rows * options_.accumulate);
    loss.dtype = target_.dtype;
    loss.scaled = options_.loss_scaling;
    const TensorId labels = program().keep(input_, fmt::format("labels {}", micro), 4 * loss.rows);
    if (micro == 0) {
      loss_ = program().block("loss", MemoryCategory::other);
    }
    const TensorId value = program().keep(loss_, fmt::format("loss {}", micro), 4);
    const TensorId gradient =
        program().tensor("gradient of the logits", loss.tensor().bytes(), Content::activation_gradient);
    LayerRecorder::Arguments tensors{{Slot::src, layers_.value(logits)},
                                     {Slot::labels, labels},
                                     {Slot::loss, value},
                                     {Slot::diff_src, gradient}};
    if (loss.scaled) {
      tensors.emplace_back(Slot::loss_scale, *step_.loss_scale);
    }
    layers_.record("loss" + of_micro, loss, tensors, std::pair{gradient, layers_.value(logits)});
    layers_.contribute(logits, gradient);
    step_.labels.push_back(labels);
    step_.losses.push_back(value);
  }

  // A block's inner values are computed again from the value before it, which is kept, as is what a
  // concatenation reads from an earlier block.
  void backward_by_segments(Value logits) {
    std::vector<Segment> all = segments(graph_);
    std::ranges::reverse(all);
    for (const Segment& segment : all) {
      const Value last = std::min(segment.last, logits);
      if (segment.last < logits) {  // the last block's values are still there
        for (const Value value : segment.inner) {
          layers_.forward_again(value);
        }
      }
      for (Value value = last; value >= segment.first && value >= 1; --value) {
        layers_.backward(value);
      }
    }
  }

  const Graph& graph_;
  const Target& target_;
  const TrainOptions& options_;
  Device& device_;
  TrainingStep step_;
  LayerRecorder layers_;
  BlockId input_ = 0;
  BlockId loss_ = 0;
};

}  // namespace

namespace {

// Where blocks of layers end in the networks here: a pooling; a sum with what follows it directly; a linear
// bottleneck's last normalisation; what is about to be scaled up.
bool ends_block(const Graph& graph, Value value) {
  const LayerKind kind = graph[value].kind;
  const LayerKind next = graph[value + 1].kind;
  switch (kind) {
    case LayerKind::max_pool:
      return true;
    case LayerKind::activation:
      return graph[graph[value].inputs[0]].kind == LayerKind::add || next == LayerKind::conv_transpose;
    case LayerKind::add:
    case LayerKind::batch_norm:
      return next != LayerKind::activation && next != LayerKind::add;
    default:
      return false;
  }
}

}  // namespace

std::vector<Segment> segments(const Graph& graph) {
  // A value is the only one later layers depend on where no earlier value is read behind it. A concatenation
  // does not count: what it reads is kept anyway.
  const std::size_t count = graph.layers().size();
  std::vector<Value> last_read(count, 0);
  std::vector<Value> last_read_closely(count, 0);
  for (Value value = 0; value < count; ++value) {
    for (const Value input : graph[value].inputs) {
      last_read[input] = value;
      if (graph[value].kind != LayerKind::concat) {
        last_read_closely[input] = value;
      }
    }
  }
  std::vector<Segment> found;
  Value first = 1;
  Value open_until = 0;  // the last layer that reads something from before `value`
  for (Value value = 1; value < count; ++value) {
    open_until = std::max(open_until, last_read_closely[value - 1]);
    if (open_until <= value && value + 1 < count && last_read[value] > value && ends_block(graph, value)) {
      found.push_back({first, value});
      first = value + 1;
    }
  }
  found.push_back({first, count - 1});
  for (Segment& segment : found) {
    for (Value value = segment.first; value < segment.last; ++value) {
      if (last_read[value] <= segment.last) {
        segment.inner.push_back(value);
      }
    }
  }
  return found;
}

TrainingStep training_step(const Graph& graph, const Target& target, const TrainOptions& options,
                           Device& device) {
  return Recorder(graph, target, options, device).run();
}

}  // namespace bench::kernels
