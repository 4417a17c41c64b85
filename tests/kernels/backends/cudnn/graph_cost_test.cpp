// What planning costs: sweeps are counted in graphs (tests/planning), and this is a graph's time.
#include "graph_cost.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bench/error.h"
#include "cards.h"
#include "kernels/backends/cudnn/plans.h"
#include "network_convolutions.h"

namespace bench::kernels::testing {
namespace {

// Of this process: other programs do not count.
double processor_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

// Processor time to list a graph's plans for an H200: the cheapest of several passes over the same graphs,
// for a busy machine makes some dearer, none cheaper.
template <class Graph, class List>
double least_ns(const std::vector<Graph>& graphs, const List& list) {
  constexpr int kPasses = 3;
  double least = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass <= kPasses; ++pass) {  // the first loads cuDNN's libraries
    const double before = processor_ns();
    for (const Graph& graph : graphs) {
      try {
        list(graph, *card("H200").card);  // asked anew: the card keeps no answer
      } catch (const Unsupported&) {
        // A refusal costs as well.
      }
    }
    const double taken = (processor_ns() - before) / static_cast<double>(graphs.size());
    least = pass == 0 ? least : std::min(least, taken);
  }
  return least;
}

class CudnnGraphs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }
};

TEST_F(CudnnGraphs, TakeNoMoreOfTheProcessorThanSweepsAreCountedWith) {
  constexpr std::size_t kEvery = 12;
  std::vector<Conv2d> graphs;
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    const std::vector<Conv2d> all = network_convolutions(64, dtype);
    for (std::size_t i = 0; i < all.size(); i += kEvery) {
      graphs.push_back(cudnn::fused(all[i]));
    }
  }
  ASSERT_GE(graphs.size(), 20U);
  const double least = least_ns(graphs, cudnn::plan_source().plans);
  RecordProperty("graph_us", static_cast<int>(least / 1e3));
  EXPECT_LE(least, kGraphNs);
}

TEST_F(CudnnGraphs, OfAttentionTakeNoMoreThanSweepsAreCountedWith) {
  if (!has_driver_library()) {
    GTEST_SKIP() << "the toolkit has no stub of libcuda.so.1: " << BENCH_CUDA_DRIVER_STUB;
  }
  std::vector<Attention> graphs;
  for (const std::int64_t batch : {1, 8, 64}) {
    for (Attention spec : kAttentionPasses) {
      spec.batch = batch;
      spec.sequence = 1024;
      spec.heads = 12;
      spec.head_size = 64;
      spec.dtype = Dtype::fp16;
      graphs.push_back(spec);
    }
  }
  const double least = least_ns(graphs, cudnn::plan_source().attention_plans);
  RecordProperty("attention_us", static_cast<int>(least / 1e3));
  EXPECT_LE(least, kAttentionNs);
}

}  // namespace
}  // namespace bench::kernels::testing
