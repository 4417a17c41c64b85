// What runs of a plan ask of cuDNN, by a double of its functions: no card is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "cards.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/toolkit/dynload.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::testing {
namespace {

struct AskedOfCudnn {
  int streams = 0;                            // set
  std::vector<cudnnBackendDescriptor_t> ran;  // the packs, in the order of the runs
  std::array<int, 2> packs{};                 // made, destroyed
  std::vector<void*> pointers;                // in the last pack that was given some
};
AskedOfCudnn asked_of_cudnn;

struct MadeUpDescriptor {
  cudnnBackendDescriptorType_t type;
};

// In the place of cuDNN's functions while it lives: descriptors hold nothing, and heuristics know one plan.
class CudnnDouble {
 public:
  CudnnDouble() : functions_(const_cast<cuda::dynload::Cudnn&>(cuda::dynload::cudnn())), real_(functions_) {
    asked_of_cudnn = {};
    functions_.cudnnCreate = [](cudnnHandle_t* handle) {
      static int made_up;
      *handle = reinterpret_cast<cudnnHandle_t>(&made_up);
      return CUDNN_STATUS_SUCCESS;
    };
    functions_.cudnnDestroy = [](cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; };
    functions_.cudnnSetStream = [](cudnnHandle_t, cudaStream_t) {
      ++asked_of_cudnn.streams;
      return CUDNN_STATUS_SUCCESS;
    };
    functions_.cudnnBackendCreateDescriptor = [](cudnnBackendDescriptorType_t type,
                                                 cudnnBackendDescriptor_t* descriptor) {
      *descriptor = new MadeUpDescriptor{type};
      asked_of_cudnn.packs[0] += type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR ? 1 : 0;
      return CUDNN_STATUS_SUCCESS;
    };
    functions_.cudnnBackendDestroyDescriptor = [](cudnnBackendDescriptor_t descriptor) {
      const std::unique_ptr<MadeUpDescriptor> owned(static_cast<MadeUpDescriptor*>(descriptor));
      asked_of_cudnn.packs[1] += owned->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR ? 1 : 0;
      return CUDNN_STATUS_SUCCESS;
    };
    functions_.cudnnBackendSetAttribute = [](cudnnBackendDescriptor_t, cudnnBackendAttributeName_t name,
                                             cudnnBackendAttributeType_t, std::int64_t count,
                                             const void* values) {
      if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) {
        auto* const* const pointers = static_cast<void* const*>(values);
        asked_of_cudnn.pointers.assign(pointers, pointers + count);
      }
      return CUDNN_STATUS_SUCCESS;
    };
    functions_.cudnnBackendGetAttribute = [](cudnnBackendDescriptor_t, cudnnBackendAttributeName_t name,
                                             cudnnBackendAttributeType_t type, std::int64_t,
                                             std::int64_t* count, void*) {
      if (count != nullptr) {
        *count = type == CUDNN_TYPE_BACKEND_DESCRIPTOR && name != CUDNN_ATTR_ENGINECFG_KNOB_CHOICES ? 1 : 0;
      }
      return CUDNN_STATUS_SUCCESS;
    };
    functions_.cudnnBackendFinalize = [](cudnnBackendDescriptor_t) { return CUDNN_STATUS_SUCCESS; };
    functions_.cudnnBackendExecute = [](cudnnHandle_t, cudnnBackendDescriptor_t,
                                        cudnnBackendDescriptor_t pack) {
      asked_of_cudnn.ran.push_back(pack);
      return CUDNN_STATUS_SUCCESS;
    };
  }
  CudnnDouble(const CudnnDouble&) = delete;
  CudnnDouble& operator=(const CudnnDouble&) = delete;
  ~CudnnDouble() { functions_ = real_; }

 private:
  cuda::dynload::Cudnn& functions_;
  cuda::dynload::Cudnn real_;
};

// Each step runs on the same memory: cuDNN is told of it once.
TEST(CudnnRuns, KeepTheirPackOfPointersAndTheStream) {
  if (cannot_plan()) {
    GTEST_SKIP() << *cannot_plan();
  }
  const CudnnDouble cudnn;
  cuda::testing::FakeRuntime runtime;
  {
    cuda::Card here(runtime, runtime.cards.front(), 0);
    const Conv2d convolution{.in_channels = 8, .height = 8, .width = 8, .out_channels = 8};
    const auto plans = cudnn::plan_source().plans(convolution, here);
    ASSERT_TRUE(plans->build(0));
    std::array<std::byte, 4> memory{};
    cudnn::PlanArguments first;
    first[cudnn::kX] = &memory[0];
    first[cudnn::kW] = &memory[1];
    first[cudnn::kY] = &memory[2];
    cudnn::PlanArguments second = first;  // of the next block of a network
    second[cudnn::kX] = &memory[2];
    second[cudnn::kY] = &memory[3];
    for (int step = 0; step < 3; ++step) {
      plans->run(0, here.stream(), first);
      plans->run(0, here.stream(), second);
    }
    EXPECT_EQ(asked_of_cudnn.streams, 1);
    EXPECT_EQ(asked_of_cudnn.packs[0], 2);
    ASSERT_EQ(asked_of_cudnn.ran.size(), 6U);
    EXPECT_NE(asked_of_cudnn.ran[0], asked_of_cudnn.ran[1]);
    for (std::size_t run = 2; run < 6; ++run) {
      EXPECT_EQ(asked_of_cudnn.ran[run], asked_of_cudnn.ran[run - 2]);
    }
    std::vector<void*> right{&memory[2], &memory[1], &memory[3]};
    std::vector<void*> told = asked_of_cudnn.pointers;
    std::ranges::sort(right);
    std::ranges::sort(told);
    EXPECT_EQ(told, right);

    second.workspace = &memory[0];  // the same tensors, other scratch
    plans->run(0, here.stream(), second);
    EXPECT_EQ(asked_of_cudnn.packs[0], 3);
    plans->run(0, nullptr, second);  // another stream
    EXPECT_EQ(asked_of_cudnn.streams, 2);

    // Of memory that is gone no more is kept than this.
    std::array<std::byte, 100> others{};
    for (std::byte& other : others) {
      second.workspace = &other;
      plans->run(0, here.stream(), second);
    }
    EXPECT_EQ(asked_of_cudnn.packs[0] - asked_of_cudnn.packs[1], 64);
  }
  EXPECT_EQ(asked_of_cudnn.packs[0], asked_of_cudnn.packs[1]) << "none is lost";
}

}  // namespace
}  // namespace bench::kernels::testing
