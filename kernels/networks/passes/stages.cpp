#include "kernels/networks/passes/stages.h"

#include <algorithm>
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

// Stages that none costs more than `limit`, each as long as that allows; nullopt: more than `stages` would be
// needed.
std::optional<std::vector<std::size_t>> within(const std::vector<double>& costs, std::size_t stages,
                                               double limit) {
  std::vector<std::size_t> ends;
  double sum = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] > limit) {
      return std::nullopt;
    }
    const std::size_t left = costs.size() - i;         // stretches, this one among them
    const std::size_t missing = stages - ends.size();  // stages, the open one among them
    const bool begun = i > (ends.empty() ? 0 : ends.back() + 1);
    if (begun && missing > 1 && (sum + costs[i] > limit || left == missing - 1)) {
      ends.push_back(i - 1);
      sum = 0;
    } else if (sum + costs[i] > limit) {
      return std::nullopt;
    }
    sum += costs[i];
  }
  ends.push_back(costs.size() - 1);
  return ends;
}

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
std::vector<std::size_t> balanced(const std::vector<double>& costs, std::size_t stages) {
  if (stages == 0 || costs.size() < stages) {
    throw std::invalid_argument("more stages than stretches");
  }
  double most = std::accumulate(costs.begin(), costs.end(), 0.0);
  double least = 0;
  std::vector<std::size_t> best = within(costs, stages, 2 * most + 1).value();
  for (int step = 0; step < 64; ++step) {
    const double middle = least + (most - least) / 2;
    if (auto ends = within(costs, stages, middle)) {
      best = *std::move(ends);
      most = middle;
    } else {
      least = middle;
    }
  }
  return best;
}

std::vector<Stage> cut_into_stages(const Graph& graph, std::size_t stages) {
  std::vector<Value> ends = cut_places(graph);
  ends.push_back(graph.output());
  const std::vector<bool> needed = needed_values(graph);
  const std::vector<bool> moving = moving_values(graph);
  std::vector<double> costs(ends.size(), 0);
  std::size_t stretch = 0;
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    stretch += value > ends[stretch] ? 1 : 0;
    costs[stretch] += needed[value] && moving[value] ? stage_cost(graph, value) : 0;
  }
  std::vector<Stage> cut;
  std::size_t first = 0;
  for (const std::size_t last : balanced(costs, stages)) {
    const auto at = [&](std::size_t place) { return costs.begin() + static_cast<std::ptrdiff_t>(place); };
    cut.push_back({.begin = cut.empty() ? graph.image() : cut.back().end,
                   .end = ends[last],
                   .cost = std::accumulate(at(first), at(last + 1), 0.0)});
    first = last + 1;
  }
  return cut;
}

Graph stage_graph(const Graph& graph, const Stage& stage) {
  std::vector<bool> needed(stage.end + 1, false);
  needed[stage.end] = true;
  for (Value value = stage.end; value > 0; --value) {
    if (needed[value] && value != stage.begin) {
      for (const Value input : graph[value].inputs) {
        needed[input] = true;
      }
    }
  }
  Graph made = stage.begin == graph.image() ? graph.input_only() : Graph::reading(graph[stage.begin].shape);
  std::map<Value, Value> places{{stage.begin, made.image()}};
  std::map<Value, Value> owners;  // of shared weights: old to new
  for (Value value = 1; value <= stage.end; ++value) {
    if (!needed[value] || value == stage.begin) {
      continue;
    }
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
