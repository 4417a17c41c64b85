#include "kernels/networks/onnx/lower/importing.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"

namespace bench::kernels::onnx {

std::string layer_name(const std::string& parameter) {
  for (const std::string_view ending : {".weight", "/weight", "_weight"}) {
    if (parameter.size() > ending.size() && parameter.ends_with(ending)) {
      return parameter.substr(0, parameter.size() - ending.size());
    }
  }
  return parameter;
}

std::int64_t Importing::opset() const {
  const auto at = model.opsets.find("");
  return at == model.opsets.end() ? 1 : at->second;
}

const Value* Importing::find(const std::string& name) {
  if (const auto known = values.find(name); known != values.end()) {
    return &known->second;
  }
  const Tensor* const initializer = index.initializer(name);
  if (initializer == nullptr) {
    return nullptr;
  }
  const Tensor& tensor = *initializer;
  Value value;
  value.name = name;
  value.type = tensor.type;
  value.shape = shape_of(Extents(tensor.dims.begin(), tensor.dims.end()));
  const std::int64_t elements = value.shape.elements();
  constexpr std::int64_t kSmall = 64;  // floats that are kept
  if (!is_float(tensor.type) || elements <= kSmall) {
    value.constant = constant_of(tensor, budget);
  }
  if (!is_float(tensor.type)) {
    if (value.constant == nullptr) {
      throw Refused(fmt::format("'{}' holds no numbers", name));
    }
    note_unread(name, tensor);
  } else if (elements > 1 || value.constant == nullptr) {
    value.parameter = name;
  }
  return &values.emplace(name, std::move(value)).first->second;
}

std::string without_name(const std::string& why, const std::string& layer) {
  const std::string start = printable(layer, Importing::kLongestName) + ": ";
  return why.starts_with(start) ? why.substr(start.size()) : why;
}

void Importing::assume(const std::string& assumption) {
  constexpr std::size_t kLongest = 400;  // characters
  const std::string sentence = printable(assumption, kLongest);
  if (std::ranges::find(assumptions, sentence) == assumptions.end()) {
    assumptions.push_back(sentence);
  }
}

void Importing::assume_of(const std::string& sentence, const std::string& name) {
  assumed_of_[sentence].insert(name);
}

void Importing::finish_assumptions() {
  constexpr std::size_t kMostTold = 3;
  for (const auto& [sentence, names] : assumed_of_) {
    std::string list;
    const std::size_t told = names.size() > kMostTold + 1 ? kMostTold : names.size();
    std::size_t i = 0;
    for (const std::string& name : names) {
      if (i == told) {
        break;
      }
      ++i;
      list += fmt::format("{}{}", i == 1 ? "" : i == names.size() ? " and " : ", ", quote(name));
    }
    if (told < names.size()) {
      list += fmt::format(" and {} others", names.size() - told);
    }
    assume(fmt::format(fmt::runtime(sentence), list));
  }
  assumed_of_.clear();
}

void Importing::note_unread(const std::string& name, const Tensor& tensor) {
  const std::int64_t elements = elements_of(Extents(tensor.dims.begin(), tensor.dims.end()));
  if (!tensor.external || is_float(tensor.type) || elements == 0) {
    return;
  }
  assume_of(fmt::format("The elements of {{}}, {}, are read as {}.",
                        tensor.range ? "too many to be read" : "which the file keeps outside",
                        tensor.type == ElementType::boolean ? "true" : "0"),
            name);
  guesses.insert_or_assign(name, name);
}

std::optional<Layers::Value> Importing::owner(const std::string& parameter, const std::string& form) const {
  const auto at = owners_.find({parameter, form});
  return at == owners_.end() ? std::nullopt : std::optional(at->second);
}

void Importing::own(const std::string& parameter, const std::string& form, Layers::Value layer) {
  owners_.emplace(std::pair{parameter, form}, layer);
}

void Importing::count(Layers::Value made) {
  constexpr double kMostElements = 1e15;
  constexpr double kMostMacs = 4e18;
  const LayerPlace place = graph.place(made);
  const bench::kernels::Layer& kind = *graph[made].layer;
  const auto elements = static_cast<double>(elements_of(extents_of(place.shape)));
  double parameters = 0;
  for (const LayerParameter& parameter : kind.parameters(place)) {
    parameters += static_cast<double>(parameter.count);
  }
  elements_ += elements + parameters;
  macs_ += static_cast<double>(kind.macs(place));
  if (elements_ > kMostElements || macs_ >= kMostMacs) {
    throw Refused("more elements or multiply-adds than can be counted");
  }
}

// One layer holds a weight, whatever the shapes in which it is read.
Layers::Value Importing::reshaped_weight(const Value& value, const Shape& shape, const Uniform& start) {
  if (value.transposed) {
    const Layers::Value plain = reshaped(parameter(value, {shape[1], shape[0]}, start), {shape[1], shape[0]});
    const std::pair<Layers::Value, std::string> key{plain, "transposed"};
    if (const auto at = reshaped_.find(key); at != reshaped_.end()) {
      return at->second;
    }
    return reshaped_[key] = append(value.name, {plain}, TransposeOptions{.order = {1, 0}});
  }
  return reshaped(parameter(value, shape, start), shape);
}

Layers::Value Importing::parameter(const Value& value, const Shape& shape, const Uniform& start) {
  if (const auto at = parameters_.find(value.parameter); at != parameters_.end()) {
    return at->second;
  }
  if (value.computed) {
    throw Refused("it computes with weights that cannot be computed");
  }
  ParameterOptions options{.shape = shape, .trained = value.trained, .values = {}, .start = start};
  if (value.constant != nullptr && !value.transposed) {
    for (std::int64_t i = 0; i < value.constant->elements(); ++i) {
      options.values.push_back(static_cast<float>(value.constant->value(i)));
    }
  }
  const Layers::Value made = append(layer_name(value.parameter), {}, options);
  if (const auto table = owner(value.parameter, "table"); table && options.values.empty()) {
    graph.edit(made).shares = table;
  } else {
    own(value.parameter, "table", made);
  }
  sources.push_back({.initializer = value.parameter, .layer = made, .slot = Slot::weights});
  return parameters_[value.parameter] = made;
}

Layers::Value Importing::materialised(const Value& value, const Uniform& start) {
  if (value.sequence != nullptr) {
    throw Refused("a sequence where a value is needed");
  }
  // One sample's elements, which do not depend on the batch.
  Shape one;
  for (std::size_t d = 0; d < value.shape.rank(); ++d) {
    one.append(value.shape[d].size);
  }
  if (one.elements() == 0) {
    throw Refused("a value without elements");
  }
  if (value.is_weight()) {
    return reshaped_weight(value, one, start);
  }
  const std::pair<const Constant*, std::string> key{value.constant.get(), one.text()};
  if (const auto at = constants_.find(key); at != constants_.end()) {
    return at->second;
  }
  const Constant& constant = *value.constant;
  if (constant.counts_samples()) {
    throw Refused("it computes with the number of each sample");
  }
  if (std::ranges::any_of(constant.per_batch, [](double each) { return each != 0; })) {
    throw Refused("it computes with how many samples there are");
  }
  budget.take(constant.elements());
  ParameterOptions options{.shape = one, .trained = false, .values = {}};
  for (std::int64_t i = 0; i < constant.elements(); ++i) {
    options.values.push_back(static_cast<float>(constant.value(i)));
  }
  kept_.push_back(value.constant);
  return constants_[key] = append(value.name, {}, options);
}

void Importing::require_numbers(const Value& value) const {
  if (is_tokens(value)) {
    throw Refused("it computes with token ids, which can only be looked up in a table");
  }
}

void Importing::draw_tokens(const Tokens& tokens) {
  std::int64_t left = tokens.vocabulary - (tokens.largest_is_last ? 1 : 0);
  for (const std::int64_t id : tokens.absent) {
    left -= id >= 0 && id < tokens.vocabulary ? 1 : 0;
  }
  if (left < 1) {
    throw Refused("it leaves no token id that a text could have");
  }
  graph.set_tokens(tokens);
}

Layers::Value Importing::elements(const Value& value, const Uniform& start) {
  if (value.layer) {
    require_numbers(value);
    return *value.layer;
  }
  return value.has_batch() ? layer(value, start) : materialised(value, start);
}

Layers::Value Importing::layer(const Value& value, const Uniform& start, bool repeated) {
  if (value.layer) {
    require_numbers(value);
    return reshaped(*value.layer, value.shape);
  }
  const Layers::Value one = materialised(value, start);
  const auto batch = value.shape.batch_dimension();
  return !batch || (!repeated && value.shape[*batch].size == 1) ? one : this->repeated(one, value.shape);
}

// Repeats the value along a new dimension, and merges that with the batch's.
Layers::Value Importing::repeated(Layers::Value from, const Shape& shape) {
  const auto batch = shape.batch_dimension();
  if (!batch || graph[from].shape.batch_dimension()) {
    return reshaped(from, shape);
  }
  Shape inserted;
  Shape expanded;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (d == *batch) {
      inserted.append(1);
      expanded.append(kBatch);
    }
    if (d != *batch || shape[d].size != 1) {
      inserted.append(shape[d].size);
      expanded.append(shape[d].size);
    }
  }
  const std::string name = graph[from].name + " for each sample";
  return reshaped(append(name, {reshaped(from, inserted)}, ExpandOptions{.shape = expanded}), shape);
}

