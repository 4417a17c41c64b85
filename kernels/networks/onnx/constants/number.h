// Numbers of shape arithmetic, which may be multiples of the batch.
#pragma once

#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {

// fixed + per_batch · batch
struct Number {
  double fixed = 0;
  double per_batch = 0;

  bool operator==(const Number&) const = default;
};

// The value of a number that must not depend on the batch. Throws Refused.
inline double without_batch(const Number& number) {
  if (number.per_batch != 0) {
    throw Refused("arithmetic with the batch");
  }
  return number.fixed;
}

inline Number added(const Number& a, const Number& b) {
  return {a.fixed + b.fixed, a.per_batch + b.per_batch};
}

// Throws Refused for a product of two multiples of the batch.
inline Number multiplied(const Number& a, const Number& b) {
  if (a.per_batch != 0 && b.per_batch != 0) {
    throw Refused("a product of the batch with itself");
  }
  // Infinity times no batch is no number.
  const double per_batch =
      (b.per_batch == 0 ? 0 : a.fixed * b.per_batch) + (a.per_batch == 0 ? 0 : b.fixed * a.per_batch);
  return {a.fixed * b.fixed, per_batch};
}

}  // namespace bench::kernels::onnx
