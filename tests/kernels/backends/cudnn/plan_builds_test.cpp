// Builds cuDNN's plans for cards that are not here, as an operation does before its first run: one that is
// listed and cannot be built fails here, not on the card. Plans whose kernels are compiled at run time are
// not built: that takes the card.
//
// For all cards in `make plans`; with BENCH_FEW_PLANS=1, as in `make test`, for the oldest and the newest.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absent_card.h"
#include "bench/error.h"
#include "cards.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"
#include "network_convolutions.h"
#include "tests/kernels/operations/conv2d_shapes.h"
#include "tests/kernels/operations/product_shapes.h"

namespace bench::kernels::testing {
namespace {

constexpr std::size_t kMostBuilt = 8;  // of a convolution, as operations try
constexpr std::array kEveryDirection{Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};

// Builds what is fused and the convolution alone, each description once.
class Builder {
 public:
  explicit Builder(cuda::Card& card) : card_(card) {}

  void build(const Conv2d& spec) {
    for (const Conv2d& convolution : {cudnn::fused(spec), cudnn::bare(spec)}) {
      if (seen_.insert(convolution).second) {
        build_candidates(convolution);
      }
    }
  }
  int built() const { return built_; }

 private:
  void build_candidates(const Conv2d& convolution) {
    std::shared_ptr<cudnn::Plans> plans;
    try {
      plans = cudnn::plans_for(convolution, card_);
    } catch (const Unsupported&) {  // of what is fused: the convolution alone must be there
      EXPECT_TRUE(cudnn::fuses(convolution)) << cudnn::described(convolution);
      return;
    }
    const cudnn::Candidates candidates =
        cudnn::candidates_of(plans, convolution.dtype, cudnn::workspace_cap(convolution), kMostBuilt);
    for (const cudnn::Candidate& candidate : candidates.all) {
      if (plans->list()[candidate.plan].compiles) {
        continue;
      }
      const std::optional<std::int64_t> workspace = plans->build(candidate.plan);
      EXPECT_TRUE(workspace) << cudnn::described(convolution) << ", " << plans->name(candidate.plan) << ": "
                             << plans->last_refusal();
      EXPECT_LE(workspace.value_or(0), candidates.workspace)
          << cudnn::described(convolution) << ", " << plans->name(candidate.plan);
      built_ += workspace ? 1 : 0;
    }
  }

  cuda::Card& card_;
  std::set<Conv2d> seen_;
  int built_ = 0;
};

class CudnnPlanBuilds : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }

  // For each card and each dtype that it computes in.
  template <class Visit>
  static void for_each_card(Visit visit) {
    for (const Card& card : cards()) {
      if (few_plans() && card.name != "T4" && card.name != "H200") {
        continue;
      }
      Builder builder(*card.card);
      AbsentCard device(card.name, card.card);
      for (const Dtype dtype : kAllDtypes) {
        if (!device.unsupported(dtype)) {
          SCOPED_TRACE(card.name);
          visit(builder, device, dtype);
        }
      }
      EXPECT_GT(builder.built(), 100) << card.name << ": this proves little";
    }
  }

  // As a test on a card makes it.
  template <class Spec>
  static void expect_planned(const Spec& spec, Device& device, const char* what) {
    try {
      make_operation(spec, device, "cudnn");
    } catch (const Unsupported& error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
  }
};

TEST_F(CudnnPlanBuilds, SucceedForEveryConvolutionOfANetwork) {
  for_each_card([](Builder& builder, Device&, Dtype dtype) {
    for (const Conv2d& spec : network_convolutions(16, dtype)) {
      builder.build(spec);
    }
  });
}

// What tests/kernels/gpu/libraries_test.cpp runs of a shape.
std::vector<Conv2d> variants_of(Conv2d spec, Dtype dtype) {
  std::vector<Conv2d> all;
  spec.dtype = dtype;
  for (const bool training : {false, true}) {
    spec.training = training;
    for (const Direction direction : kEveryDirection) {
      spec.direction = direction;
      spec.bias = false;
      all.push_back(spec);
      spec.bias = direction != Direction::backward_data;
      all.push_back(spec);
    }
  }
  spec.direction = Direction::forward;
  spec.training = false;
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu, Activation::gelu}) {
    spec.activation = activation;
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        spec.bias = bias;
        spec.residual = residual;
        all.push_back(spec);
      }
    }
  }
  return all;
}

TEST_F(CudnnPlanBuilds, SucceedForTheShapesOfTheGpuTests) {
  for_each_card([](Builder& builder, Device& device, Dtype dtype) {
    for (const Conv2dShape& shape : conv2d_shapes()) {
      for (const Conv2d& spec : variants_of(shape.spec, dtype)) {
        expect_planned(spec, device, shape.name);
        builder.build(spec);
      }
    }
  });
}

TEST_F(CudnnPlanBuilds, SucceedForTheTransposedConvolutionsOfTheGpuTests) {
  for_each_card([](Builder& builder, Device& device, Dtype dtype) {
    for (const ConvTransposeShape& s : kConvTransposeShapes) {
      for (const Direction direction : kEveryDirection) {
        const ConvTranspose spec = conv_transpose_of(s, Layout::nhwc, dtype, direction, true);
        expect_planned(spec, device, "transposed");
        builder.build(exchanged_convolution(spec));
      }
    }
  });
}

}  // namespace
}  // namespace bench::kernels::testing
