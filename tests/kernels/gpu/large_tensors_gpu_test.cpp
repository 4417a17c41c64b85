// Tensors of more than 2^31 elements on a GPU, whose values are the same or known, so that no reference is
// needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/element.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/pool/pool.h"
#include "on_cuda.h"

namespace bench::kernels {
namespace {

constexpr std::byte kByte{0x3C};
constexpr double kValue = 1.05859375;  // of an fp16 number of two such bytes
constexpr double kParameter = 1.0 / 64;
constexpr std::byte kPoison{0xFF};

// An operation whose inputs all have that value, and its parameters theirs; `integers` are given as they are.
class Filled {
 public:
  using Integers = std::map<Slot, std::vector<std::int32_t>>;

  template <class Spec>
  explicit Filled(const Spec& spec, const Integers& integers = {}, const char* implementation = "")
      : operation_(make_operation(spec, device_, implementation)) {
    operation_->prepare();
    for (const SlotInfo& slot : operation_->slots()) {
      buffers_.push_back(device_.allocate(slot.bytes, MemoryCategory::other));
      pointers_[slot.slot] = buffers_.back().data();
      if (const auto given = integers.find(slot.slot); given != integers.end()) {
        device_.upload(pointers_[slot.slot], given->second.data(), slot.bytes);
      } else if (slot.role == Role::parameter) {
        const std::vector<float> plain(static_cast<std::size_t>(slot.plain_count), float{kParameter});
        std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
        operation_->pack(slot.slot, plain, packed.data());
        device_.upload(pointers_[slot.slot], packed.data(), slot.bytes);
      } else {
        device_.fill(pointers_[slot.slot], slot.role == Role::input ? kByte : kPoison, slot.bytes);
      }
    }
    operation_->run(pointers_);
    device_.synchronize();
  }

  // `count` values of a slot, from its value `first` on.
  template <class Value>
  std::vector<Value> look(Slot slot, std::int64_t first, std::int64_t count) {
    constexpr std::int64_t kEach = sizeof(Value);
    std::vector<Value> values(static_cast<std::size_t>(count));
    device_.download(values.data(), static_cast<std::byte*>(pointers_[slot]) + first * kEach, count * kEach);
    return values;
  }

  // fp16 at the start, on both sides of element 2^31 and at the end. `within`: relative, for what is rounded.
  void expect_all(double value, double within = 0, Slot slot = Slot::dst) {
    constexpr std::int64_t kLook = 2048;
    const std::int64_t count = operation_->find(slot)->bytes / bytes_of(Dtype::fp16);
    const std::int64_t middle = std::min(count / 2, std::int64_t{1} << 31);
    for (const std::int64_t first : {std::int64_t{0}, middle - kLook / 2, count - kLook}) {
      for (const std::uint16_t stored : look<std::uint16_t>(slot, first, kLook)) {
        const double seen = Fp16::to(stored);
        ASSERT_LE(std::abs(seen - value), within * value)  // not true of a NaN
            << seen << " near value " << first << " of " << count << ", " << operation_->algorithm();
      }
    }
  }

