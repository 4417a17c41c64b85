// Ranks on cards, against doubles of NCCL and of the CUDA runtime.
#include "kernels/ranks/nccl/nccl_ranks.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/error.h"
#include "bench/run/rank_watch.h"
#include "kernels/devices/cuda/device.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"
#include "tests/kernels/devices/fake_runtime.h"
#include "tests/kernels/ranks/fake_nccl.h"

namespace {

thread_local int sleeps_of_this_thread = 0;

}  // namespace

// In place of the C library's: std::this_thread::sleep_for calls it.
extern "C" int nanosleep(const timespec* time, timespec* left) {
  ++sleeps_of_this_thread;
  const int error = ::clock_nanosleep(CLOCK_REALTIME, 0, time, left);
  errno = error;
  return error == 0 ? 0 : -1;
}

namespace bench::kernels::nccl {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

// A rank's card and its libraries.
struct RankOnCard {
  explicit RankOnCard(RankGroup& group, const std::string& uuid = "") : control(group) {
    runtime.cards.front().uuid = uuid.empty() ? "GPU-" + std::to_string(group.rank()) : uuid;
    device = std::make_unique<cuda::CudaDevice>(cuda::testing::fake_backend(runtime), 0);
  }
  std::unique_ptr<RankGroup> connect(const std::map<std::string, std::string>& variables = {}) {
    return connect_cards(control, &nccl, "", *device, [&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  }
  CUstream_st* card_stream() const { return device->stream(); }

  RankGroup& control;
  cuda::testing::FakeRuntime runtime;
  testing::FakeNccl nccl;
  std::unique_ptr<cuda::CudaDevice> device;
};

TEST(NcclRanks, CollectivesAreQueuedOnTheCardsStream) {
  bench::testing::run_ranks(3, [](RankGroup& group) {
    RankOnCard rank(group);
    {
      const auto ranks = rank.connect();
      EXPECT_FALSE(ranks->carries_host_memory());
      std::byte data[96];
      std::byte result[96];
      ranks->queue({.kind = CollectiveKind::all_reduce, .from = data, .to = data, .bytes = 96});
      ranks->queue({.kind = CollectiveKind::all_gather, .from = data, .to = result, .bytes = 31});
      ranks->queue({.kind = CollectiveKind::send, .from = data, .bytes = 5, .peer = 1});
      EXPECT_THAT(rank.runtime.calls, Not(Contains("query"))) << "nothing waits";
      ranks->run({.kind = CollectiveKind::receive, .to = data, .bytes = 6, .peer = 2});
      EXPECT_THAT(rank.runtime.calls, Contains("query"));
    }
    std::vector<std::string> expected{fmt::format("init {} of 3 by i", group.rank()),
                                      "all_reduce 24 in place",
                                      "all_gather 31",
                                      "send 5 to 1",
                                      "receive 6 from 2",
                                      "finalize",
                                      "destroy"};
    if (group.rank() == 0) {
      expected.insert(expected.begin(), "unique_id");
    }
    EXPECT_EQ(rank.nccl.calls(), expected);
    EXPECT_THAT(rank.nccl.streams, Each(rank.card_stream()));
  });
}

// NCCL leaves it at the rank's place, a group of ranks at the start.
TEST(NcclRanks, AReduceScatterInPlaceEndsAtTheStart) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    const Buffer buffer = rank.device->allocate(64, MemoryCategory::gradients);
    rank.device->fill(buffer.data(), std::byte{1}, 32);
    rank.device->fill(buffer.data() + 32, std::byte{2}, 32);
    ranks->run(
        {.kind = CollectiveKind::reduce_scatter, .from = buffer.data(), .to = buffer.data(), .bytes = 32});
    EXPECT_THAT(rank.nccl.calls(), Contains(fmt::format("reduce_scatter 8 to {}", 32 * group.rank())));
    EXPECT_EQ(*buffer.data(), std::byte{static_cast<unsigned char>(group.rank() + 1)});
  });
}

