// Which values a backward pass computes again, in place of keeping them (Chen et al. 2016, arXiv:1604.06174).
#include <algorithm>

#include "kernels/networks/passes/training.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

std::optional<Epilogue> epilogue_of(const Graph& graph, Value value) {
  const Node& node = graph[value];
  return node.layer == nullptr ? std::nullopt : node.layer->epilogue(graph.place(value));
}

template <class Kind>
bool is(const std::optional<Epilogue>& epilogue) {
  return epilogue && std::holds_alternative<Kind>(*epilogue);
}

// Where blocks of layers end in the networks here: a pooling; a sum with what follows it directly; a linear
// bottleneck's last normalisation; what is about to be scaled up.
bool ends_block(const Graph& graph, Value value) {
  const auto here = epilogue_of(graph, value);
  const auto next = epilogue_of(graph, value + 1);
  if (is<Activation>(here)) {
    return is<FoldedSum>(epilogue_of(graph, graph[value].inputs[0])) ||
           graph[value + 1].layer->starts_block();
  }
  if (here) {
    return !is<Activation>(next) && !is<FoldedSum>(next);
  }
  return graph[value].layer->ends_block();
}

}  // namespace

std::vector<Segment> segments(const Graph& graph) {
  // A value is the only one later layers depend on where no earlier value is read after it. A concatenation
  // does not count: what it reads is kept anyway.
  const std::size_t count = graph.nodes().size();
  std::vector<Value> last_read(count, 0);
  std::vector<Value> last_read_closely(count, 0);
  for (Value value = 1; value < count; ++value) {
    for (const Value input : graph[value].inputs) {
      last_read[input] = value;
      if (!graph[value].layer->keeps_inputs()) {
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

void record_backward_by_segments(Recorder& recorder, const Graph& graph, Value logits) {
  std::vector<Segment> all = segments(graph);
  std::ranges::reverse(all);
  for (const Segment& segment : all) {
    if (segment.last < logits) {  // the last block's values are still there
      for (const Value value : segment.inner) {
        recorder.forward_again(value);
      }
    }
    for (Value value = std::min(segment.last, logits); value >= segment.first && value >= 1; --value) {
      recorder.backward(value);
    }
  }
}

}  // namespace bench::kernels
