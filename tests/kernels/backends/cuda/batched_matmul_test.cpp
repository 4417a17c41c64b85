// Products of matrices side by side, on the host as cuBLASLt is told to see them.
#include "tests/kernels/operations/batched_matmul_cases.h"

#include "host_product.h"
#include "kernels/operations/batched_matmul/cublaslt.h"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::run_exactly;

TEST(CudaBatchedMatmul, IsLikeItsReference) {
  for (const Dtype dtype : kAllDtypes) {
    for (const BatchedMatmul& spec : testing::batched_matmuls(dtype)) {
      SCOPED_TRACE(testing::described(spec));
      const auto reference = make_operation(spec, testing::cpu(), "reference");
      cublaslt::BatchedMatmulOperation<testing::HostProduct> tested(spec, testing::cpu());
      testing::expect_close(*reference, run_exactly(*reference, dtype), run_exactly(tested, dtype),
                            testing::tolerance_of(dtype));
    }
  }
}

// Heads that lie side by side are one call; what is repeated along another dimension is not.
TEST(CudaBatchedMatmul, CallsAsSeldomAsCanBe) {
  EXPECT_TRUE(cublaslt::BatchedCalls({.a_leading = {1, 2, 3, 4}, .b_leading = {1, 2, 3, 4}}).loops.empty());
  EXPECT_EQ(cublaslt::BatchedCalls({.a_leading = {1, 1, 3, 4}, .b_leading = {1, 1, 3, 4}}).product.batch, 12);
  EXPECT_EQ(cublaslt::BatchedCalls({.a_leading = {1, 1, 1, 4}, .b_leading = {1, 1, 3, 4}}).loops.size(), 1U);
  EXPECT_EQ(cublaslt::BatchedCalls({.a_leading = {1, 1, 3, 4}, .rows = 5}).product.rows, 60);
}

}  // namespace
}  // namespace bench::kernels
