// Multiply-adds on chains that do not wait for each other.
#pragma once

#include <cmath>

#include "kernels/cuda/spread.cuh"
#include "kernels/fma/fma.h"

namespace bench::kernels::cuda {

// A register's worth of an element's chains: one in fp32, a pair of fp16 or bf16, which the GPU computes with
// one instruction and rounds after each step.
template <class Element>
struct FmaStep {
  std::uint32_t factor;
  std::uint32_t summand;

  static BENCH_DEVICE FmaStep make() {
    FmaStep step{Element::from(Fma::kFactor), Element::from(Fma::kSummand)};
    if constexpr (sizeof(typename Element::Stored) == 2) {
      step.factor |= step.factor << 16;
      step.summand |= step.summand << 16;
    }
    return step;
  }

  BENCH_DEVICE std::uint32_t operator()(std::uint32_t x) const {
    if constexpr (sizeof(typename Element::Stored) == 2) {
      return Element::multiply_add_pair(x, factor, summand);
    } else {
      return Element::from(fmaf(Element::to(x), Element::to(factor), Element::to(summand)));
    }
  }
};

// A thread has kAccesses accesses of 16 bytes, four registers each: 16 chains hide a multiply-add's four or
// six cycles even from a lone warp. kUnrolled steps stand in a row, so that the loop itself costs next to
// nothing.
template <class Element, int kAccesses>
struct FmaChains {
  static constexpr int kThreads = 256;
  static constexpr int kUnrolled = 16;
  static constexpr int kRegisters = kAccess / 4;
  static constexpr const char* kName = "fma";
  using Stored = typename Element::Stored;

  const Stored* src;
  Stored* dst;
  std::int64_t count;
  std::int64_t vectors;  // whole accesses, from the start; 0 where a pointer is not aligned to one
  std::int64_t steps;

  using Share = Spread<kThreads, kAccesses>;
  static std::int64_t blocks(std::int64_t accesses) { return Share::blocks(accesses); }

  template <int kChains>
  BENCH_DEVICE void advance(std::uint32_t (&x)[kChains]) const {
    const auto step = FmaStep<Element>::make();
    std::int64_t left = steps;
    for (; left >= kUnrolled; left -= kUnrolled) {
      BENCH_UNROLL
      for (int s = 0; s < kUnrolled; ++s) {
        BENCH_UNROLL
        for (int i = 0; i < kChains; ++i) {
          x[i] = step(x[i]);
        }
      }
    }
    for (; left > 0; --left) {
      BENCH_UNROLL
      for (int i = 0; i < kChains; ++i) {
        x[i] = step(x[i]);
      }
    }
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    constexpr int kWidth = kLanes<Element>;
    const std::int64_t first = Share::first(thread);
    if (first < vectors) {
      std::uint32_t x[kAccesses * kRegisters] = {};
      BENCH_UNROLL
      for (int a = 0; a < kAccesses; ++a) {
        if (const std::int64_t at = first + a * kThreads; at < vectors) {
          const Words<kAccess> words = load_words<Element, kWidth>(src + at * kWidth);
          BENCH_UNROLL
          for (int i = 0; i < kRegisters; ++i) {
            x[a * kRegisters + i] = words.word[i];
          }
        }
      }
      advance(x);
      BENCH_UNROLL
      for (int a = 0; a < kAccesses; ++a) {
        if (const std::int64_t at = first + a * kThreads; at < vectors) {
          Words<kAccess> words;
          BENCH_UNROLL
          for (int i = 0; i < kRegisters; ++i) {
            words.word[i] = x[a * kRegisters + i];
          }
          Element::Memory::store(dst + at * kWidth, words);
        }
      }
    }
    Share::each_left(thread, vectors * kWidth, count, [&](std::int64_t at) {
      std::uint32_t x[1] = {load_words<Element, 1>(src + at).word[0]};
      advance(x);
      Element::Memory::store(dst + at, Words<kBytesOf<Element, 1>>{{x[0]}});
    });
  }
};

}  // namespace bench::kernels::cuda
