// The collectives sweep: its definitions, its points over a group of threads, and its findings.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/collectives/answer.h"
#include "sweeps/collectives/exchange.h"
#include "sweeps/collectives/operation.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"
#include "tests/sweeps/ranks_device.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;

const SweepType& collectives_type() {
  return *registry<SweepType>().find("collectives");
}

SweepRequest collectives_request(const std::map<std::string, std::string>& changes = {}) {
  SweepRequest request(steady_clock());
  for (const CommandOption& option : collectives_type().options) {
    request.sweep_options[option.name] = option.default_value;
  }
  for (const auto& [name, value] : changes) {
    request.sweep_options[name] = value;
  }
  return request;
}

// Changes one value of what every all_reduce gives.
class WrongSums final : public bench::testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void run(const Collective& collective) override {
    PassingRanks::run(collective);
    if (collective.kind == CollectiveKind::all_reduce && rank() == 1) {
      static_cast<float*>(collective.to)[3] += 1;
    }
  }
};

TEST(CollectiveOperation, BusBandwidthIsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Operation::all_reduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::all_reduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::reduce_scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::all_gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Operation::send_receive, 2), 1);
}

TEST(CollectiveOperation, SizesAreSharedEvenly) {
  EXPECT_EQ(shared_bytes(Operation::all_reduce, 1, 3), 4);
  EXPECT_EQ(shared_bytes(Operation::all_gather, 1024, 3), 1032);
  EXPECT_EQ(shared_bytes(Operation::reduce_scatter, 1024, 4), 1024);
}

TEST(CollectiveOperation, SumsAreExactUpTo16000Ranks) {
  for (const int ranks : {1, 2, 7, 8, 9, 64, 1024, 16'000}) {
    for (const std::int64_t place : {0, 1, 1019, 1020, 1021, 5000}) {
      float sum = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        sum += given_value(rank, place, 3);
      }
      EXPECT_EQ(sum, summed_value(ranks, place, 3)) << ranks << " " << place;
    }
  }
}

// The whole way of each operation: orders, buffers, answers, times.
TEST(RankTeam, EveryOperationGivesRightAnswersOverThreads) {
  for (const int size : {1, 2, 3, 8, 64}) {
    std::vector<CollectiveParams> all;
    for (const Operation operation : kOperations) {
      if (operation != Operation::send_receive || size > 1) {
        all.push_back({.operation = operation,
                       .bytes = shared_bytes(operation, 1000, size),
                       .ranks = size,
                       .peer = size - 1});
      }
    }
    bench::testing::run_ranks(size, [&](RankGroup& group) {
      RanksDevice device;
      RankTeam team(group, {.plan = [](RankGroup&, std::size_t) { return RankNeed{}; },
                            .make =
                                [&](RankGroup& ranks, std::size_t point) {
                                  return std::make_unique<Exchange>(all[point], 9, ranks, device,
                                                                    steady_clock());
                                }});
      if (group.rank() > 0) {
        team.serve();
        EXPECT_EQ(device.memory().live().total(), 0);
        return;
      }
      for (std::size_t point = 0; point < all.size(); ++point) {
        const Operation operation = all[point].operation;
        std::int64_t number = 0;
        team.prepare(point, number);
        EXPECT_THAT(team.verify(number), Each(RankAnswer{})) << name_of(operation) << size;
        const std::vector<RankAnswer> ns = team.run(number, 3);
        for (int rank = 0; rank < size; ++rank) {
          const bool part = operation != Operation::send_receive || rank == 0 || rank == size - 1;
          EXPECT_EQ(ns[static_cast<std::size_t>(rank)].front() > 0, part) << name_of(operation) << rank;
        }
        team.release(number);
      }
    });
  }
}

