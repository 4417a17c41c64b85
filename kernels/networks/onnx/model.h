// An ONNX file as it is written: nodes, tensors, attributes. Nothing is interpreted yet.
//
// Names, attributes and the tensors that may hold shapes, indices or constants are copied out of the file;
// large tensors, which are weights, are never read. A model keeps no file open.
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
bool is_float(ElementType type);

// A part of the file, in bytes.
struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// A tensor that the file holds: an initializer or an attribute. No dimension is negative or above 2^40, and
// the tensor has at most 1 TiB.
struct Tensor {
  std::string name;
  ElementType type = ElementType::undefined;  // may be a number that ElementType does not list
  std::vector<std::int64_t> dims;
  // The elements, little-endian, as many as dims say; empty where external.
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> owned;  // what `bytes` points into
  // The elements are not here: they are in another file, which is never opened; or the file has them
  // (`range`), but they take more than 2 MiB (4 where each is a byte), or more than 24 MiB together with all
  // smaller tensors; or they are strings, or of a type that ElementType does not list.
  bool external = false;
  std::optional<FileRange> range;  // where the file has the elements in one piece, little-endian
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
  std::string overload;             // of a local function's name; empty after inlining
  std::vector<std::string> inputs;  // an empty name: an optional input that is not given
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;

  const Attribute* find(const std::string& attribute) const;  // nullptr: not given
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // each after those that make its inputs
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
  std::vector<std::string> weight_inputs;      // initializers that the file lists as inputs without values
  // Hash of nodes, attributes, shapes, and small values: equal for equal networks, whatever the weights, the
  // names of nodes and inner values, and the order of nodes. See reader/hash.cpp.
  std::uint64_t hash = 0;
};

// Reads a file. Throws UsageError, one sentence that names the file: not ONNX, cut short, a cycle, a tensor
// that nothing makes, two of one name, sizes that overflow, a function that calls itself, more than 100,000
// nodes, 250,000 inputs of them or 128 MiB of nodes, names and attributes.
Model read_model(const std::string& path);
// The same of bytes in memory; `name` replaces the file's in messages.
Model parse_model(std::span<const std::byte> bytes, const std::string& name);

}  // namespace bench::kernels::onnx
