#include "kernels/networks/passes/stages.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/networks/program/plan.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// By value: whether the output depends on it.
std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> needed(graph.nodes().size(), false);
  needed[graph.output()] = true;
  for (Value value = graph.output() + 1; value-- > 0;) {
    if (needed[value]) {
      for (const Value input : graph[value].inputs) {
        needed[input] = true;
      }
    }
  }
  return needed;
}

// By value: whether it depends on the network's input.
std::vector<bool> moving_values(const Graph& graph) {
  std::vector<bool> moving(graph.nodes().size(), false);
  moving[graph.image()] = true;
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    moving[value] =
        std::ranges::any_of(graph[value].inputs, [&](const Value input) { return moving[input]; });
  }
  return moving;
}

bool can_be_an_input(const Shape& shape) {
  const auto batch = shape.batch_dimension();
  return batch && shape[*batch] == kBatch && shape.is_fixed_from(*batch + 1);
}

class StagesWithin {
 public:
  explicit StagesWithin(const StretchCosts& costs) {
    for (const std::vector<double>& of_stage : costs) {
      sums_.push_back({0});
      std::partial_sum(of_stage.begin(), of_stage.end(), std::back_inserter(sums_.back()));
    }
  }

  // Stages of which none costs more; nullopt: there are none. A stage begins as late as those before allow.
  std::optional<std::vector<std::size_t>> find(double limit) const {
    const std::size_t stretches = sums_.front().size() - 1;
    std::vector<std::vector<std::size_t>> begins(sums_.size());  // by stage and end
    // Whether the stages so far can have the first stretches, by their number.
    std::vector<bool> reached(stretches + 1, false);
    reached[0] = true;
    for (std::size_t stage = 0; stage < sums_.size(); ++stage) {
      begins[stage].resize(stretches + 1);
      std::vector<bool> next(stretches + 1, false);
      std::optional<std::size_t> latest;
      for (std::size_t end = 1; end <= stretches; ++end) {
        latest = reached[end - 1] ? end - 1 : latest;
        if (latest && sums_[stage][end] - sums_[stage][*latest] <= limit) {
          begins[stage][end] = *latest;
          next[end] = true;
        }
      }
      reached = std::move(next);
    }
    if (!reached[stretches]) {
      return std::nullopt;
    }
    std::vector<std::size_t> ends(sums_.size());
    std::size_t end = stretches;
    for (std::size_t stage = sums_.size(); stage-- > 0;) {
      ends[stage] = end - 1;
      end = begins[stage][end];
    }
    return ends;
  }

 private:
  StretchCosts sums_;  // of the first stretches, by their number
};

// The weights of a layer of an earlier stage, as a layer's own.
std::shared_ptr<const std::map<Slot, Drawn>> drawn_as(const Graph& graph, Value owner, const Node& node) {
  std::map<Slot, Drawn> drawn = node.drawn == nullptr ? std::map<Slot, Drawn>() : *node.drawn;
  drawn[Slot::weights] = {
      .layer = graph[owner].layer, .place = graph.place(owner), .slot = Slot::weights, .columns = 0};
  return std::make_shared<const std::map<Slot, Drawn>>(std::move(drawn));
}

}  // namespace

double stage_cost(const Graph& graph, Value value) {
  const Node& node = graph[value];
  if (node.layer == nullptr || !node.layer->computes()) {
    return 0;
  }
  if (const std::int64_t macs = node.layer->macs(graph.place(value)); macs > 0) {
    return static_cast<double>(macs);
  }
  std::int64_t elements = node.shape.elements();
  for (const Value input : node.inputs) {
    elements += graph[input].shape.elements();
  }
  return kMacsOfAByte * static_cast<double>(sizeof(float)) * static_cast<double>(elements);
}

std::vector<Value> cut_places(const Graph& graph) {
  const std::vector<bool> needed = needed_values(graph);
  const std::vector<bool> moving = moving_values(graph);
  std::vector<Value> last_reader(graph.nodes().size(), 0);
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    if (needed[value]) {
      for (const Value input : graph[value].inputs) {
        last_reader[input] = value;
      }
    }
  }
  const Target anywhere{.batch = 1, .dtype = Dtype::fp32, .layouts = {}, .implementation = {}};
  const std::vector<StoredValue> stored = ProgramPlan(graph, anywhere).stored;
  std::vector<Value> places;
  Value latest = last_reader[graph.image()];  // that reads a value before this one
  for (Value value = 1; value < graph.output(); ++value) {
    if (!needed[value] || !moving[value]) {
      continue;
    }
    if (latest <= value && graph[value].layer->computes() && can_be_an_input(graph[value].shape) &&
        !stored[value].flattened) {
      places.push_back(value);
    }
    latest = std::max(latest, last_reader[value]);
  }
  return places;
}

