// Tensors of about 2^31 elements and more on fibers: memory that is only reserved, and of each grid the last
// blocks, whose elements lie at its end.
#include <sys/mman.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <system_error>

#include "kernels/operations/batch_norm/cuda.cu"
#include "kernels/operations/conv2d/implicit_gemm.cu"
#include "kernels/operations/cross_entropy/cuda.cu"
#include "kernels/operations/elementwise/cuda.cu"
#include "kernels/operations/layer_norm/cuda.cu"
#include "kernels/operations/pool/cuda.cu"
#include "kernels/operations/resize/cuda.cu"
#include "kernels/operations/softmax/cuda.cu"
#include "on_fibers.h"
#include "tests/kernels/operations/resize_cases.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kCounted = std::int64_t{1} << 31;

class LastBlocks : public testing::FiberQueue {
 public:
  using FiberQueue::FiberQueue;
  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    testing::run_grid(
        Kernel::kThreads, cuda::grid_of(blocks, Kernel::kName),
        [&](const testing::FiberThread& thread) { kernel(thread); }, std::max<std::int64_t>(0, blocks - 2));
  }
  int multiprocessors() const { return 132; }
};

struct LargeFibers : testing::Fibers {
  using Queue = LastBlocks;
};

// Zeros; only pages that are touched take memory.
class Reserved {
 public:
  explicit Reserved(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) {
      throw std::system_error(errno, std::generic_category(), "mmap");
    }
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() { munmap(data_, bytes_); }
  void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

// An operation with reserved memory in each of its slots.
template <template <class> class Op>
class Large {
 public:
  explicit Large(const typename Op<LargeFibers>::Spec& spec)
      : operation_(testing::on_fibers<Op, LargeFibers>(spec)) {
    for (const SlotInfo& slot : operation_->slots()) {
      memory_.push_back(std::make_unique<Reserved>(slot.bytes));
      pointers_[slot.slot] = memory_.back()->data();
    }
  }
  // In fp16, the element's place in memory.
  void put(Slot slot, std::int64_t at, float value) { halves(slot)[at] = Fp16::from(value); }
  float get(Slot slot, std::int64_t at) const { return Fp16::to(halves(slot)[at]); }
  float* floats(Slot slot) const { return static_cast<float*>(pointers_[slot]); }
  std::int32_t* integers(Slot slot) const { return static_cast<std::int32_t*>(pointers_[slot]); }
  std::int64_t elements(Slot slot) const { return operation_->find(slot)->tensor.elements(); }
  void run() { operation_->run(pointers_); }

 private:
  std::uint16_t* halves(Slot slot) const { return static_cast<std::uint16_t*>(pointers_[slot]); }

