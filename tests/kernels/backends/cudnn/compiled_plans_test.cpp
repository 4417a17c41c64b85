// Plans that cuDNN compiled for a card that is not here, kept and loaded by a later process: a card with
// answers of its own.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "cards.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/compiled_plans.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::kernels::testing {
namespace {

namespace fs = std::filesystem;
using bench::testing::read_file;
using bench::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

const Conv2d kConvolution{.batch = 16,
                          .in_channels = 128,
                          .height = 64,
                          .width = 64,
                          .out_channels = 256,
                          .kernel_h = 3,
                          .kernel_w = 3,
                          .pad_h = 1,
                          .pad_w = 1,
                          .bias = true,
                          .activation = Activation::relu,
                          .dtype = Dtype::fp16};
const Attention kAttention{.batch = 8, .sequence = 1024, .heads = 12, .head_size = 64, .dtype = Dtype::fp16};

class CudnnCompiledPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::int64_t version = cudnn::plan_source().version(); version / 100 != 919) {
      GTEST_SKIP() << "the double of the driver has what cuDNN 9.19 asks for, this is " << version;
    }
    if (driver_ == nullptr) {
      if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr) {
        GTEST_SKIP() << "another test of this process loaded another libcuda.so.1";
      }
      driver_ = dlopen(BENCH_MADE_UP_DRIVER, RTLD_NOW | RTLD_GLOBAL);
      ASSERT_NE(driver_, nullptr) << dlerror();
    }
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }

  // As a process does it.
  std::shared_ptr<cuda::Card> fresh() const {
    const cuda::Card& known = *card("H200").card;
    auto made =
        std::make_shared<cuda::Card>(known.compute_capability(), known.multiprocessors(), known.properties());
    made->keep<cuda::CompiledPlans>()->keep_in(folder_.path() / "plans", "H200");
    return made;
  }

  // Builds a graph's first plan that is compiled, and keeps it as after its run. Returns its kernel.
  template <class Graph>
  static std::string build_and_keep(const Graph& graph, cuda::Card& card) {
    const auto plans = cudnn::plans_for(graph, card);
    const auto compiled = std::ranges::find(plans->list(), true, &cudnn::Plan::compiles);
    if (compiled == plans->list().end()) {
      throw std::runtime_error("cuDNN lists no plan that is compiled");
    }
    const auto plan = static_cast<std::size_t>(compiled - plans->list().begin());
    if (!plans->build(plan)) {
      throw std::runtime_error(plans->last_refusal());
    }
    const auto kernel = reinterpret_cast<const char* (*)()>(dlsym(driver_, "made_up_driver_last_kernel"));
    plans->keep(plan);
    return kernel();
  }

  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_.path() / "plans"), fs::directory_iterator());
  }
  fs::path only_file() const { return fs::directory_iterator(folder_.path() / "plans")->path(); }
  // What is kept, with other names for its kernels, or another text.
  void change(const std::string& text) const {
    const std::string content = read_file(only_file());
    const auto heading = nlohmann::json::parse(content.substr(0, content.find('\n')));
    std::string changed = text.empty() ? content.substr(content.find('\n') + 1) : text;
    for (std::size_t at = changed.find(kCompiled); at != std::string::npos; at = changed.find(kCompiled)) {
      changed.replace(at, kCompiled.size(), kLoaded);
    }
    fresh()->keep<cuda::CompiledPlans>()->put(heading.at("work"), heading.at("plan"), changed);
  }

  template <class Graph>
  void expect_loaded(const Graph& graph) const {
    EXPECT_THAT(build_and_keep(graph, *fresh()), HasSubstr(kCompiled));
    ASSERT_EQ(files(), 1);
    change("");
    EXPECT_THAT(build_and_keep(graph, *fresh()), HasSubstr(kLoaded)) << "it was compiled again";
    EXPECT_THAT(read_file(only_file()), HasSubstr(kLoaded)) << "the next process has to load it too";
    for (const std::string& damage : {std::string("{}"), std::string("no JSON"), std::string(1000, '{')}) {
      change(damage);
      EXPECT_THAT(build_and_keep(graph, *fresh()), HasSubstr(kCompiled)) << damage;
      EXPECT_THAT(read_file(only_file()), HasSubstr(kCompiled)) << damage;
    }
    EXPECT_EQ(files(), 1);
  }

  inline static void* driver_ = nullptr;
  inline static const std::string kCompiled = "cudnn_generated";
  inline static const std::string kLoaded = "cudnn_reclaimed";
  TemporaryFolder folder_;
};

TEST_F(CudnnCompiledPlans, OfAConvolutionAreLoaded) {
  expect_loaded(kConvolution);
}

TEST_F(CudnnCompiledPlans, OfAttentionAreLoaded) {
  expect_loaded(kAttention);
}

// Their texts are the same.
TEST_F(CudnnCompiledPlans, OfAnotherGraphAreNot) {
  build_and_keep(kAttention, *fresh());
  change("");
  Attention scaled = kAttention;
  scaled.packed = false;
  ASSERT_EQ(cudnn::described(scaled), cudnn::described(kAttention));
  EXPECT_THAT(build_and_keep(scaled, *fresh()), Not(HasSubstr(kLoaded)));
  EXPECT_EQ(files(), 2);
}

}  // namespace
}  // namespace bench::kernels::testing
