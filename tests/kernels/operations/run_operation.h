// Runs one operation on seeded inputs and hands back what it wrote; compares two implementations of it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "kernels/operations/operation.h"
#include "tests/kernels/operations/backward_of.h"

namespace bench::kernels::testing {

// The CPU, opened once for the whole test program.
Device& cpu();

using Values = std::map<Slot, std::vector<float>>;

// Seeded values for every input and parameter slot of `operation`, rounded to what `dtype` can hold, so that
// implementations which store them differently still compute from the same numbers. Variances are positive.
// None for `saved`: only a forward pass can write it.
Values inputs_for(const Operation& operation, Dtype dtype, std::uint64_t seed = 1);

// in_place: dst is the same memory as src1, and diff_src the same as diff_dst.
enum class Sum { apart, in_place };

// The opaque bytes of Slot::saved.
using Saved = std::vector<std::byte>;

// Where an operation runs, and how far a second run may be from the first: algorithms that add up in any
// order repeat themselves only roughly.
struct Place {
  Device& device = cpu();
  double repeats_within = 1e-5;
};

// Prepares and runs `operation`, twice, its outputs poisoned with NaNs before each run. Returns the outputs
// in plain form. Fails the test where the operation writes past a slot's memory or into its inputs, where
// the channel padding of an output is not zero, or where the two runs differ.
// `saved` receives what the operation saves, or is given to it if it reads what another has saved.
Values run_operation(Operation& operation, const Values& inputs, Sum sum = Sum::apart, Saved* saved = nullptr,
                     const Place& place = {});

// Every output of `answer` within `tolerance` of `expected`, as relative_error measures it.
::testing::AssertionResult close_to(const Values& expected, const Values& answer, double tolerance);

// Every implementation on the CPU that supports the spec against the reference, on the same inputs. There is
// one at least.
template <class Spec>
void expect_like_reference(const Spec& spec, Dtype dtype, double tolerance, Sum sum = Sum::apart) {
  const auto reference = make_operation(spec, cpu(), "reference");
  const Values inputs = inputs_for(*reference, dtype);
  const Values expected = run_operation(*reference, inputs);
  int tested = 0;
  for (const auto& candidate : registry<Implementation<Spec>>().entries()) {
    if (candidate->device_kind != "cpu" || candidate->name == "reference" ||
        candidate->unsupported(spec, cpu())) {
      continue;
    }
    const auto operation = candidate->make(spec, cpu());
    SCOPED_TRACE(candidate->name + ": " + operation->algorithm());
    EXPECT_TRUE(close_to(expected, run_operation(*operation, inputs, sum), tolerance));
    ++tested;
  }
  EXPECT_GT(tested, 0) << "only the reference supports it";
}

// Rounding of one result to the dtype, and of the sums before it.
constexpr double tolerance_of(Dtype dtype) {
  return dtype == Dtype::fp32 ? 1e-5 : 4e-3;
}

// Where a test's dtype is not computed on this processor it is skipped, with the reason.
#define BENCH_SKIP_UNSUPPORTED(dtype)                                            \
  if (const auto reason = ::bench::kernels::testing::cpu().unsupported(dtype)) { \
    GTEST_SKIP() << *reason;                                                     \
  }                                                                              \
  static_assert(true, "takes the semicolon")

}  // namespace bench::kernels::testing
