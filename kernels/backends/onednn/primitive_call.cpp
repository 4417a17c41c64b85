#include "kernels/backends/onednn/primitive_call.h"

namespace bench::kernels::onednn {

PrimitiveCall::PrimitiveCall(const dnnl::primitive_desc& descriptor, std::vector<Argument> arguments)
    : descriptor_(descriptor), arguments_(std::move(arguments)), scratch_(descriptor.scratchpad_desc()) {}

void PrimitiveCall::prepare() {
  if (!memories_.empty()) {
    return;
  }
  primitive_ = dnnl::primitive(descriptor_);
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratch_});
  for (const Argument& argument : arguments_) {
    memories_.emplace_back(argument.stored, engine(), static_cast<void*>(DNNL_MEMORY_NONE));
    prepared_.push_back({argument.argument, memories_.back().get()});
  }
}

void PrimitiveCall::run(std::initializer_list<void*> data) {
  std::size_t index = 0;
  for (void* const at : data) {
    memories_.at(index++).set_data_handle(at);
  }
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream().get(),
                                                 static_cast<int>(prepared_.size()), prepared_.data()),
                          "could not execute a primitive");
}

PrimitiveCall product(const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& c) {
  return {matmul(a, b, std::nullopt, c, attributes()),
          {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}};
}

PrimitiveCall row_softmax(const dnnl::memory::desc& src, const dnnl::memory::desc& dst) {
  constexpr int kColumns = 1;
  return {softmax_forward(dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, src, dst,
                          kColumns, attributes()),
          {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}}};
}

}  // namespace bench::kernels::onednn
