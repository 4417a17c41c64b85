#include "kernels/networks/passes/canonicalise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/views.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;
using Run = View::Run;

class Canonicaliser {
 public:
  explicit Canonicaliser(const Graph& graph)
      : old_(graph), views_(views_of(graph, Factors::apart)), made_(graph.input_only()) {}

  Graph run() && {
    std::vector<std::optional<Plan>> plans(old_.nodes().size());
    std::vector<bool> needed(old_.nodes().size(), false);
    needed[old_.output()] = true;
    for (Value value = old_.output(); value > 0; --value) {
      if (!needed[value]) {
        continue;
      }
      plans[value] = plan(value);
      for (const Value input : plans[value] ? std::vector<Value>{views_[value].source} : old_[value].inputs) {
        needed[input] = true;
      }
      if (old_[value].shares) {
        needed[*old_[value].shares] = true;
      }
    }
    std::vector<Value> place(old_.nodes().size(), 0);
    for (Value value = 1; value < old_.nodes().size(); ++value) {
      if (!needed[value]) {
        continue;
      }
      Node node = old_[value];
      std::ranges::transform(node.inputs, node.inputs.begin(), [&](Value input) { return place[input]; });
      node.shares = node.shares ? std::optional(place[*node.shares]) : std::nullopt;
      place[value] = plans[value] ? write(node, place[views_[value].source], *plans[value])
                                  : made_.append(std::move(node));
    }
    return std::move(made_);
  }

 private:
  // The source in these dimensions, which go into this order.
  struct Plan {
    Shape shape;
    std::vector<std::size_t> order;
  };

  // How the value is made straight from attention's result, where that takes fewer copies.
  std::optional<Plan> plan(Value value) const {
    const View& view = views_[value];
    if (view.source == value || !old_[view.source].is("attention") || view.offset != 0) {
      return std::nullopt;
    }
    int transposes = 0;
    int layers = 0;
    for (Value at = value; at != view.source; at = old_[at].inputs[0]) {
      transposes += old_[at].is("transpose") ? 1 : 0;
      ++layers;
    }
    const std::vector<Run> dims = view.merged();
    std::vector<std::size_t> by_stride;  // the outermost in memory first
    for (std::size_t d = 0; d < dims.size(); ++d) {
      by_stride.push_back(d);
    }
    const auto size = [&](std::size_t d) {
      return std::pair(dims[d].stride.per_sample, dims[d].stride.size);
    };
    std::ranges::sort(by_stride, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    Plan plan;
    plan.order.resize(dims.size());
    Extent below = 1;
    for (std::size_t i = by_stride.size(); i-- > 0;) {
      const Run& run = dims[by_stride[i]];
      const auto next = product(below, run.extent);
      if (run.stride != below || !next) {
        return std::nullopt;
      }
      below = *next;
      plan.order[by_stride[i]] = i;
    }
    if (dims.size() > Shape::kMostDims || below != elements(old_[view.source].shape)) {
      return std::nullopt;
    }
    for (const std::size_t d : by_stride) {
      plan.shape.append(dims[d].extent);
    }
    const bool in_order = std::ranges::is_sorted(plan.order);
    return (in_order && layers > 1) || transposes > 1 ? std::optional(plan) : std::nullopt;
  }

  Value reshape(const std::string& name, Value x, const Shape& shape) {
    return made_[x].shape == shape ? x : made_.append(name, {x}, ReshapeOptions{.shape = shape});
  }

  Value write(const Node& node, Value source, const Plan& plan) {
    if (std::ranges::is_sorted(plan.order)) {
      return reshape(node.name, source, node.shape);
    }
    Value made = reshape(node.name, source, plan.shape);
    made = made_.append(node.name, {made}, TransposeOptions{.order = plan.order});
    return reshape(node.name, made, node.shape);
  }

  const Graph& old_;
  std::vector<View> views_;
  Graph made_;
};

}  // namespace

Graph canonicalised(const Graph& graph) {
  return Canonicaliser(graph).run();
}

}  // namespace bench::kernels
