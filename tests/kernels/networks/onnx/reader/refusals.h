// What the reader's tests share: the sentence by which a file is refused, and messages for it.
#pragma once

#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "bench/error.h"
#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

inline Model parsed(const std::string& bytes) {
  return parse_model(std::as_bytes(std::span(bytes)), "net.onnx");
}

// Empty where the bytes are a network. Any other exception ends the test.
inline std::string refusal_of(const std::string& bytes) {
  try {
    parsed(bytes);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

inline std::string file_refusal(const std::string& path) {
  try {
    read_model(path);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

inline std::string data_path(const std::string& name) {
  return BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data/" + name;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace bench::kernels::onnx
