// What depends on the version of oneDNN: its faults, and what it says of itself.
#include <gtest/gtest.h>

#include "kernels/backends/onednn/primitives.h"

namespace bench::kernels::onednn {
namespace {

TEST(OnednnVersions, AFaultIsThatOfItsVersionsAndProcessors) {
  for (const bool avx512 : {false, true}) {
    for (const Version version : {Version{2, 6, 3}, Version{3, 0, 0}, Version{3, 7, 2}, Version{3, 8, 0}}) {
      const Faults faults = faults_of(version, avx512);
      EXPECT_EQ(faults.batch_norm_gradient_reads_shift, version.major == 2);
      EXPECT_EQ(faults.layer_norm_gradient_reads_shift, version != (Version{3, 8, 0}));
      EXPECT_EQ(faults.lrn_gradient_is_wrong, avx512);
    }
  }
}

TEST(OnednnVersions, TheLibraryLoadedIsOfTheHeadersInterface) {
  EXPECT_EQ(library_version().major, DNNL_VERSION_MAJOR);
  EXPECT_EQ(version().substr(0, 2), std::to_string(DNNL_VERSION_MAJOR) + ".");
}

TEST(OnednnVersions, AWiderInstructionSetHasANarrowerOnes) {
  EXPECT_TRUE(has_avx512() || !has_bf16_instructions());
  EXPECT_EQ(has_avx512(), instruction_set().starts_with("avx512"));
}

TEST(OnednnVersions, ConvolutionsArePlannedInEveryWayThatTheLibraryHas) {
  using Tag = dnnl::memory::format_tag;
  constexpr auto kType = dnnl::memory::data_type::f32;
  const Convolution shape{.algorithm = dnnl::algorithm::convolution_direct,
                          .src = {{1, 16, 8, 8}, kType, Tag::nhwc},
                          .weights = {{16, 16, 3, 3}, kType, Tag::any},
                          .dst = {{1, 16, 8, 8}, kType, Tag::nhwc},
                          .strides = {1, 1},
                          .dilates = {0, 0},
                          .pad_begin = {1, 1},
                          .pad_end = {1, 1}};
  const auto found = convolutions_forward(shape, dnnl::prop_kind::forward_inference, {});
  ASSERT_GE(found.size(), 2U);
  EXPECT_STREQ(found.front().impl_info_str(),
               convolution_forward(shape, dnnl::prop_kind::forward_inference, {}).impl_info_str());
  EXPECT_STRNE(found.front().impl_info_str(), found.back().impl_info_str());
}

}  // namespace
}  // namespace bench::kernels::onednn