// As the program does: the first rank runs the sweep, the others serve.
TEST(CollectivesSweep, PointsAreVerifiedAndHaveEveryRanksTimes) {
  bench::testing::run_ranks(3, [](RankGroup& group) {
    RanksDevice device;
    SweepRequest request = collectives_request({{"sizes", "1KiB"}});
    request.ranks = &group;
    request.places = places_of(group);
    if (group.rank() > 0) {
      return collectives_type().serve(request, device);
    }
    const auto sweep = collectives_type().make(request, device);
    EXPECT_EQ(sweep->plan().points.size(), 4U);
    for (const SweepPoint& point : sweep->plan().points) {
      const auto workload = point.workload->make(device);
      EXPECT_TRUE(workload->verify().passed) << point.name;
      EXPECT_GT(workload->timed_step(device), 0);
      EXPECT_EQ(workload->note()->to_json().at("rank_ns").size(), 3U);
      EXPECT_EQ(device.memory().live().total(), point.workload->plan(device).peak) << point.name;
    }
  });
}

TEST(CollectivesSweep, AWrongSumNamesItsRank) {
  bench::testing::run_ranks(2, [](RankGroup& right) {
    WrongSums group(right);
    RanksDevice device;
    SweepRequest request = collectives_request({{"sizes", "1KiB"}, {"operations", "all-reduce"}});
    request.ranks = &group;
    request.places = places_of(group);
    if (group.rank() > 0) {
      return collectives_type().serve(request, device);
    }
    const auto sweep = collectives_type().make(request, device);
    const Verification wrong = sweep->plan().points.front().workload->make(device)->verify();
    EXPECT_TRUE(wrong.failed());
    EXPECT_THAT(wrong.detail, ::testing::HasSubstr("1 of rank 1"));
  });
}

TEST(CollectivesSweep, WrongOptionsAreRefusedOnEveryRank) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RanksDevice device;
    SweepRequest request = collectives_request({{"operations", "all-to-all"}});
    request.ranks = &group;
    request.places = places_of(group);
    if (group.rank() > 0) {
      EXPECT_THROW(collectives_type().serve(request, device), UsageError);
    } else {
      EXPECT_THROW(collectives_type().make(request, device), UsageError);
    }
  });
}

TEST(CollectivesPlan, RanksOnOneHostAndOnSeveralAreToldApart) {
  RanksDevice device;
  SweepRequest request = collectives_request({{"sizes", "1KiB,1025B"}});
  request.places = {{.host = "a"}, {.host = "a"}, {.host = "b"}, {.host = "b"}};
  const auto sweep = collectives_type().make(request, device);
  std::set<std::string> names;
  for (const SweepPoint& point : sweep->plan().points) {
    EXPECT_TRUE(names.insert(point.name).second) << point.name;
    EXPECT_EQ(point.series, point.name) << "a size's time tells nothing of a larger one's";
    if (point.params.at("operation") == "send-receive") {
      EXPECT_EQ(point.params.at("peer"), point.params.at("hosts") == 1 ? 1 : 2);
    } else {
      EXPECT_EQ(point.params.at("ranks"), 4);
    }
  }
  EXPECT_THAT(names, AllOf(Contains("collectives/all-reduce/hosts:2/ranks:4/bytes:1024"),
                           Contains("collectives/all-gather/hosts:2/ranks:4/bytes:1040"),
                           Contains("collectives/send-receive/ranks:2/bytes:1024"),
                           Contains("collectives/send-receive/hosts:2/ranks:2/bytes:1028")));
  collectives_type().complete(request);
  EXPECT_EQ(request.label, "4-ranks");
}

// As NCCL: what is queued runs when the rank waits for it.
class QueuedRanks final : public bench::testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void queue(const Collective& collective) override { queued_.push_back(collective); }
  void finish() override {
    for (const Collective& collective : queued_) {
      run(collective);
    }
    queued_.clear();
  }

 private:
  std::vector<Collective> queued_;
};

// Whose memory is not the host's.
class RanksCard final : public testing::PlainDevice {
 public:
  void download(void* to, const void* from, std::int64_t bytes) override {
    ++downloads;
    PlainDevice::download(to, from, bytes);
  }
  int downloads = 0;
};

