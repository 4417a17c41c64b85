// An ONNX file as it is written: nodes, tensors, attributes. Nothing is interpreted yet.
//
// Strings and small arrays are copied out of the file; a tensor's bytes stay in the mapped file, which the
// Model holds open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::kernels::onnx {

// TensorProto.DataType; the numbers are the format's.
enum class ElementType : std::int32_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
};

// A tensor that the file holds: an initializer or an attribute.
struct Tensor {
  std::string name;
  ElementType type = ElementType::undefined;
  std::vector<std::int64_t> dims;
  // The elements, little-endian, as many as dims say, in the file or in `owned`; empty where external.
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> owned;  // of elements that the file holds one by one
  bool external = false;                                // in another file, which is never opened
};

struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;  // "batch", where the file names a free dimension
};

// Type and shape of an input, an output or an inner value, as the file declares them.
struct ValueInfo {
  std::string name;
  ElementType type = ElementType::undefined;
  std::optional<std::vector<Dimension>> dims;  // nullopt: a value of any rank
};

struct Graph;

struct Attribute {
  std::string name;
  std::string reference;  // inside a function: the name of the caller's attribute that is meant
  std::optional<float> f;
  std::optional<std::int64_t> i;
  std::optional<std::string> s;
  std::optional<Tensor> tensor;
  std::shared_ptr<const Graph> graph;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
};

struct Node {
  std::string name;
  std::string op;                   // "Conv"
  std::string domain;               // empty: ONNX's own ("ai.onnx" is read as empty)
  std::vector<std::string> inputs;  // an empty name: an optional input that is not given
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;

  const Attribute* find(const std::string& attribute) const;  // nullptr: not given
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // each behind those that make its inputs
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;  // without the initializers that old files list here too
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  // inner ones, where the file declares them
};

struct Model {
  std::int64_t ir_version = 0;
  std::string producer;                        // "pytorch 2.1"
  std::map<std::string, std::int64_t> opsets;  // domain → version; ONNX's own has the empty name
  Graph graph;                                 // local functions are inlined
  // Hash of nodes, attributes, shapes, and small values: equal for equal networks, whatever the weights.
  std::uint64_t hash = 0;
  std::shared_ptr<const void> file;  // the mapping that tensors point into
};

// Reads a file. Throws UsageError, one sentence that names the file: not ONNX, cut short, a cycle, a tensor
// that nothing makes, sizes that overflow, a node that lists too much.
Model read_model(const std::string& path);
// The same of bytes in memory, which must outlive the model; `name` stands for the file in messages.
Model parse_model(std::span<const std::byte> bytes, const std::string& name);

}  // namespace bench::kernels::onnx
