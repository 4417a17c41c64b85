// The order of passes over micro-batches, without a device.
#include "kernels/networks/passes/pipeline.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;

constexpr auto kForward = PassKind::forward;
constexpr auto kBackward = PassKind::backward;

TEST(PipelinePasses, FillThenAlternateThenEmpty) {
  EXPECT_THAT(pipeline_passes(0, 2, 3),
              ElementsAre(PipelinePass{kForward, 0}, PipelinePass{kForward, 1}, PipelinePass{kBackward, 0},
                          PipelinePass{kForward, 2}, PipelinePass{kBackward, 1}, PipelinePass{kBackward, 2}));
  EXPECT_THAT(pipeline_passes(1, 2, 2), ElementsAre(PipelinePass{kForward, 0}, PipelinePass{kBackward, 0},
                                                    PipelinePass{kForward, 1}, PipelinePass{kBackward, 1}));
  EXPECT_THAT(pipeline_passes(0, 4, 1), ElementsAre(PipelinePass{kForward, 0}, PipelinePass{kBackward, 0}));
}

void for_each_size(const std::function<void(int stages, std::int64_t micro_batches)>& check) {
  for (int stages = 1; stages <= 8; ++stages) {
    for (std::int64_t micro_batches = 1; micro_batches <= 16; ++micro_batches) {
      SCOPED_TRACE(::testing::Message() << stages << " stages, micro-batches: " << micro_batches);
      check(stages, micro_batches);
    }
  }
}

TEST(PipelinePasses, HaveEachMicroBatchOnceEachWayInOrderAndFewInFlight) {
  for_each_size([](int stages, std::int64_t micro_batches) {
    for (int stage = 0; stage < stages; ++stage) {
      const auto passes = pipeline_passes(stage, stages, micro_batches);
      ASSERT_EQ(static_cast<std::int64_t>(passes.size()), 2 * micro_batches);
      std::map<PassKind, std::int64_t> next;
      std::int64_t most = 0;
      for (const PipelinePass& pass : passes) {
        EXPECT_EQ(pass.micro_batch, next[pass.kind]++);
        EXPECT_LE(next[kBackward], next[kForward]);
        most = std::max(most, next[kForward] - next[kBackward]);
      }
      EXPECT_EQ(next[kForward], next[kBackward]);
      EXPECT_EQ(most, most_in_flight(stage, stages, micro_batches));
      EXPECT_LE(most, stages - stage);
    }
  });
}

// A stage of the simulation, whose every pass takes a unit of time.
struct SimulatedStage {
  std::vector<PipelinePass> passes;
  std::size_t next = 0;
  bool waits_for_send = false;
};

// Every pass receives, then waits until the pass before has handed on what it sent, then computes. A message
// is handed on when its receiver asks for it: no message is kept on the way. Returns the units of time; none
// where nothing goes on.
std::optional<int> simulated_time(int stages, std::int64_t micro_batches) {
  std::vector<SimulatedStage> all;
  for (int stage = 0; stage < stages; ++stage) {
    all.push_back({pipeline_passes(stage, stages, micro_batches)});
  }
  std::map<std::pair<std::size_t, std::size_t>, std::deque<PipelinePass>> offered;  // by sender, receiver
  std::vector<bool> received(all.size(), false);  // what the next pass reads
  const std::size_t last = all.size() - 1;
  for (int time = 0;; ++time) {
    if (std::ranges::all_of(all, [](const auto& stage) { return stage.next == stage.passes.size(); })) {
      return time;
    }
    for (bool more = true; more;) {  // messages take no time
      more = false;
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (all[rank].next == all[rank].passes.size() || received[rank]) {
          continue;
        }
        const PipelinePass& pass = all[rank].passes[all[rank].next];
        const bool forward = pass.kind == kForward;
        const bool reads_nothing = forward ? rank == 0 : rank == last;
        const std::size_t from = forward ? rank - 1 : rank + 1;
        if (!reads_nothing) {
          std::deque<PipelinePass>& messages = offered[{from, rank}];
          if (messages.empty()) {
            continue;
          }
          EXPECT_EQ(messages.front(), pass);
          messages.pop_front();
          all[from].waits_for_send = false;
        }
        received[rank] = more = true;
      }
    }
    bool computes = false;
    std::vector<std::size_t> done;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (received[rank] && !all[rank].waits_for_send) {
        done.push_back(rank);
        computes = true;
      }
    }
    if (!computes) {
      return std::nullopt;
    }
    for (const std::size_t rank : done) {
      const PipelinePass pass = all[rank].passes[all[rank].next++];
      received[rank] = false;
      const bool forward = pass.kind == kForward;
      if (forward ? rank != last : rank != 0) {
        offered[{rank, forward ? rank + 1 : rank - 1}].push_back(pass);
        all[rank].waits_for_send = true;
      }
    }
  }
}

// Each stage works for 2m units and is idle for 2(s - 1), as with any order of equal stages that fills and
// empties once.
TEST(PipelinePasses, NeverWaitForEachOtherAndAreIdleOnlyWhileThePipelineFillsAndEmpties) {
  for_each_size([](int stages, std::int64_t micro_batches) {
    const auto time = simulated_time(stages, micro_batches);
    ASSERT_TRUE(time.has_value());
    EXPECT_EQ(*time, 2 * (micro_batches + stages - 1));
  });
}

}  // namespace
}  // namespace bench::kernels