// The least limit is found by halving: as many steps as a double has bits.
std::vector<std::size_t> balanced(const StretchCosts& costs) {
  if (costs.empty() || costs.front().size() < costs.size()) {
    throw std::invalid_argument("more stages than stretches");
  }
  const StagesWithin stages(costs);
  double most = 1;
  for (const std::vector<double>& of_stage : costs) {
    most += std::accumulate(of_stage.begin(), of_stage.end(), 0.0);
  }
  double least = 0;
  std::vector<std::size_t> best = stages.find(most).value();
  for (int step = 0; step < 64; ++step) {
    const double middle = least + (most - least) / 2;
    if (auto ends = stages.find(middle)) {
      best = *std::move(ends);
      most = middle;
    } else {
      least = middle;
    }
  }
  return best;
}

std::vector<Stage> cut_into_stages(const Graph& graph, const StretchCosts& costs) {
  std::vector<Value> ends = cut_places(graph);
  ends.push_back(graph.output());
  std::vector<Stage> cut;
  std::size_t stage = 0;
  std::size_t first = 0;
  for (const std::size_t last : balanced(costs)) {
    const auto at = [&](std::size_t place) {
      return costs[stage].begin() + static_cast<std::ptrdiff_t>(place);
    };
    cut.push_back({.begin = cut.empty() ? graph.image() : cut.back().end,
                   .end = ends.at(last),
                   .cost = std::accumulate(at(first), at(last + 1), 0.0)});
    first = last + 1;
    ++stage;
  }
  return cut;
}

namespace {

std::vector<double> costs_of_stretches(const Graph& graph, const std::function<double(Value value)>& cost) {
  std::vector<Value> ends = cut_places(graph);
  ends.push_back(graph.output());
  const std::vector<bool> needed = needed_values(graph);
  const std::vector<bool> moving = moving_values(graph);
  std::vector<double> costs(ends.size(), 0);
  std::size_t stretch = 0;
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    stretch += value > ends[stretch] ? 1 : 0;
    costs[stretch] += needed[value] && moving[value] ? cost(value) : 0;
  }
  return costs;
}

double parameter_bytes(const Graph& graph, Value value) {
  double bytes = 0;
  for (const LayerParameter& parameter : graph[value].layer->parameters(graph.place(value))) {
    bytes += parameter.table ? 0 : static_cast<double>(sizeof(float)) * static_cast<double>(parameter.count);
  }
  return bytes;
}

}  // namespace

std::vector<double> compute_costs(const Graph& graph) {
  return costs_of_stretches(graph, [&](Value value) { return stage_cost(graph, value); });
}

std::vector<double> inference_costs(const Graph& graph, std::int64_t batch) {
  constexpr double kFromMemory =
      0.5;  // of the parameters: the rest are still in the caches from the last step
  return costs_of_stretches(graph, [&](Value value) {
    return static_cast<double>(batch) * stage_cost(graph, value) +
           kFromMemory * kMacsOfAByte * parameter_bytes(graph, value);
  });
}

std::vector<Value> stage_layers(const Graph& graph, const Stage& stage) {
  std::vector<bool> needed(stage.end + 1, false);
  needed[stage.end] = true;
  std::vector<Value> layers;
  for (Value value = stage.end; value > 0; --value) {
    if (needed[value] && value != stage.begin) {
      layers.push_back(value);
      for (const Value input : graph[value].inputs) {
        needed[input] = true;
      }
    }
  }
  std::ranges::reverse(layers);
  return layers;
}

Graph stage_graph(const Graph& graph, const Stage& stage) {
  Graph made = stage.begin == graph.image() ? graph.input_only() : Graph::reading(graph[stage.begin].shape);
  std::map<Value, Value> places{{stage.begin, made.image()}};
  std::map<Value, Value> owners;  // of shared weights: old to new
  for (const Value value : stage_layers(graph, stage)) {
    Node node = graph[value];
    for (Value& input : node.inputs) {
      input = places.at(input);
    }
    const Value owner = node.shares.value_or(value);
    if (const auto known = owners.find(owner); known != owners.end()) {
      node.shares = known->second;
    } else if (owner != value) {
      node.shares = std::nullopt;
      node.drawn = drawn_as(graph, owner, node);
    }
    const Value added = made.append(std::move(node));
    owners.emplace(owner, added);
    places.emplace(value, added);
  }
  return made;
}

}  // namespace bench::kernels