TEST(RankTeam, CardsAreFilledAndComparedByCopies) {
  for (const Operation operation : kOperations) {
    const CollectiveParams params{
        .operation = operation, .bytes = shared_bytes(operation, (5 << 20) / 2, 2), .ranks = 2, .peer = 1};
    bench::testing::run_ranks(2, [&](RankGroup& group) {
      QueuedRanks ranks(group);
      RanksCard card;
      Exchange exchange(params, 9, ranks, card, steady_clock());
      EXPECT_GT(card.uploads, 1) << "in blocks";
      EXPECT_EQ(exchange.verify(), RankAnswer{}) << name_of(operation);
      EXPECT_GT(card.downloads, 1);
      EXPECT_GT(exchange.run(2).front(), 0);
    });
  }
}

TEST(CollectivesPlan, AGpuThatIsNotHereIsRefused) {
  class Modelled final : public testing::PlainDevice {
   public:
    const GpuModel* model() const override { return reinterpret_cast<const GpuModel*>(this); }
  } modelled;
  try {
    collectives_type().make(collectives_request(), modelled);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

TEST(RankTeam, APointThatRanksCannotRunIsUnsupported) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankTeam team(group, {.plan = [](RankGroup&, std::size_t) { return RankNeed{}; },
                          .make = [](RankGroup&, std::size_t) -> std::unique_ptr<RankPart> {
                            throw Unsupported("not on this card");
                          }});
    if (group.rank() > 0) {
      return team.serve();
    }
    std::int64_t number = 0;
    try {
      team.prepare(0, number);
      ADD_FAILURE();
    } catch (const Unsupported& error) {
      EXPECT_STREQ(error.what(), "not on this card");
    }
  });
}

// Alone, or with others that wait for it: in the second case they would wait forever.
class FailingPart final : public RankPart {
 public:
  FailingPart(RankGroup& ranks, bool meets_others) : ranks_(ranks), meets_others_(meets_others) {}
  RankAnswer prepared() override { return {}; }
  RankAnswer run(std::int64_t /*calls*/) override { return {}; }
  RankAnswer verify() override {
    if (ranks_.rank() == 1) {
      throw OutOfMemory("3 B asked for", 3);
    }
    return {};
  }
  bool meets_others() const override { return meets_others_; }

 private:
  RankGroup& ranks_;
  bool meets_others_;
};

// Notes why a rank ends alone, and ends its thread.
class EndedAlone final : public bench::testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void end_alone(const std::string& why) override {
    reason = why;
    RankGroup::end_alone(why);
  }
  std::string reason;
};

RankTeam::Parts failing_parts(bool meets_others) {
  return {.plan = [](RankGroup&, std::size_t) { return RankNeed{}; },
          .make = [=](RankGroup& ranks, std::size_t) -> std::unique_ptr<RankPart> {
            return std::make_unique<FailingPart>(ranks, meets_others);
          }};
}

TEST(RankTeam, ARankThatFailsByItselfIsARefusalAndTheTeamGoesOn) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RankTeam team(group, failing_parts(false));
    if (group.rank() > 0) {
      return team.serve();
    }
    std::int64_t number = 0;
    team.prepare(0, number);
    EXPECT_THROW(team.verify(number), OutOfMemory);
    EXPECT_EQ(team.run(number, 1).size(), 2U);
  });
}

TEST(RankTeam, ARankThatFailsWithinAStepEndsAlone) {
  class Gone final : public bench::testing::PassingRanks {
   public:
    using PassingRanks::PassingRanks;
    void gather(const void* own, void* all, std::int64_t bytes) override {
      if (++gathers >= 6) {  // the answers of the verification: rank 1 gives none
        throw RanksLost("rank 1 is gone");
      }
      PassingRanks::gather(own, all, bytes);
    }
    int gathers = 0;
  };
  bench::testing::run_ranks(2, [](RankGroup& group) {
    if (group.rank() > 0) {
      EndedAlone ranks(group);
      RankTeam team(ranks, failing_parts(true));
      EXPECT_THROW(team.serve(), RanksLost);
      EXPECT_EQ(ranks.reason, "it ran out of memory: 3 B asked for");
      return;
    }
    Gone ranks(group);
    RankTeam team(ranks, failing_parts(true));
    std::int64_t number = 0;
    team.prepare(0, number);
    EXPECT_THROW(team.verify(number), RanksLost);
    EXPECT_EQ(ranks.gathers, 6);
  });
}

