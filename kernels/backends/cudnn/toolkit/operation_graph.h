// cuDNN's backend API: its descriptors, and an operation graph of them while it is put together, with the
// tensors that its runs need.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/text/fingerprint.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/toolkit/dynload.h"

namespace bench::kernels::cudnn {

inline const cuda::dynload::Cudnn& api() {
  return cuda::dynload::cudnn();
}

// A call that cuDNN refused: "cudnnBackendFinalize: CUDNN_STATUS_NOT_SUPPORTED: no engine fits".
class CudnnError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(cudnnStatus_t status, std::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) {
    return;
  }
  constexpr std::size_t kLongest = 1024;
  std::array<char, kLongest> text{};
  api().cudnnGetLastErrorString(text.data(), text.size());
  const std::string_view reason(text.data());
  throw CudnnError(fmt::format("{}: {}{}{}", call, api().cudnnGetErrorString(status),
                               reason.empty() ? "" : ": ", reason.substr(0, reason.find('\n'))));
}

// The API's name of a value's type.
struct TypeName {
  static constexpr auto of(const std::int64_t*) { return CUDNN_TYPE_INT64; }
  static constexpr auto of(const float*) { return CUDNN_TYPE_FLOAT; }
  static constexpr auto of(const double*) { return CUDNN_TYPE_DOUBLE; }
  static constexpr auto of(const bool*) { return CUDNN_TYPE_BOOLEAN; }
  static constexpr auto of(const char*) { return CUDNN_TYPE_CHAR; }
  static constexpr auto of(const cudnnHandle_t*) { return CUDNN_TYPE_HANDLE; }
  static constexpr auto of(const cudnnDataType_t*) { return CUDNN_TYPE_DATA_TYPE; }
  static constexpr auto of(const cudnnConvolutionMode_t*) { return CUDNN_TYPE_CONVOLUTION_MODE; }
  static constexpr auto of(const cudnnPointwiseMode_t*) { return CUDNN_TYPE_POINTWISE_MODE; }
  static constexpr auto of(const cudnnReduceTensorOp_t*) { return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE; }
  static constexpr auto of(const cudnnNanPropagation_t*) { return CUDNN_TYPE_NAN_PROPOGATION; }
  static constexpr auto of(const cudnnBackendHeurMode_t*) { return CUDNN_TYPE_HEUR_MODE; }
  static constexpr auto of(const cudnnBackendKnobType_t*) { return CUDNN_TYPE_KNOB_TYPE; }
  static constexpr auto of(const cudnnBackendNumericalNote_t*) { return CUDNN_TYPE_NUMERICAL_NOTE; }
  static constexpr auto of(const cudnnBackendBehaviorNote_t*) { return CUDNN_TYPE_BEHAVIOR_NOTE; }
  static constexpr auto of(void* const*) { return CUDNN_TYPE_VOID_PTR; }
};

using Attribute = cudnnBackendAttributeName_t;