TEST(NcclRanks, WhatIsStartedRunsOnAStreamOfItsOwnBetweenEvents) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    ranks->connect();
    rank.runtime.step_ms = 0.25;
    rank.runtime.calls.clear();
    float data[4]{};
    const Collective sum{.kind = CollectiveKind::all_reduce, .from = data, .to = data, .bytes = sizeof(data)};
    for (int step = 0; step < 2; ++step) {
      const auto first = ranks->start(sum);
      const auto second = ranks->start(sum);
      EXPECT_THAT(rank.runtime.calls, Not(Contains("query"))) << "the host goes on";
      first->wait();
      second->wait();
      ranks->finish();
      EXPECT_EQ(ranks->waited_on_device_ns(), 2 * 0.25e6) << "of this step alone";
      rank.runtime.calls.clear();
    }
    EXPECT_THAT(rank.nccl.streams, Each(Not(rank.card_stream())));
    {
      rank.runtime.calls.clear();
      const auto pending = ranks->start(sum);
      EXPECT_THAT(rank.runtime.calls,
                  ElementsAre("set_device", "record", "stream_wait", "set_device", "create_event", "record"));
      rank.runtime.calls.clear();
      pending->wait();
      EXPECT_THAT(rank.runtime.calls,
                  ElementsAre("create_event", "create_event", "record", "stream_wait", "record"));
    }
  });
}

TEST(NcclRanks, AnExchangeIsOneGroupOnTheCardsStreamBetweenEvents) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    ranks->connect();
    rank.runtime.step_ms = 0.5;
    rank.runtime.calls.clear();
    const std::size_t before = rank.nccl.calls().size();
    std::byte data[8]{};
    const std::vector<Collective> messages = {
        {.kind = CollectiveKind::send, .from = data, .bytes = 3, .peer = 1 - group.rank()},
        {.kind = CollectiveKind::receive, .to = data + 4, .bytes = 4, .peer = 1 - group.rank()}};
    ranks->exchange(messages);
    ranks->exchange({});
    std::vector<std::string> made = rank.nccl.calls();
    made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(before));
    EXPECT_THAT(made, ElementsAre("group_start", fmt::format("send 3 to {}", 1 - group.rank()),
                                  fmt::format("receive 4 from {}", 1 - group.rank()), "group_end"));
    EXPECT_THAT(rank.nccl.streams, Each(rank.card_stream()));
    EXPECT_THAT(rank.runtime.calls, Not(Contains("query"))) << "the host goes on";
    ranks->finish();
    EXPECT_EQ(ranks->waited_on_device_ns(), 0.5e6);

    rank.nccl.answer_with("send", testing::kSystemError);
    EXPECT_THROW(ranks->exchange(messages), RanksLost);
    EXPECT_EQ(rank.nccl.calls().back(), "group_end");
  });
}

TEST(NcclRanks, APartHasACommunicatorOfItsOwn) {
  bench::testing::run_ranks(3, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    ranks->connect();
    const auto part = ranks->first(2);
    ASSERT_EQ(part != nullptr, group.rank() < 2);
    if (part != nullptr) {
      float value = 0;
      part->run({.from = &value, .to = &value, .bytes = sizeof(value)});
      EXPECT_THAT(rank.nccl.calls(), Contains(fmt::format("init {} of 2 by i", group.rank())));
    }
  });
}

TEST(NcclRanks, CallsThatGoOnAreWaitedFor) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    for (const char* call : {"init", "all_reduce", "finalize"}) {
      rank.nccl.answer_with(call, result::kInProgress);
    }
    {
      const auto ranks = rank.connect();
      float value = 0;
      ranks->run({.from = &value, .to = &value, .bytes = sizeof(value)});
    }
    EXPECT_THAT(rank.nccl.calls(), IsSupersetOf({"all_reduce 1 in place", "finalize", "destroy"}));
    EXPECT_THAT(rank.nccl.calls(), Not(Contains("abort")));
  });
}

