// Kernels over rows on fibers: rows that one thread, a warp or a block does, with and without a tail.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kernels/operations/cross_entropy/cuda.cu"
#include "kernels/operations/layer_norm/cuda.cu"
#include "kernels/operations/softmax/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::few_under_thread_sanitizer;
using testing::RunOptions;

struct RowsShape {
  std::int64_t rows, width;
};

constexpr std::array kRowsShapes{RowsShape{1, 1},    RowsShape{3, 7},    RowsShape{300, 2},
                                 RowsShape{5, 16},   RowsShape{9, 17},   RowsShape{2, 40},
                                 RowsShape{17, 100}, RowsShape{3, 1000}, RowsShape{2, 4096},
                                 RowsShape{2, 4104}, RowsShape{3, 5003}};

template <class Visit>
void for_each_rows(Visit visit) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const RowsShape& shape : kRowsShapes) {
      for (const std::int64_t offset : few_under_thread_sanitizer(std::array{4, 0})) {
        SCOPED_TRACE(
            fmt::format("{} {} rows of {}, {} bytes off", name_of(dtype), shape.rows, shape.width, offset));
        visit(shape, dtype, RunOptions{.offset = offset});
      }
    }
  }
}

TEST(CudaSoftmax, BothPassesAreLikeTheReference) {
  for_each_rows([](const RowsShape& shape, Dtype dtype, const RunOptions& options) {
    for (const bool log : {false, true}) {
      const Softmax spec{.tensor = {.n = shape.rows, .c = shape.width, .dtype = dtype}, .log = log};
      expect_like_reference<cuda::SoftmaxOperation>(spec, dtype, options);
      RunOptions in_place = options;
      in_place.in_place = {{Slot::diff_src, Slot::diff_dst}};
      expect_like_reference<cuda::SoftmaxOperation>(backward_of(spec), dtype, in_place);
    }
  });
}

TEST(CudaSoftmax, OfMapsIsLikeItsReference) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
      for (const std::int64_t channels : {1, 21, 300}) {
        for (const bool log : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} of {} channels", name_of(dtype), name_of(layout), channels));
          const Softmax spec{
              .tensor = {.n = 2, .c = channels, .h = 5, .w = 31, .layout = layout, .dtype = dtype},
              .log = log};
          expect_like_reference<cuda::SoftmaxOperation>(spec, dtype);
          expect_like_reference<cuda::SoftmaxOperation>(backward_of(spec), dtype,
                                                        {.in_place = {{Slot::diff_src, Slot::diff_dst}}});
        }
      }
    }
  }
}

constexpr std::array<std::pair<bool, bool>, 3> kScaleAndShift{{{true, true}, {true, false}, {false, false}}};

// Labels over all classes, and some that name none.
testing::Bytes labels_for(const RowsShape& shape) {
  std::vector<std::int32_t> labels;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    labels.push_back(static_cast<std::int32_t>(row % 5 == 3   ? -1
                                               : row % 7 == 5 ? shape.width
                                                              : row * 31 % shape.width));
  }
  testing::Bytes stored(labels.size() * sizeof labels[0]);
  std::memcpy(stored.data(), labels.data(), stored.size());
  return stored;
}

TEST(CudaCrossEntropy, IsLikeItsReference) {
  for_each_rows([](const RowsShape& shape, Dtype dtype, RunOptions options) {
    options.opaque[Slot::labels] = labels_for(shape);
    const CrossEntropy spec{.rows = shape.rows, .classes = shape.width, .scale = 0.25F, .dtype = dtype};
    expect_like_reference<cuda::CrossEntropyOperation>(spec, dtype, options);
    options.in_place = {{Slot::diff_src, Slot::src}};
    expect_like_reference<cuda::CrossEntropyOperation>(spec, dtype, options);
  });
}

// Logits whose exponentials overflow fp32.
TEST(CudaCrossEntropy, StandsLargeLogits) {
  const std::array<float, 4> logits{300, -200, 299, 0};
  testing::Bytes src(sizeof logits);
  std::memcpy(src.data(), logits.data(), sizeof logits);
  const std::int32_t label = 2;
  testing::Bytes labels(sizeof label);
  std::memcpy(labels.data(), &label, sizeof label);
  expect_like_reference<cuda::CrossEntropyOperation>({.rows = 1, .classes = 4}, Dtype::fp32,
                                                     {.opaque = {{Slot::src, src}, {Slot::labels, labels}}});
}

