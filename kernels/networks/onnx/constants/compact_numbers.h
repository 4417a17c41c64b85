// A list of numbers in as few bytes each as hold all of them exactly: integers of 16 or 32 bits, floats,
// doubles.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <variant>
#include <vector>

namespace bench::kernels::onnx {

class CompactNumbers {
 public:
  CompactNumbers() = default;
  CompactNumbers(std::initializer_list<double> values) { assign(values.begin(), values.end()); }

  std::size_t size() const {
    return std::visit([](const auto& values) { return values.size(); }, values_);
  }
  bool empty() const { return size() == 0; }
  std::size_t bytes() const {
    return std::visit([](const auto& values) { return values.size() * sizeof(values[0]); }, values_);
  }
  double operator[](std::size_t i) const {
    return std::visit([i](const auto& values) { return static_cast<double>(values[i]); }, values_);
  }
  double front() const { return (*this)[0]; }

  void reserve(std::size_t count) {
    std::visit([count](auto& values) { values.reserve(count); }, values_);
  }
  void push_back(double value) {
    widen_for(value);
    std::visit([value](auto& values) { values.push_back(narrow(value, values)); }, values_);
  }
  void set(std::size_t i, double value) {
    widen_for(value);
    std::visit([i, value](auto& values) { values[i] = narrow(value, values); }, values_);
  }
  void assign(std::size_t count, double value) {
    *this = {};
    widen_for(value);
    std::visit([count, value](auto& values) { values.assign(count, narrow(value, values)); }, values_);
  }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    *this = {};
    for (; first != last; ++first) {
      push_back(static_cast<double>(*first));
    }
  }

 private:
  using Kinds = std::variant<std::vector<std::int16_t>, std::vector<std::int32_t>, std::vector<float>,
                             std::vector<double>>;

  template <class T>
  static T narrow(double value, const std::vector<T>& /*values*/) {
    return static_cast<T>(value);
  }
  void widen_for(double value) {
    // Every kind holds the most frequent numbers, small integers; -0 is none.
    const bool small = value >= 0 && value <= INT16_MAX &&
                       value == static_cast<double>(static_cast<int>(value)) && !std::signbit(value);
    if (!small) {
      widen_to_hold(value);
    }
  }
  void widen_to_hold(double value);

  Kinds values_;
};

}  // namespace bench::kernels::onnx