 private:
  Device& device_ = *testing::cuda_device();
  std::unique_ptr<Operation> operation_;
  std::vector<Buffer> buffers_;
  SlotPointers pointers_;
};

class LargeTensorsOnTheCard : public ::testing::Test {
 protected:
  static constexpr std::int64_t kNeeded = std::int64_t{14} << 30;
  static bool has_room() { return testing::cuda_device()->info().available_bytes >= kNeeded; }
};

#define BENCH_SKIP_WITHOUT_ROOM()                                         \
  BENCH_SKIP_WITHOUT_CUDA(Dtype::fp16);                                   \
  if (!has_room()) {                                                      \
    GTEST_SKIP() << fmt::format("needs {} GiB of memory", kNeeded >> 30); \
  }                                                                       \
  static_assert(true, "takes the semicolon")

TEST_F(LargeTensorsOnTheCard, AreDoneElementByElement) {
  BENCH_SKIP_WITHOUT_ROOM();
  const TensorDesc tensor{.n = 2680, .c = 64, .h = 112, .w = 112, .dtype = Dtype::fp16};
  ASSERT_GT(tensor.elements(), std::int64_t{1} << 31);
  Filled(Elementwise{tensor, Activation::relu}).expect_all(kValue);
}

TEST_F(LargeTensorsOnTheCard, ArePooledInParts) {
  BENCH_SKIP_WITHOUT_ROOM();
  Filled(Pool{.src = {.n = 2680, .c = 64, .h = 112, .w = 112, .dtype = Dtype::fp16},
              .kernel_h = 3,
              .kernel_w = 3,
              .stride_h = 2,
              .stride_w = 2,
              .pad_h = 1,
              .pad_w = 1})
      .expect_all(kValue);
}

TEST_F(LargeTensorsOnTheCard, AreConvolvedInParts) {
  BENCH_SKIP_WITHOUT_ROOM();
  Filled(Conv2d{.batch = 2680,
                .in_channels = 64,
                .height = 112,
                .width = 112,
                .out_channels = 64,
                .dtype = Dtype::fp16})
      .expect_all(kValue);
}

// Logits all alike, so that each class of a row has the same probability: the rows on both sides of element
// 2^31 and the last one, by whole accesses and by single elements.
TEST_F(LargeTensorsOnTheCard, LoseByRows) {
  BENCH_SKIP_WITHOUT_ROOM();
  for (const std::int64_t classes : {50304, 50257}) {
    const std::int64_t rows = (std::int64_t{1} << 31) / classes + 30;
    const CrossEntropy spec{.rows = rows, .classes = classes, .scale = 64, .dtype = Dtype::fp16};
    std::vector<std::int32_t> labels;
    for (std::int64_t row = 0; row < rows; ++row) {
      labels.push_back(static_cast<std::int32_t>(row * 31 % classes));
    }
    Filled filled(spec, {{Slot::labels, labels}});
    const auto each = static_cast<float>(64.0 / static_cast<double>(classes));
    for (const std::int64_t row : {std::int64_t{0}, rows - 30, rows - 29, rows - 1}) {
      const auto gradient = filled.look<std::uint16_t>(Slot::diff_src, row * classes, classes);
      for (std::int64_t c = 0; c < classes; ++c) {
        const bool right = c == labels[static_cast<std::size_t>(row)];
        ASSERT_NEAR(Fp16::to(gradient[static_cast<std::size_t>(c)]), right ? each - 64 : each,
                    right ? 0.05F : 1e-5F)
            << classes << " classes, row " << row << ", class " << c;
      }
    }
    const double loss = 64.0 * static_cast<double>(rows) * std::log(static_cast<double>(classes));
    EXPECT_NEAR(filled.look<float>(Slot::loss, 0, 1)[0], loss, 1e-4 * loss);
  }
}

// The logits of gpt_small: 42 sequences of 1,024 positions by 50,257 tokens.
TEST_F(LargeTensorsOnTheCard, AreMultipliedByCublaslt) {
  BENCH_SKIP_WITHOUT_ROOM();
  constexpr double kRounding = 2e-3;
  Linear logits{.rows = 42 * 1024, .inner = 64, .columns = 50257, .dtype = Dtype::fp16};
  ASSERT_GT(logits.dst().elements(), std::int64_t{1} << 31);
  Filled(logits, {}, "cublaslt").expect_all(kValue, kRounding);
  logits.direction = Direction::backward_data;
  Filled(logits, {}, "cublaslt").expect_all(50257 * kValue * kParameter, kRounding, Slot::diff_src);
  logits.direction = Direction::backward_weights;
  Filled(logits, {}, "cublaslt").expect_all(42 * 1024 * kValue * kValue, kRounding, Slot::diff_weights);
  const Linear product{.rows = logits.rows,
                       .inner = 64,
                       .columns = logits.columns,
                       .bias = true,
                       .packed = true,
                       .dtype = Dtype::fp16};
  Filled(product, {}, "cublaslt").expect_all(kValue + kParameter, kRounding);
}

// Equal positions: whatever they are weighted with, their mean is their value.
TEST_F(LargeTensorsOnTheCard, AreAttendedTo) {
  BENCH_SKIP_WITHOUT_ROOM();
  const Attention spec{.batch = 911, .sequence = 1024, .heads = 12, .head_size = 64, .dtype = Dtype::fp16};
  ASSERT_GT(spec.src().elements(), std::int64_t{1} << 31);
  for (const char* implementation : {"cublaslt", "cudnn"}) {
    SCOPED_TRACE(implementation);
    try {
      Filled(spec, {}, implementation).expect_all(kValue, 2e-3);
    } catch (const Unsupported& reason) {  // not every card has cuDNN's
      EXPECT_STREQ(implementation, "cudnn") << reason.what();
    }
  }
}

}  // namespace
}  // namespace bench::kernels