// Classes that are masked: all of a thread's, of a warp's, all but the label.
TEST(CudaCrossEntropy, TakesMaskedClasses) {
  for (const std::int64_t classes : {9, 700, 5003}) {
    for (const std::int64_t kept : {std::int64_t{2}, classes / 3, classes - 1}) {
      std::vector<float> logits(static_cast<std::size_t>(classes), -std::numeric_limits<float>::infinity());
      for (std::int64_t c = 1; c <= kept; ++c) {
        logits[static_cast<std::size_t>(c)] = static_cast<float>(c % 7);
      }
      testing::Bytes src(logits.size() * sizeof logits[0]);
      std::memcpy(src.data(), logits.data(), src.size());
      const std::int32_t label = 1;
      testing::Bytes labels(sizeof label);
      std::memcpy(labels.data(), &label, sizeof label);
      SCOPED_TRACE(fmt::format("{} of {} classes", kept, classes));
      expect_like_reference<cuda::CrossEntropyOperation>(
          {.rows = 1, .classes = classes}, Dtype::fp32,
          {.opaque = {{Slot::src, src}, {Slot::labels, labels}}});
    }
  }
}

// Each element once, by 16 bytes as often as addresses allow, and by the same thread whenever it is asked.
TEST(RowAccesses, AreEachElementOnce) {
  using Element = testing::Fibers::Fp16;
  constexpr int kLanes = cuda::kLanes<Element>;
  alignas(16) static constexpr std::array<Element::Stored, 64> kMemory{};
  for (std::int64_t begin = 0; begin < 2 * kLanes; ++begin) {
    for (std::int64_t count = 0; count < 40; ++count) {
      for (const bool wide : {false, true}) {
        const cuda::RowAccesses<Element> accesses(kMemory.data() + begin, count, wide);
        std::vector<int> visits(static_cast<std::size_t>(count));
        std::int64_t whole = 0;
        for (int lane = 0; lane < 32; ++lane) {
          accesses.each<32>(lane, [&]<int kCount>(std::int64_t at) {
            if (kCount > 1) {
              ++whole;
              EXPECT_EQ((begin + at) % kLanes, 0);
            }
            for (int i = 0; i < kCount; ++i) {
              ++visits.at(static_cast<std::size_t>(at + i));
            }
          });
        }
        const std::int64_t first = (begin + kLanes - 1) / kLanes;
        const std::int64_t last = (begin + count) / kLanes;
        EXPECT_EQ(whole, wide ? std::max<std::int64_t>(last - first, 0) : 0) << begin << ' ' << count;
        EXPECT_THAT(visits, ::testing::Each(1)) << begin << ' ' << count;
      }
    }
  }
}

TEST(CudaLayerNorm, ForwardIsLikeItsReference) {
  for_each_rows([](const RowsShape& shape, Dtype dtype, const RunOptions& options) {
    for (const auto& [scale, shift] : kScaleAndShift) {
      const LayerNorm spec{.rows = shape.rows,
                           .width = shape.width,
                           .training = !shift || shape.rows % 2 == 0,
                           .dtype = dtype,
                           .scale = scale,
                           .shift = shift};
      expect_like_reference<cuda::LayerNormOperation>(spec, dtype, options);
    }
  });
}

TEST(CudaLayerNorm, BackwardIsLikeItsReference) {
  for_each_rows([](const RowsShape& shape, Dtype dtype, RunOptions options) {
    LayerNorm spec{
        .rows = shape.rows, .width = shape.width, .direction = Direction::backward, .dtype = dtype};
    if (shape.width > 4096 && dtype != Dtype::fp32) {
      return;  // many columns take long, and are the same to all dtypes
    }
    if (options.offset != 0) {
      options.in_place = {{Slot::diff_src, Slot::diff_dst}};
    }
    for (const auto& [scale, shift] : kScaleAndShift) {
      if (shape.width > 300 && !shift) {
        continue;  // a parameter more or less is the same to every width
      }
      spec.scale = scale;
      spec.shift = shift;
      expect_like_reference<cuda::LayerNormOperation>(spec, dtype, options);
    }
  });
}

}  // namespace
}  // namespace bench::kernels
