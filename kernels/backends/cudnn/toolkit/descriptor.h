// One descriptor of cuDNN's backend API, with one owner. A descriptor is created, given attributes and
// finalized.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

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
constexpr auto type_of(const std::int64_t* /*value*/) {
  return CUDNN_TYPE_INT64;
}
constexpr auto type_of(const float* /*value*/) {
  return CUDNN_TYPE_FLOAT;
}
constexpr auto type_of(const double* /*value*/) {
  return CUDNN_TYPE_DOUBLE;
}
constexpr auto type_of(const bool* /*value*/) {
  return CUDNN_TYPE_BOOLEAN;
}
constexpr auto type_of(const char* /*value*/) {
  return CUDNN_TYPE_CHAR;
}
constexpr auto type_of(void* const* /*value*/) {
  return CUDNN_TYPE_VOID_PTR;
}
constexpr auto type_of(const cudnnHandle_t* /*value*/) {
  return CUDNN_TYPE_HANDLE;
}
constexpr auto type_of(const cudnnDataType_t* /*value*/) {
  return CUDNN_TYPE_DATA_TYPE;
}
constexpr auto type_of(const cudnnConvolutionMode_t* /*value*/) {
  return CUDNN_TYPE_CONVOLUTION_MODE;
}
constexpr auto type_of(const cudnnPointwiseMode_t* /*value*/) {
  return CUDNN_TYPE_POINTWISE_MODE;
}
constexpr auto type_of(const cudnnReduceTensorOp_t* /*value*/) {
  return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
}
constexpr auto type_of(const cudnnNanPropagation_t* /*value*/) {
  return CUDNN_TYPE_NAN_PROPOGATION;
}
constexpr auto type_of(const cudnnBackendHeurMode_t* /*value*/) {
  return CUDNN_TYPE_HEUR_MODE;
}
constexpr auto type_of(const cudnnBackendKnobType_t* /*value*/) {
  return CUDNN_TYPE_KNOB_TYPE;
}
constexpr auto type_of(const cudnnBackendNumericalNote_t* /*value*/) {
  return CUDNN_TYPE_NUMERICAL_NOTE;
}
constexpr auto type_of(const cudnnBackendBehaviorNote_t* /*value*/) {
  return CUDNN_TYPE_BEHAVIOR_NOTE;
}

using Attribute = cudnnBackendAttributeName_t;

// A descriptor with one owner.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    require(api().cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
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

  template <class Value>
  void set_all(Attribute name, std::span<const Value> values) {
    set_raw(name, type_of(values.data()), static_cast<std::int64_t>(values.size()), values.data());
  }
  template <class Value>
  void set(Attribute name, const Value& value) {
    set_raw(name, type_of(&value), 1, &value);
  }
  void set(Attribute name, const Descriptor& other) {
    set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
  }
  void set(Attribute name, const std::vector<Descriptor>& others) {
    const std::vector<cudnnBackendDescriptor_t> all = descriptors_of(others);
    set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(all.size()), all.data());
  }
  void finalize() { require(api().cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize"); }

  template <class Value>
  Value value(Attribute name) const {
    Value value{};
    get_raw(name, type_of(&value), 1, nullptr, &value);
    return value;
  }
  // At most `most` values.
  template <class Value>
  std::vector<Value> values(Attribute name, std::int64_t most) const {
    std::vector<Value> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    get_raw(name, type_of(values.data()), most, &count, values.data());
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
  std::int64_t count(Attribute name) const {
    std::int64_t count = 0;
    get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
    return count;
  }

 private:
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
};

}  // namespace bench::kernels::cudnn
