// What is shown of cuDNN's reasons.
#include "kernels/cudnn/reason.h"

#include <gtest/gtest.h>

namespace bench::kernels::cudnn {
namespace {

TEST(CudnnReason, IsTheFirstLineAndTheCode) {
  EXPECT_EQ(reason_of("create(plan) failed with message: Error: no kernel\n  of 3 tried\n, and code: "
                      "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"),
            "create(plan) failed with message: Error: no kernel, and code: "
            "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER");
  EXPECT_EQ(reason_of("create(plan) failed with message: , and code: CUDNN_STATUS_NOT_SUPPORTED"),
            "create(plan) failed with message: , and code: CUDNN_STATUS_NOT_SUPPORTED");
}

TEST(CudnnReason, OfManyIsTheFirst) {
  EXPECT_EQ(reason_of("No plan.\nPlan at index 0: x failed with message: one\n, and code: CUDNN_STATUS_A\n"
                      "Plan at index 1: x failed with message: two\n, and code: CUDNN_STATUS_B"),
            "No plan., and code: CUDNN_STATUS_A");
}

TEST(CudnnReason, OfTheFrontendsOwnHasNoCode) {
  EXPECT_EQ(reason_of("[cudnn_frontend] Error: no engine"), "[cudnn_frontend] Error: no engine");
  EXPECT_EQ(reason_of("[cudnn_frontend] Error: no engine\nmore"), "[cudnn_frontend] Error: no engine");
  EXPECT_EQ(reason_of(""), "cuDNN gives no reason");
}

}  // namespace
}  // namespace bench::kernels::cudnn
