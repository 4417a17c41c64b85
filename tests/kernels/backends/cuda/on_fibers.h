// Runs operations made of our own kernels on fibers, and compares them with the reference implementations.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fibers.h"
#include "kernels/operations/operation.h"
#include "stored.h"

namespace bench::kernels::testing {

Device& cpu();

// Kernels that multiply no matrices store tf32 as fp32 and do the same with it.
inline constexpr std::array kStoredDtypes{Dtype::fp32, Dtype::fp16, Dtype::bf16};

// Every output and state as stored. Each slot has memory of exactly its size, so that the address sanitizer
// sees whoever reads or writes beyond; outputs and scratch are poisoned before. Inputs are seeded values.
std::map<Slot, Bytes> run_exactly(Operation& operation, Dtype dtype, const RunOptions& options = {});

// Rounding of a result to the dtype, and of fp32 sums before it.
constexpr double tolerance_of(Dtype dtype) {
  return dtype == Dtype::fp16 ? 1e-3 : dtype == Dtype::bf16 ? 6e-3 : 1e-5;
}

// Of so many cases the last few under the thread sanitizer, which takes long and only looks for barriers.
template <class Range>
std::vector<typename Range::value_type> few_under_thread_sanitizer(const Range& all, std::size_t few = 1) {
  const std::size_t skipped = under_thread_sanitizer() && all.size() > few ? all.size() - few : 0;
  return {all.begin() + static_cast<std::ptrdiff_t>(skipped), all.end()};
}

template <template <class> class Op, class Machine = Fibers>
std::unique_ptr<Operation> on_fibers(const typename Op<Machine>::Spec& spec) {
  const auto made = cuda::implementation<Machine, Op>();
  if (const auto reason = made.unsupported(spec, cpu())) {
    throw std::invalid_argument(*reason);
  }
  return made.make(spec, cpu());
}

// `skipped` are slots that only one of the two understands.
template <template <class> class Op, class Machine = Fibers>
void expect_like_reference(const typename Op<Machine>::Spec& spec, Dtype dtype,
                           const RunOptions& options = {}, double tolerance = 0,
                           const std::vector<Slot>& skipped = {Slot::saved, Slot::workspace}) {
  const auto reference = make_operation(spec, cpu(), "reference");
  const auto tested = on_fibers<Op, Machine>(spec);
  auto expected = run_exactly(*reference, dtype, options);
  auto answer = run_exactly(*tested, dtype, options);
  for (const Slot slot : skipped) {
    expected.erase(slot);
    answer.erase(slot);
  }
  expect_close(*reference, expected, answer, tolerance == 0 ? tolerance_of(dtype) : tolerance);
}

}  // namespace bench::kernels::testing
