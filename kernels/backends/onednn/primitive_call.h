// One oneDNN primitive among several that make up an operation: its arguments are given at each run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "kernels/backends/onednn/onednn.h"

namespace bench::kernels::onednn {

class PrimitiveCall {
 public:
  struct Argument {
    int argument = 0;  // DNNL_ARG_SRC, …
    dnnl::memory::desc stored;
  };

  PrimitiveCall() = default;
  PrimitiveCall(const dnnl::primitive_desc& descriptor, std::vector<Argument> arguments);

  std::int64_t scratch_bytes() const { return static_cast<std::int64_t>(scratch_.get_size()); }
  void prepare();
  // `data`: where each argument lies, in the constructor's order; after them scratch_bytes() of scratch.
  void run(std::initializer_list<void*> data);

  std::string algorithm() const { return descriptor_.impl_info_str(); }

 private:
  dnnl::primitive_desc descriptor_;
  std::vector<Argument> arguments_;
  dnnl::memory::desc scratch_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> prepared_;
};

// c = a b for matrices, or for several of them side by side in memory with any strides.
PrimitiveCall product(const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& c);

// Over the last of two dimensions; dst may be narrower than src, or src itself where they are alike.
PrimitiveCall row_softmax(const dnnl::memory::desc& src, const dnnl::memory::desc& dst);

}  // namespace bench::kernels::onednn
