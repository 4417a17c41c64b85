// Runs an implementation on the first CUDA device and compares it with the CPU's reference. For tests
// labelled gpu; where no device is here they are skipped with the reason.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/error.h"
#include "run_operation.h"
#include "stored.h"

namespace bench::kernels::testing {

// Opened once for the whole test program; nullptr where there is none.
Device* cuda_device();
std::string why_no_cuda();

// Every nth of them where BENCH_FEW_PLANS is set, else all. A library plans and tunes each shape, dtype and
// direction, which takes longer than all else here.
template <class Range>
auto some_of(const Range& all, std::size_t nth) {
  std::vector<typename Range::value_type> some;
  for (std::size_t i = 0; i < all.size(); i += std::getenv("BENCH_FEW_PLANS") != nullptr ? nth : 1) {
    some.push_back(all[i]);
  }
  return some;
}

// Rounding of results and of what is multiplied: tf32 and fp16 keep 11 bits, bf16 keeps 8.
constexpr double cuda_tolerance(Dtype dtype) {
  return dtype == Dtype::fp32 ? 1e-5 : dtype == Dtype::bf16 ? 1e-2 : 2e-3;
}

// Every output on the CUDA device like the reference's, from the same inputs. What the implementation does
// not support must come with a reason, which the test's output then names.
template <class Spec>
void expect_like_reference_on_cuda(const Spec& spec, Dtype dtype, const char* implementation,
                                   Sum sum = Sum::apart) {
  std::unique_ptr<Operation> operation;
  try {
    operation = make_operation(spec, *cuda_device(), implementation);
  } catch (const Unsupported& error) {
    ADD_FAILURE() << error.what();
    return;
  }
  if (sum == Sum::in_place && !operation->in_place_sum()) {
    return;
  }
  const auto reference = make_operation(spec, cpu(), "reference");
  const Values inputs = inputs_for(*reference, dtype);
  const double tolerance = cuda_tolerance(dtype);
  const Values answer = run_operation(*operation, inputs, sum, nullptr,
                                      {.device = *cuda_device(), .repeats_within = tolerance});
  EXPECT_TRUE(close_to(run_operation(*reference, inputs), answer, tolerance)) << operation->algorithm();
}

// Every output and state as stored; outputs and scratch are poisoned before, inputs are seeded values.
std::map<Slot, Bytes> run_stored(Operation& operation, Device& device, Dtype dtype,
                                 const RunOptions& options = {});

// As above, for operations that are given what is no number, or that change what they are given. The
// reference must store them alike.
template <class Spec>
void expect_stored_like_reference_on_cuda(const Spec& spec, Dtype dtype, const char* implementation,
                                          const RunOptions& options = {}) {
  const auto operation = make_operation(spec, *cuda_device(), implementation);
  const auto reference = make_operation(spec, cpu(), "reference");
  expect_close(*reference, run_stored(*reference, cpu(), dtype, options),
               run_stored(*operation, *cuda_device(), dtype, options), cuda_tolerance(dtype));
}

#define BENCH_SKIP_WITHOUT_CUDA(dtype)                                                    \
  if (::bench::kernels::testing::cuda_device() == nullptr) {                              \
    GTEST_SKIP() << ::bench::kernels::testing::why_no_cuda();                             \
  }                                                                                       \
  if (const auto reason = ::bench::kernels::testing::cuda_device()->unsupported(dtype)) { \
    GTEST_SKIP() << *reason;                                                              \
  }                                                                                       \
  static_assert(true, "takes the semicolon")

}  // namespace bench::kernels::testing