// With NCCL_COMM_BLOCKING=0 each call goes on in a thread of NCCL's. A sleep of 20 µs takes 70, and would be
// measured as the collective's latency.
TEST(NcclRanks, NoCallSleeps) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    rank.nccl.polls_in_progress = 1;
    for (const char* call : {"all_reduce", "reduce_scatter", "all_gather", "send", "receive", "group_end"}) {
      rank.nccl.answer_with(call, result::kInProgress);
    }
    const auto ranks = rank.connect();
    ranks->connect();
    const Buffer buffer = rank.device->allocate(64, MemoryCategory::gradients);
    const int before = sleeps_of_this_thread;
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
          CollectiveKind::send, CollectiveKind::receive}) {
      const Collective collective{.kind = kind, .from = buffer.data(), .to = buffer.data(), .bytes = 32};
      ranks->queue(collective);
      ranks->start(collective)->wait();
    }
    const Collective message{.kind = CollectiveKind::send, .from = buffer.data(), .bytes = 32};
    ranks->exchange({&message, 1});
    ranks->finish();
    EXPECT_EQ(sleeps_of_this_thread, before);
  });
}

std::string loss_of(RankGroup& ranks, const Collective& collective) {
  try {
    ranks.run(collective);
    return "";
  } catch (const RanksLost& error) {
    return error.what();
  }
}

TEST(NcclRanks, AFailureIsSaidInNcclsWordsAndTheCommunicatorIsAborted) {
  for (const char* call : {"init", "all_reduce"}) {
    bench::testing::run_ranks(2, [&](RankGroup& group) {
      RankOnCard rank(group);
      rank.nccl.answer_with(call, testing::kSystemError);
      {
        const auto ranks = rank.connect();
        float value = 0;
        EXPECT_THAT(loss_of(*ranks, {.from = &value, .to = &value, .bytes = sizeof(value)}),
                    AllOf(HasSubstr("failed: 2 (text of 2: said by the double)"),
                          HasSubstr(call == std::string("init") ? "ncclCommInitRank" : "ncclAllReduce")));
      }
      EXPECT_EQ(rank.nccl.calls().back(), "abort");
      EXPECT_THAT(rank.nccl.calls(), Not(Contains("destroy")));
    });
  }
}

// The other ranks do not come to the end of the communicator.
TEST(NcclRanks, AnExceptionAbortsTheCommunicator) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    try {
      const auto ranks = rank.connect();
      ranks->connect();
      throw DeviceLost("an illegal address");
    } catch (const DeviceLost&) {
      EXPECT_THAT(rank.nccl.calls(), AllOf(Contains("abort"), Not(Contains("finalize"))));
    }
  });
}

// Another rank's failure is seen while the card still waits.
TEST(NcclRanks, AFailureElsewhereIsSeenWhileTheCardWaits) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    ranks->connect();
    rank.nccl.remote_error = testing::kRemoteError;
    rank.runtime.fail("query", cuda::status::kNotReady);
    float value = 0;
    EXPECT_THAT(loss_of(*ranks, {.from = &value, .to = &value, .bytes = sizeof(value)}),
                HasSubstr("a collective of NCCL failed: 6"));
  });
}

TEST(NcclRanks, AnAbandonedCallThrows) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    ranks->connect();
    rank.nccl.hang_in("all_reduce");
    std::thread watch([&] {
      std::this_thread::sleep_for(50ms);
      ranks->abandon();
    });
    float value = 0;
    EXPECT_THAT(loss_of(*ranks, {.from = &value, .to = &value, .bytes = sizeof(value)}),
                HasSubstr("was given up"));
    watch.join();
    EXPECT_EQ(rank.nccl.calls().back(), "abort");
  });
}

