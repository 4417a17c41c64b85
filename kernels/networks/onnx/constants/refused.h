// Why a node cannot be imported, until the driver adds the file, the node and its operator.
#pragma once

#include <stdexcept>

namespace bench::kernels::onnx {

class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bench::kernels::onnx
