// What every oneDNN implementation shares: the CPU engine and stream, descriptors and error translation.
#pragma once

#include <string>

#include <oneapi/dnnl/dnnl.hpp>

#include "bench/device.h"
#include "kernels/activation.h"
#include "kernels/tensor.h"

namespace bench::kernels::onednn {

// One for the whole process; oneDNN's CPU stream runs each primitive to its end before it returns.
const dnnl::engine& engine();
const dnnl::stream& stream();
void synchronize();

std::string version();  // of the library loaded, "2.6.3"

dnnl::memory::data_type type_of(Dtype dtype);

// An activation as 4-D memory, dimensions in the order n, c, h, w.
dnnl::memory::desc describe(const TensorDesc& tensor);
// A matrix (h = w = 1, not nchw16c) as 2-D memory of rows × columns.
dnnl::memory::desc describe_matrix(const TensorDesc& tensor);
// `count` fp32 values in a row.
dnnl::memory::desc describe_vector(std::int64_t count);

dnnl::algorithm algorithm_of(Activation activation);  // any but none
float alpha_of(Activation activation);                // the algorithm's parameter
void append(dnnl::post_ops& post_ops, Activation activation);

// Attributes of every primitive here: scratch memory is given by the caller, post-ops run before storing.
dnnl::primitive_attr attributes(const dnnl::post_ops& post_ops = {});

// Throws what oneDNN's status means: Unsupported, OutOfMemory or runtime_error. `what` names the operation.
[[noreturn]] void rethrow(const dnnl::error& error, const std::string& what);

// Runs `make`, turning oneDNN's exceptions into ours.
template <class Make>
auto translated(const std::string& what, Make make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    rethrow(error, what);
  }
}

}  // namespace bench::kernels::onednn