TEST(RankTeam, APointThatOneRankHasNoMemoryForIsMadeOnNone) {
  bench::testing::run_ranks(3, [](RankGroup& group) {
    RanksDevice device;
    int made = 0;
    RankTeam team(group, {.plan =
                              [&](RankGroup& ranks, std::size_t) {
                                return RankNeed{.planned = 100, .cap = ranks.rank() == 2 ? 99 : 100};
                              },
                          .make = [&](RankGroup&, std::size_t) -> std::unique_ptr<RankPart> {
                            ++made;
                            return nullptr;
                          }});
    if (group.rank() > 0) {
      team.serve();
    } else {
      std::int64_t number = 0;
      try {
        team.prepare(0, number);
        ADD_FAILURE();
      } catch (const OutOfMemory& error) {
        EXPECT_STREQ(error.what(), "rank 2 needs 100 B (predicted), its memory cap is 99 B");
      }
    }
    EXPECT_EQ(made, 0);
  });
}

// 5 µs, and 2 GB/s.
ResultDocument made_up_collectives(int ranks) {
  ResultDocument document;
  for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 24; bytes *= 4) {
    const CollectiveParams params{.operation = Operation::all_reduce, .bytes = bytes, .ranks = ranks};
    Point point;
    point.name = fmt::format("p{}", bytes);
    point.params = params.to_json();
    point.stats.median_ns = 5000 + static_cast<double>(bytes) / 2;
    point.stats.ci95_ns = Interval{0.99 * point.stats.median_ns, 1.01 * point.stats.median_ns};
    document.points.push_back(point);
  }
  return document;
}

TEST(CollectivesFindings, LatencyAndBusBandwidthAreFitted) {
  const auto findings =
      collectives_findings(made_up_collectives(4), {.hosts = {"a", "a", "a", "a"}, .near = 4, .cores = 2});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].name, "model/all-reduce");
  EXPECT_NEAR(findings[0].value.value(), 1.5 * 2e9, 1e6);
  EXPECT_NEAR(findings[0].details.at("latency_ns").get<double>(), 5000, 1);
  EXPECT_NEAR(findings[0].details.at("algorithm_bytes_per_s").get<double>(), 2e9, 1e6);
  EXPECT_NEAR(findings[0].details.at("half_bytes").get<double>(), 1e4, 10);
  expect_words(findings[0].claim);
  expect_words(findings[1].claim);
  EXPECT_THAT(findings, Each(::testing::Field(&Finding::headline, ::testing::Gt(0))));
  expect_words(
      collectives_findings(made_up_collectives(2), {.hosts = {"a", "b"}, .near = 1, .cores = 2})[1].claim);
}

TEST(CollectivesFindings, CopeWithNoPointsAndFew) {
  ResultDocument document = made_up_collectives(2);
  document.points.resize(2);
  const auto findings = collectives_findings(document, {.hosts = {"a", "a"}, .near = 2, .cores = 2});
  ASSERT_EQ(findings.size(), 2U) << "two sizes tell no latency";
  EXPECT_EQ(findings[0].name, "largest_size/all-reduce");
  EXPECT_NEAR(
      findings[0].value.value(),
      findings[0].details.at("bytes").get<double>() / findings[0].details.at("ns").get<double>() * 1e9, 1e3)
      << "two ranks: the bus carries the bytes once";
  EXPECT_EQ(collectives_findings({}, {.hosts = {"a", "a"}, .near = 2, .cores = 2}).size(), 1U);
  EXPECT_EQ(collectives_tables(document).size(), 1U);
  EXPECT_TRUE(collectives_tables({}).empty());
}

}  // namespace
}  // namespace bench::sweeps