Layers::Value Importing::reshaped(Layers::Value from, const Shape& shape) {
  if (graph[from].shape == shape) {
    return from;
  }
  const std::pair<Layers::Value, std::string> key{from, shape.text()};
  if (const auto at = reshaped_.find(key); at != reshaped_.end()) {
    return at->second;
  }
  const Shape& in = graph[from].shape;
  const bool flat = in.is_maps() && shape.rank() == 2 && shape[0] == in[0] && shape.is_fixed_from(1) &&
                    in.height() * in.width() == 1;
  // Copied: the graph grows.
  const std::string name = graph[from].name + " reshaped";
  const Layers::Value made =
      flat ? append(name, {from}, FlattenOptions{}) : append(name, {from}, ReshapeOptions{.shape = shape});
  return reshaped_[key] = made;
}

Layers::Value Importing::rows(const Value& value, bool any_order) {
  const Shape& shape = value.shape;
  if (shape.rank() == 0 || shape[shape.rank() - 1].per_sample) {
    throw Refused(fmt::format("it needs rows of features, not {}", shape.text()));
  }
  const Extent& last = shape[shape.rank() - 1];
  const Layers::Value from = elements(value);
  const Shape& stored = graph[from].shape;
  if (stored.is_rows() && !stored.is_flat() && stored[stored.rank() - 1] == last) {
    return from;
  }
  if (any_order && shape.rank() == 2 && stored.is_maps() && stored[0] == shape[0]) {
    return append(graph[from].name + " flattened", {from}, FlattenOptions{});
  }
  if (shape.rank() <= 3) {
    return reshaped(from, shape);
  }
  const Extents dims = extents_of(shape);
  Shape rows;
  rows.append(shape[0]);
  Extent rest = 1;
  for (std::size_t d = 1; d + 1 < dims.size(); ++d) {
    rest = {rest.size * dims[d].size, rest.per_sample || dims[d].per_sample};
  }
  rows.append(rest);
  rows.append(last);
  return reshaped(from, rows);
}

}  // namespace bench::kernels::onnx
