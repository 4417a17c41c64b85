// The hash counts the operators' versions; the inputs' names, types and dimensions; each node's operator,
// attributes and what made its inputs; the initializers' types and dimensions, and the values of those that
// are no weights: integers and booleans of at most 64 elements, and floats without dimensions. In attributes,
// and as the factors of a Resize, floats of at most 64 elements count too.
//
// It does not count other values, names (of nodes, inner values, initializers, free dimensions), the order of
// nodes and initializers, what wrote the file, and where the values are.
#include "kernels/networks/onnx/reader/hash.h"

#include <bit>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "bench/text/fingerprint.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::size_t kMostElements = 64;

// Over numbers and texts.
class Hash {
 public:
  Hash& add(std::uint64_t number) {
    hash_.add_bytes_of(number);
    return *this;
  }
  Hash& add(std::string_view text) {
    add(text.size());
    hash_.add(text);
    return *this;
  }
  Hash& add(std::span<const std::byte> bytes) {
    return add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // Sums of these do not depend on the order. FNV's own value changes too little with the last byte for that.
  std::uint64_t value() const {
    std::uint64_t bits = hash_.value();  // the finalizer of SplitMix64
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31U);
  }

 private:
  Fnv1a hash_;
};

std::uint64_t element_count(const Tensor& tensor) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : tensor.dims) {
    count *= static_cast<std::uint64_t>(dim);
  }
  return count;
}

std::uint64_t hash_of(const Tensor& tensor, bool counts_floats) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(tensor.type)).add(tensor.dims.size());
  for (const std::int64_t dim : tensor.dims) {
    hash.add(static_cast<std::uint64_t>(dim));
  }
  const bool counts = counts_floats || !is_float(tensor.type) || tensor.dims.empty();
  if (counts && !tensor.external && element_count(tensor) <= kMostElements) {
    hash.add(tensor.bytes);
  }
  return hash.value();
}

std::uint64_t hash_of(const ValueInfo& input, std::size_t index) {
  Hash hash;
  hash.add(index).add(input.name).add(static_cast<std::uint64_t>(input.type));
  hash.add(input.dims ? input.dims->size() + 1 : 0);
  for (const Dimension& dim : input.dims.value_or(std::vector<Dimension>{})) {
    hash.add(static_cast<std::uint64_t>(dim.size.value_or(-1)));
  }
  return hash.value();
}

// Hashes of values by their names; a graph in an attribute sees those around it.
class Values {
 public:
  explicit Values(const Values* outer) : outer_(outer) {}
  void add(std::string_view name, std::uint64_t hash) { hashes_.emplace(name, hash); }
  std::uint64_t at(std::string_view name) const {
    for (const Values* values = this; values != nullptr; values = values->outer_) {
      const auto found = values->hashes_.find(name);
      if (found != values->hashes_.end()) {
        return found->second;
      }
    }
    return 0;  // an optional input that is not given
  }

 private:
  const Values* outer_;
  std::unordered_map<std::string_view, std::uint64_t> hashes_;
};

std::uint64_t hash_of(const Graph& graph, const Values* outer);

std::uint64_t hash_of(const Attribute& attribute, const Values& values) {
  Hash hash;
  hash.add(attribute.name);
  hash.add(attribute.f ? std::bit_cast<std::uint32_t>(*attribute.f) + std::uint64_t{1} : 0);
  hash.add(attribute.i ? 1 : 0).add(static_cast<std::uint64_t>(attribute.i.value_or(0)));
  hash.add(attribute.s ? 1 : 0).add(attribute.s.value_or(""));
  hash.add(attribute.tensor ? hash_of(*attribute.tensor, true) : 0);
  hash.add(attribute.graph ? hash_of(*attribute.graph, &values) : 0);
  hash.add(std::as_bytes(std::span(attribute.floats))).add(std::as_bytes(std::span(attribute.ints)));
  for (const std::string& text : attribute.strings) {
    hash.add(text);
  }
  return hash.value();
}

std::uint64_t hash_of(const Node& node, const Values& values) {
  Hash hash;
  hash.add(node.op).add(node.domain);
  std::uint64_t attributes = 0;
  for (const Attribute& attribute : node.attributes) {
    attributes += hash_of(attribute, values);
  }
  hash.add(attributes);
  std::size_t given = node.inputs.size();
  while (given > 0 && node.inputs[given - 1].empty()) {
    --given;
  }
  for (std::size_t i = 0; i < given; ++i) {
    hash.add(values.at(node.inputs[i]));
  }
  return hash.value();
}

// Floats that are sizes: by which a Resize multiplies.
std::unordered_set<std::string_view> resize_factors(const Graph& graph) {
  std::unordered_set<std::string_view> names;
  for (const Node& node : graph.nodes) {
    if (node.op == "Resize" || node.op == "Upsample") {
      names.insert(node.inputs.begin() + (node.inputs.empty() ? 0 : 1), node.inputs.end());
    }
  }
  return names;
}

std::uint64_t hash_of(const Graph& graph, const Values* outer) {
  const std::unordered_set<std::string_view> factors = resize_factors(graph);
  Values values(outer);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::uint64_t hash = hash_of(graph.inputs[i], i);
    values.add(graph.inputs[i].name, hash);
    sum += hash;
  }
  for (const Tensor& tensor : graph.initializers) {
    const std::uint64_t hash = hash_of(tensor, factors.contains(tensor.name));
    values.add(tensor.name, hash);
    sum += hash;
  }
  for (const Node& node : graph.nodes) {
    const std::uint64_t hash = hash_of(node, values);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      values.add(node.outputs[i], Hash().add(hash).add(i).value());
    }
    sum += hash;
  }
  Hash hash;
  hash.add(sum);
  for (const ValueInfo& output : graph.outputs) {
    hash.add(values.at(output.name));
  }
  return hash.value();
}

}  // namespace

std::uint64_t graph_hash(const Model& model) {
  Hash hash;
  hash.add(hash_of(model.graph, nullptr));
  for (const auto& [domain, version] : model.opsets) {
    hash.add(domain).add(static_cast<std::uint64_t>(version));
  }
  return hash.value();
}

}  // namespace bench::kernels::onnx
