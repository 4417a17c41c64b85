// Tensors of more than 2^31 elements on a GPU: every value the same, so that no reference is needed.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/pool/pool.h"
#include "on_cuda.h"

namespace bench::kernels {
namespace {

constexpr std::byte kValue{0x3C};  // of both bytes of an fp16 number
constexpr std::byte kPoison{0xFF};

// An operation whose inputs have all that value; parameters are 1/64.
class Filled {
 public:
  template <class Spec>
  explicit Filled(const Spec& spec) : operation_(make_operation(spec, device_)) {
    operation_->prepare();
    for (const SlotInfo& slot : operation_->slots()) {
      buffers_.push_back(device_.allocate(slot.bytes, MemoryCategory::other));
      pointers_[slot.slot] = buffers_.back().data();
      if (slot.role == Role::parameter) {
        const std::vector<float> plain(static_cast<std::size_t>(slot.plain_count), 1.0F / 64);
        std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
        operation_->pack(slot.slot, plain, packed.data());
        device_.upload(pointers_[slot.slot], packed.data(), slot.bytes);
      } else {
        device_.fill(pointers_[slot.slot], slot.role == Role::input ? kValue : kPoison, slot.bytes);
      }
    }
    operation_->run(pointers_);
    device_.synchronize();
  }

  // At the start, on both sides of element 2^31 and at the end.
  void expect_all_the_same() {
    const std::int64_t bytes = operation_->find(Slot::dst)->bytes;
    const std::int64_t middle = std::min(bytes / 2, std::int64_t{1} << 32);
    for (const std::int64_t at : {std::int64_t{0}, middle - kLook / 2, bytes - kLook}) {
      std::array<std::byte, kLook> seen{};
      device_.download(seen.data(), static_cast<std::byte*>(pointers_[Slot::dst]) + at, kLook);
      for (const std::byte byte : seen) {
        ASSERT_EQ(byte, kValue) << "near byte " << at << " of " << bytes << ", " << operation_->algorithm();
      }
    }
  }

 private:
  static constexpr std::int64_t kLook = 4096;

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
  Filled(Elementwise{tensor, Activation::relu}).expect_all_the_same();
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
      .expect_all_the_same();
}

TEST_F(LargeTensorsOnTheCard, AreConvolvedInParts) {
  BENCH_SKIP_WITHOUT_ROOM();
  Filled(Conv2d{.batch = 2680,
                .in_channels = 64,
                .height = 112,
                .width = 112,
                .out_channels = 64,
                .dtype = Dtype::fp16})
      .expect_all_the_same();
}

}  // namespace
}  // namespace bench::kernels
