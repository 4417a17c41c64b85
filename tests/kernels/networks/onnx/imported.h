// A network written in a test, imported.
#pragma once

#include <string>

#include "bench/error.h"
#include "kernels/networks/onnx/import.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {

inline ImportedNetwork imported(const OnnxWriter& net, const ImportOptions& options = {}) {
  return import_model(net.parse(), "net.onnx", options);
}

inline std::string import_refusal(const OnnxWriter& net, const ImportOptions& options = {}) {
  try {
    imported(net, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "imported";
}

inline const Shape& output_shape(const ImportedNetwork& network) {
  return network.graph[network.graph.output()].shape;
}

}  // namespace bench::kernels::onnx
