// The numbers of a known value in as few bytes as hold them exactly: 32-bit integers, floats, or doubles.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

namespace bench::kernels::onnx {

class Elements {
 public:
  Elements() = default;
  Elements(std::initializer_list<double> values) { assign(values.begin(), values.end()); }

  std::size_t size() const { return kind_ == Kind::doubles ? doubles_.size() : words_.size(); }
  bool empty() const { return size() == 0; }
  std::size_t bytes() const {
    return words_.size() * sizeof(std::uint32_t) + doubles_.size() * sizeof(double);
  }
  double operator[](std::size_t i) const {
    return kind_ == Kind::doubles ? doubles_[i]
           : kind_ == Kind::whole ? static_cast<double>(std::bit_cast<std::int32_t>(words_[i]))
                                  : static_cast<double>(std::bit_cast<float>(words_[i]));
  }
  double front() const { return (*this)[0]; }

  void reserve(std::size_t count) {
    kind_ == Kind::doubles ? doubles_.reserve(count) : words_.reserve(count);
  }
  void push_back(double value) {
    widen_for(value);
    kind_ == Kind::doubles ? doubles_.push_back(value) : words_.push_back(word(value));
  }
  void set(std::size_t i, double value) {
    widen_for(value);
    if (kind_ == Kind::doubles) {
      doubles_[i] = value;
    } else {
      words_[i] = word(value);
    }
  }
  void assign(std::size_t count, double value) {
    *this = {};
    widen_for(value);
    kind_ == Kind::doubles ? doubles_.assign(count, value) : words_.assign(count, word(value));
  }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    *this = {};
    for (; first != last; ++first) {
      push_back(static_cast<double>(*first));
    }
  }

 private:
  enum class Kind { whole, floats, doubles };

  // −0 is no integer, since its sign counts.
  static bool is_whole(double value) {
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max() &&
           std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int32_t>(value))) ==
               std::bit_cast<std::uint64_t>(value);
  }
  static bool is_float(double value) {
    return !std::isfinite(value) ||
           (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
            static_cast<double>(static_cast<float>(value)) == value);
  }
  std::uint32_t word(double value) const {
    return kind_ == Kind::whole ? std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                                : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
  void widen_for(double value) {
    if ((kind_ == Kind::whole && !is_whole(value)) || (kind_ == Kind::floats && !is_float(value))) {
      widen(value);
    }
  }
  void widen(double value);

  Kind kind_ = Kind::whole;
  std::vector<std::uint32_t> words_;  // integers or floats
  std::vector<double> doubles_;
};

}  // namespace bench::kernels::onnx