  std::unique_ptr<Operation> operation_;
  std::vector<std::unique_ptr<Reserved>> memory_;
  SlotPointers pointers_;
};

TEST(LargeTensors, AreDoneElementByElement) {
  const std::int64_t count = kCounted + 8000;
  Large<cuda::ElementwiseOperation> large(
      {TensorDesc{.n = 1, .c = count, .dtype = Dtype::fp16}, Activation::leaky_relu});
  large.put(Slot::src, count - 1, 5);
  large.put(Slot::src, count - 7000, -8);
  large.run();
  EXPECT_EQ(large.get(Slot::dst, count - 1), 5);
  EXPECT_NEAR(large.get(Slot::dst, count - 7000), -8 * kLeakySlope, 1e-3);
  EXPECT_EQ(large.get(Slot::dst, count - 1 - kCounted), 0) << "not at the address cut to 31 bits";
}

TEST(LargeTensors, AreNormalizedByChannels) {
  const std::int64_t rows = kCounted / 8 + 1000;
  Large<cuda::BatchNormOperation> large({.tensor = {.n = rows, .c = 8, .dtype = Dtype::fp16}, .epsilon = 0});
  for (int c = 0; c < 8; ++c) {
    large.floats(Slot::scale)[c] = 3;
    large.floats(Slot::shift)[c] = 1;
    large.floats(Slot::variance)[c] = 4;
  }
  large.put(Slot::src, rows * 8 - 2, 6);
  large.run();
  EXPECT_EQ(large.get(Slot::dst, rows * 8 - 2), 10) << "3 · 6 / √4 + 1";
  EXPECT_EQ(large.get(Slot::dst, rows * 8 - 1), 1);
}

TEST(LargeTensors, AreNormalizedByRows) {
  const std::int64_t rows = kCounted / 16 + 3;
  Large<cuda::SoftmaxOperation> softmax({{.n = rows, .c = 16, .dtype = Dtype::fp16}});
  softmax.put(Slot::src, rows * 16 - 1, 10);
  softmax.run();
  EXPECT_NEAR(softmax.get(Slot::dst, rows * 16 - 1), 1, 1e-2);
  Large<cuda::LayerNormOperation> norm({.rows = rows, .width = 16, .dtype = Dtype::fp16});
  for (int c = 0; c < 16; ++c) {
    norm.floats(Slot::scale)[c] = 1;
  }
  for (const int c : {0, 2, 4, 6, 8, 10, 12, 14}) {
    norm.put(Slot::src, rows * 16 - 16 + c, 2);
  }
  norm.run();
  EXPECT_NEAR(norm.get(Slot::dst, rows * 16 - 2), 1, 1e-2);
  EXPECT_NEAR(norm.get(Slot::dst, rows * 16 - 1), -1, 1e-2);
}

// Logits of so many tokens over a vocabulary, whose last row knows its class by far: by whole accesses and by
// single elements.
TEST(LargeTensors, LoseByRows) {
  for (const std::int64_t classes : {50304, 50257}) {
    const std::int64_t rows = kCounted / classes + 3;
    const std::int64_t last = rows * classes - 1;
    ASSERT_GT(last - classes, kCounted);
    Large<cuda::CrossEntropyOperation> large({.rows = rows, .classes = classes, .dtype = Dtype::fp16});
    const auto label = static_cast<std::int32_t>(classes - 2);
    large.integers(Slot::labels)[rows - 1] = label;
    large.put(Slot::src, last, 20);
    large.run();
    EXPECT_NEAR(large.get(Slot::diff_src, last), 1, 1e-2) << "all of the probability, and not the label";
    EXPECT_NEAR(large.get(Slot::diff_src, last - 1), -1, 1e-2);
    EXPECT_EQ(large.get(Slot::diff_src, last - 1 - kCounted), 0) << "not at the address cut to 31 bits";
    EXPECT_NEAR(large.floats(Slot::loss)[0], 20 + std::log(static_cast<float>(classes)), 0.1)
        << "and that of the row before, whose logits are all zero";
  }
}

// Single elements, nearly as many as are counted in one part; then in parts.
TEST(LargeTensors, AreCopiedPixelByPixel) {
  for (const std::int64_t samples : {18, 19}) {
    const Resize spec =
        testing::repeated({.n = samples, .c = 7, .h = 2048, .w = 2048, .dtype = Dtype::fp16}, 2);
    ASSERT_EQ(spec.dst().elements() < kCounted, samples == 18);
    Large<cuda::ResizeOperation> large(spec);
    const std::int64_t last = large.elements(Slot::dst) - 1;
    large.put(Slot::src, large.elements(Slot::src) - 1, 3);
    large.run();
    EXPECT_EQ(large.get(Slot::dst, last), 3);
    EXPECT_EQ(large.get(Slot::dst, last - 7), 3) << "the pixel before it";
    EXPECT_EQ(large.get(Slot::dst, last - 14), 0);
  }
}

TEST(LargeTensors, ArePooledInParts) {
  const Pool spec{.src = {.n = 33, .c = 64, .h = 1024, .w = 1024, .dtype = Dtype::fp16},
                  .kind = Pool::Kind::average,
                  .kernel_h = 2,
                  .kernel_w = 2,
                  .stride_h = 2,
                  .stride_w = 2};
  ASSERT_GT(spec.src.elements(), kCounted);
  Large<cuda::PoolOperation> large(spec);
  large.put(Slot::src, large.elements(Slot::src) - 1, 8);
  large.run();
  EXPECT_EQ(large.get(Slot::dst, large.elements(Slot::dst) - 1), 2);
}

TEST(LargeTensors, AreConvolvedInParts) {
  const Conv2d spec{
      .batch = 33, .in_channels = 64, .height = 1024, .width = 1024, .out_channels = 8, .dtype = Dtype::fp16};
  ASSERT_GT(spec.src().elements(), kCounted);
  Large<cuda::ImplicitGemmOperation> large(spec);
  const std::int64_t last = large.elements(Slot::src) - 1;
  for (std::int64_t c = 0; c < 64; ++c) {
    large.put(Slot::src, last - c, 1);
    large.put(Slot::weights, c * 8 + 7, 0.5F);  // to the last output
  }
  large.run();
  EXPECT_EQ(large.get(Slot::dst, large.elements(Slot::dst) - 1), 32);
  EXPECT_EQ(large.get(Slot::dst, large.elements(Slot::dst) - 2), 0);
}

// Rows that fit no tiling are refused, not cut to 32 bits.
TEST(LargeTensors, OfTooManyRowsAreRefusedByName) {
  const std::int64_t rows = kCounted;
  const std::string named = "the CUDA kernels count to 2147483647 rows, there are 2147483648";
  EXPECT_EQ((cuda::implementation<LargeFibers, cuda::BatchNormOperation>().unsupported(
                {.tensor = {.n = rows, .c = 8}}, testing::cpu())),
            named);
  try {
    testing::on_fibers<cuda::LayerNormOperation, LargeFibers>(
        backward_of(LayerNorm{.rows = rows, .width = 8}));
    FAIL() << "it was made";
  } catch (const Unsupported& error) {
    EXPECT_EQ(error.what(), named);
  }
}

// Every row belongs to one chunk, however many there are.
TEST(LargeTensors, AreTiledToTheLastRow) {
  for (const std::int64_t rows : {kCounted - 1, kCounted - 1025, kCounted / 2 + 1}) {
    for (const std::int64_t columns : {1, 8, 100}) {
      const cuda::Tiling tiling = cuda::Tiling::of(rows, columns, 4 * 132);
      std::int64_t covered = 0;
      for (std::uint32_t chunk = 0; chunk < tiling.chunks; ++chunk) {
        covered += tiling.rows_of(chunk);
      }
      EXPECT_EQ(covered, rows) << columns << " columns";
    }
  }
}

}  // namespace
}  // namespace bench::kernels