// There is no handle yet that could be aborted: the watch goes on, and ends the process.
TEST(NcclRanks, RanksThatDoNotComeToConnectDoNotHoldTheWatch) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    rank.nccl.hang_in("init");
    std::thread watch([&] {
      while (rank.nccl.calls().empty() || !rank.nccl.calls().back().starts_with("init")) {
        std::this_thread::sleep_for(1ms);
      }
      ranks->abandon();
      EXPECT_TRUE(rank.nccl.calls().back().starts_with("init")) << "it returned, and nothing was aborted";
      rank.nccl.release();
    });
    float value = 0;
    EXPECT_THAT(loss_of(*ranks, {.from = &value, .to = &value, .bytes = sizeof(value)}),
                HasSubstr("was given up"));
    watch.join();
    EXPECT_EQ(rank.nccl.calls().back(), "abort");
  });
}

// The whole way: the watch says its sentence after the timeout, and the communicator is aborted.
TEST(NcclRanks, TheWatchAbortsWhatDoesNotEnd) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    rank.nccl.hang_in("all_reduce");
    std::string sentence;
    {
      WatchedRanks watched(
          rank.connect(), {{.host = "a", .process = 10}, {.host = "b"}},
          {.timeout = 100ms, .pace = 10ms, .state = process_state, .end = [&](const auto& said) {
             sentence = said;
           }});
      float value = 0;
      EXPECT_THAT(loss_of(watched, {.from = &value, .to = &value, .bytes = sizeof(value)}),
                  HasSubstr("was given up"));
    }
    EXPECT_THAT(sentence, HasSubstr("did not answer for"));
    EXPECT_THAT(rank.nccl.calls(), Contains("abort"));
  });
}

std::string refusal_of(RankOnCard& rank, const std::map<std::string, std::string>& variables = {}) {
  try {
    rank.connect(variables);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(NcclRanks, TwoRanksOnOneGpuAreRefusedUnlessAskedFor) {
  bench::testing::run_ranks(3, [](RankGroup& group) {
    const std::map<std::string, std::string> asked{{"NCCL_MULTI_RANK_GPU_ENABLE", "1"}};
    RankOnCard rank(group, group.rank() == 1 ? "GPU-b" : "GPU-a");
    EXPECT_THAT(refusal_of(rank), AllOf(HasSubstr("ranks 0 and 2 have the same GPU, GPU-a"),
                                        HasSubstr("NCCL_MULTI_RANK_GPU_ENABLE=1")));
    EXPECT_THAT(refusal_of(rank, asked),
                HasSubstr("2.30 or later takes several ranks on one GPU, and this is 2.28.9"));
    rank.nccl.version_now = 23000;
    EXPECT_EQ(refusal_of(rank, asked), "");
  });
}

TEST(NcclRanks, AnotherVersionAndAMissingLibraryAreNamedOnEveryRank) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    rank.nccl.version_now = group.rank() == 0 ? 22809 : 22602;
    EXPECT_THAT(refusal_of(rank), HasSubstr("version of nccl: rank 0 has '2.28.9', rank 1 has '2.26.2'"));
    try {
      connect_cards(group, group.rank() == 0 ? &rank.nccl : nullptr, "libnccl.so.2: no such file",
                    *rank.device, [](const char*) -> const char* { return nullptr; });
      ADD_FAILURE();
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 has not: libnccl.so.2"), HasSubstr("pip install")));
    }
  });
}

TEST(NcclRanks, TheLibrarysVersionIsKnown) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankOnCard rank(group);
    const auto ranks = rank.connect();
    EXPECT_EQ(ranks->software().at("nccl"), "2.28.9");
  });
}

TEST(NcclVersion, HasTwoForms) {
  EXPECT_EQ(version_text(2708), "2.7.8");
  EXPECT_EQ(version_text(22809), "2.28.9");
}

}  // namespace
}  // namespace bench::kernels::nccl
