#include "kernels/operations/pool/pool.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/kernels/networks/networks_fixture.h"

namespace bench::kernels {
namespace {

class AdaptivePoolTest : public NetworkTest {
 protected:
  std::vector<float> run(const Pool& spec, const std::vector<float>& in) {
    const auto operation = make_operation(spec, *device_);
    operation->prepare();
    std::vector<std::byte> src(static_cast<std::size_t>(spec.src.bytes()));
    std::vector<std::byte> dst(static_cast<std::size_t>(spec.dst().bytes()));
    store(spec.src, in, src.data());
    SlotPointers pointers;
    pointers[Slot::src] = src.data();
    pointers[Slot::dst] = dst.data();
    operation->run(pointers);
    std::vector<float> out(static_cast<std::size_t>(spec.dst().elements()));
    load(spec.dst(), dst.data(), out);
    return out;
  }
};

TEST_F(AdaptivePoolTest, WindowsOfDifferentSizes) {
  // 5 → 3: inputs [0,2), [1,4), [3,5); as torch.nn.functional.adaptive_avg_pool1d.
  const Pool spec{.src = {1, 1, 1, 5}, .kind = Pool::Kind::adaptive, .height = 1, .width = 3};
  EXPECT_EQ(run(spec, {1, 3, 5, 7, 9}), (std::vector<float>{2, 5, 8}));
}

TEST_F(AdaptivePoolTest, SmallInputIsRepeated) {
  const Pool spec{.src = {1, 1, 2, 1}, .kind = Pool::Kind::adaptive, .height = 4, .width = 2};
  EXPECT_EQ(run(spec, {1, 2}), (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST_F(AdaptivePoolTest, EveryLayoutAndSample) {
  std::vector<float> in(2 * 20 * 9 * 5);
  std::iota(in.begin(), in.end(), 0.0F);
  Pool spec{.src = {2, 20, 9, 5, Layout::nchw}, .kind = Pool::Kind::adaptive, .height = 7, .width = 7};
  const auto expected = run(spec, in);
  EXPECT_EQ(expected.front(), 0.5F * (0 + 5));  // rows 0 and 1 of the first column
  for (const Layout layout : {Layout::nhwc, Layout::nchw16c}) {
    spec.src.layout = layout;
    EXPECT_EQ(run(spec, in), expected);
  }
}

TEST_F(AdaptivePoolTest, RefusesNothingness) {
  EXPECT_THROW(
      make_operation(Pool{.src = {1, 1, 2, 2}, .kind = Pool::Kind::adaptive, .height = 0, .width = 2},
                     *device_),
      Unsupported);
}

}  // namespace
}  // namespace bench::kernels