// One descriptor of cuDNN's, with one owner: created, given attributes and finalized.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    require(api().cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)), content_(std::move(other.content_)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(content_, other.content_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ != nullptr) {
      api().cudnnBackendDestroyDescriptor(descriptor_);
    }
  }

  cudnnBackendDescriptor_t get() const { return descriptor_; }
  // A fingerprint of all that was set: numbers, and the content of other descriptors.
  const std::string& content() const { return content_; }

  template <class Value>
  void set_all(Attribute name, std::span<const Value> values) {
    set_raw(name, TypeName::of(values.data()), static_cast<std::int64_t>(values.size()), values.data());
    if constexpr (!std::is_pointer_v<Value>) {  // the same content has another address in the next process
      describe(name, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    }
  }
  template <class Value>
  void set(Attribute name, const Value& value) {
    set_all(name, std::span<const Value>(&value, 1));
  }
  void set(Attribute name, const Descriptor& other) {
    set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
    describe(name, other.content_);
  }
  void set(Attribute name, const std::vector<Descriptor>& others) {
    const std::vector<cudnnBackendDescriptor_t> all = descriptors_of(others);
    set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(all.size()), all.data());
    for (const Descriptor& other : others) {
      describe(name, other.content_);
    }
  }
  void finalize() { require(api().cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize"); }

  template <class Value>
  Value value(Attribute name) const {
    Value value{};
    get_raw(name, TypeName::of(&value), 1, nullptr, &value);
    return value;
  }
  // At most `most` values.
  template <class Value>
  std::vector<Value> values(Attribute name, std::int64_t most) const {
    std::vector<Value> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    get_raw(name, TypeName::of(values.data()), most, &count, values.data());
    values.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, most)));
    return values;
  }
  Descriptor descriptor(Attribute name, cudnnBackendDescriptorType_t type) const {
    return std::move(descriptors(name, type, 1).at(0));
  }
  // At most `most`: the API fills descriptors that have been created.
  std::vector<Descriptor> descriptors(Attribute name, cudnnBackendDescriptorType_t type,
                                      std::int64_t most) const {
    std::vector<Descriptor> found;
    for (std::int64_t i = 0; i < most; ++i) {
      found.emplace_back(type);
    }
    std::vector<cudnnBackendDescriptor_t> all = descriptors_of(found);
    std::int64_t count = 0;
    get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, all.data());
    found.erase(found.begin() + std::clamp<std::int64_t>(count, 0, most), found.end());
    return found;
  }
  std::int64_t count(Attribute name, cudnnBackendAttributeType_t type = CUDNN_TYPE_BACKEND_DESCRIPTOR) const {
    std::int64_t count = 0;
    get_raw(name, type, 0, &count, nullptr);
    return count;
  }
  std::string text(Attribute name) const {
    const std::vector<char> characters = values<char>(name, count(name, CUDNN_TYPE_CHAR));
    return {characters.begin(), characters.end()};
  }

 private:
  void describe(Attribute name, std::string_view value) {
    content_ = fingerprint(fmt::format("{} {} {}", content_, static_cast<int>(name), value));
  }
  static std::vector<cudnnBackendDescriptor_t> descriptors_of(const std::vector<Descriptor>& all) {
    std::vector<cudnnBackendDescriptor_t> descriptors;
    std::ranges::transform(all, std::back_inserter(descriptors), &Descriptor::get);
    return descriptors;
  }
  void set_raw(Attribute name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
    require(api().cudnnBackendSetAttribute(descriptor_, name, type, count, values),
            "cudnnBackendSetAttribute");
  }
  void get_raw(Attribute name, cudnnBackendAttributeType_t type, std::int64_t most, std::int64_t* count,
               void* values) const {
    require(api().cudnnBackendGetAttribute(descriptor_, name, type, most, count, values),
            "cudnnBackendGetAttribute");
  }

  cudnnBackendDescriptor_t descriptor_ = nullptr;
  std::string content_;
};

inline constexpr auto kSum = CUDNN_DATA_FLOAT;  // whatever the tensors hold

cudnnDataType_t type_of(Dtype dtype);

// Owns the descriptors that the graph's own refers to.
class OperationGraph {
 public:
  // A tensor in memory.
  const Descriptor& stored(TensorId id, const Tensor& tensor, cudnnDataType_t type);
  // One between two operations, which is never in memory.
  const Descriptor& between(const Tensor& tensor, cudnnDataType_t type);
  // A number that runs hand over by value.
  const Descriptor& constant(float value);

  void add(Descriptor operation);
  // to = mode(x), or mode(x, other); with `condition` other where that is false.
  void add_pointwise(const Descriptor& mode, const Descriptor& x, const Descriptor* other,
                     const Descriptor& to, const Descriptor* condition = nullptr);
  // `handle`: of a card that is here, else null.
  void finalize(cudnnHandle_t handle);

  const Descriptor& get() const { return graph_; }
  // In the same order: tensors in memory and constants.
  const std::vector<std::int64_t>& ids() const { return ids_; }
  std::vector<void*> pointers(const PlanArguments& arguments) const;

 private:
  const Descriptor& add_tensor(std::int64_t id, const Tensor& tensor, cudnnDataType_t type,
                               const Attribute* kind);

  std::vector<std::int64_t> ids_;
  std::int64_t next_ = kTensorIds;
  std::deque<float> constants_;  // of the last ids; a deque leaves its elements where they are
  std::vector<std::int64_t> constant_ids_;
  std::deque<Descriptor> tensors_;
  std::vector<Descriptor> operations_;
  Descriptor graph_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

// The operations of a graph in `graph`, which is empty and not yet finalized. Those of attention are the
// ones, in the order, by which cuDNN recognises its fused kernels.
void describe(const Conv2d& convolution, OperationGraph& graph);
void describe(const Attention& spec, OperationGraph& graph);

// A pointwise operation's mode, finalized. `type`: of the arithmetic.
Descriptor pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t type = kSum);

}  // namespace bench::kernels::cudnn
