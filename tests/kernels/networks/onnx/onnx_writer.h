// Small ONNX files, written by the tests that read them.
//
//   OnnxWriter net;
//   net.input("x", {1, 3, 8, 8});
//   net.weight("w", {4, 3, 3, 3});  // external: without values
//   net.integers("shape", {2}, {1, -1});
//   net.node("Conv", {"x", "w"}, {"y"}, {written::ints("pads", {1, 1, 1, 1})});
//   net.output("y");
//   const Model model = net.parse();  // or read_model(net.save(folder / "net.onnx"))
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// Parts of the wire format, as bytes.
namespace written {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) {
    bytes += static_cast<char>(value | 0x80U);
  }
  return bytes + static_cast<char>(value);
}

inline std::string tag(std::uint32_t field, unsigned type) {
  return varint(std::uint64_t{field} << 3U | type);
}

inline std::string integer(std::uint32_t field, std::int64_t value) {
  return tag(field, 0) + varint(static_cast<std::uint64_t>(value));
}

// A text or a message.
inline std::string bytes(std::uint32_t field, std::string_view content) {
  return tag(field, 2) + varint(content.size()) + std::string(content);
}

// Little-endian, as in raw_data and packed fields.
template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string real(std::uint32_t field, float value) {
  return tag(field, 5) + raw(std::vector<float>{value});
}

inline std::string texts(std::uint32_t field, const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) {
    all += bytes(field, value);
  }
  return all;
}

inline std::string packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
  std::string all;
  for (const std::int64_t value : values) {
    all += varint(static_cast<std::uint64_t>(value));
  }
  return bytes(field, all);
}

// TensorProto, up to the field that has its elements.
inline std::string tensor(std::string_view name, const std::vector<std::int64_t>& dims, ElementType type) {
  return packed(1, dims) + integer(2, static_cast<std::int64_t>(type)) + bytes(8, name);
}

inline std::string external_tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                                   ElementType type = ElementType::f32) {
  return tensor(name, dims, type) + bytes(13, bytes(1, "location") + bytes(2, "zeros.bin")) + integer(14, 1);
}

template <class T>
std::string raw_tensor(std::string_view name, const std::vector<std::int64_t>& dims, ElementType type,
                       const std::vector<T>& values) {
  return tensor(name, dims, type) + bytes(9, raw(values));
}

// AttributeProto, each of one type.
inline std::string attribute(std::string_view name, std::int64_t type, const std::string& content) {
  return bytes(1, name) + content + integer(20, type);
}
inline std::string f(std::string_view name, float value) {
  return attribute(name, 1, real(2, value));
}
inline std::string i(std::string_view name, std::int64_t value) {
  return attribute(name, 2, integer(3, value));
}
inline std::string s(std::string_view name, std::string_view value) {
  return attribute(name, 3, bytes(4, value));
}
inline std::string t(std::string_view name, const std::string& tensor) {
  return attribute(name, 4, bytes(5, tensor));
}
inline std::string g(std::string_view name, const std::string& graph) {
  return attribute(name, 5, bytes(6, graph));
}
inline std::string floats(std::string_view name, const std::vector<float>& values) {
  return attribute(name, 6, bytes(7, raw(values)));
}
inline std::string ints(std::string_view name, const std::vector<std::int64_t>& values) {
  return attribute(name, 7, packed(8, values));
}
// Inside a function: the caller's attribute `source`.
inline std::string reference(std::string_view name, std::string_view source, std::int64_t type) {
  return attribute(name, type, bytes(21, source));
}

struct NodeNames {
  std::string name;
  std::string domain;
};

// NodeProto.
inline std::string node(std::string_view op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<std::string>& attributes = {}, const NodeNames& names = {}) {
  return texts(1, inputs) + texts(2, outputs) + bytes(3, names.name) + bytes(4, op) + texts(5, attributes) +
         bytes(7, names.domain);
}

// ValueInfoProto; a dimension below 0 is free, named "n0" and so on.
inline std::string value(std::string_view name, const std::vector<std::int64_t>& dims,
                         ElementType type = ElementType::f32) {
  std::string shape;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    shape += bytes(1, dims[axis] < 0 ? bytes(2, "n" + std::to_string(axis)) : integer(1, dims[axis]));
  }
  return bytes(1, name) + bytes(2, bytes(1, integer(1, static_cast<std::int64_t>(type)) + bytes(2, shape)));
}

// OperatorSetIdProto.
inline std::string opset(std::string_view domain, std::int64_t version) {
  return bytes(1, domain) + integer(2, version);
}

// FunctionProto.
inline std::string function(std::string_view domain, std::string_view name,
                            const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                            const std::vector<std::string>& nodes,
                            const std::vector<std::string>& defaults = {}) {
  return bytes(1, name) + texts(4, inputs) + texts(5, outputs) + texts(7, nodes) + texts(11, defaults) +
         bytes(10, domain);
}

}  // namespace written

// A file that grows part by part. bytes() may be asked for at any time.
class OnnxWriter {
 public:
  void input(std::string_view name, const std::vector<std::int64_t>& dims,
             ElementType type = ElementType::f32) {
    graph_ += written::bytes(11, written::value(name, dims, type));
  }
  void output(std::string_view name, const std::vector<std::int64_t>& dims = {}) {
    graph_ += written::bytes(12, dims.empty() ? written::bytes(1, name) : written::value(name, dims));
  }
  // An initializer whose values are in another file, as those of a network without weights are.
  void weight(std::string_view name, const std::vector<std::int64_t>& dims,
              ElementType type = ElementType::f32) {
    initializer(written::external_tensor(name, dims, type));
  }
  void integers(std::string_view name, const std::vector<std::int64_t>& dims,
                const std::vector<std::int64_t>& values) {
    initializer(written::raw_tensor(name, dims, ElementType::i64, values));
  }
  void floats(std::string_view name, const std::vector<std::int64_t>& dims,
              const std::vector<float>& values) {
    initializer(written::raw_tensor(name, dims, ElementType::f32, values));
  }
  void initializer(std::string_view tensor) { graph_ += written::bytes(5, tensor); }
  // Attributes are written::ints("pads", {1, 1, 1, 1}) and its like. Without a name it takes its first
  // output's.
  void node(std::string_view op, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {},
            written::NodeNames names = {}) {
    if (names.name.empty() && !outputs.empty()) {
      names.name = outputs.front();
    }
    graph_ += written::bytes(1, written::node(op, inputs, outputs, attributes, names));
  }
  // A part of GraphProto or ModelProto that has no function here.
  void add_to_graph(std::string_view bytes) { graph_ += bytes; }
  void add_to_model(std::string_view bytes) { model_ += bytes; }
  void function(std::string_view function) { add_to_model(written::bytes(25, function)); }
  void opset(std::int64_t version) { opset_ = version; }

  std::string graph() const { return graph_; }
  std::string bytes() const {
    return written::integer(1, 8) + written::bytes(2, "test") + written::bytes(7, graph_) +
           written::bytes(8, written::opset("", opset_)) + model_;
  }
  Model parse() const {
    const std::string content = bytes();
    return parse_model(std::as_bytes(std::span(content)), "net.onnx");
  }
  std::string save(const std::string& path) const {
    std::ofstream(path, std::ios::binary) << bytes();
    return path;
  }

 private:
  std::string graph_;
  std::string model_;
  std::int64_t opset_ = 17;
};

}  // namespace bench::kernels::onnx
