// Ranks that meet over TCP: on threads, each with a connection as a process would have one.
#include "kernels/ranks/tcp/rendezvous.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/error.h"
#include "bench/run/socket.h"

namespace bench::kernels {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// One that is free: nobody else is given it meanwhile.
int next_port() {
  static std::atomic<int> last = 20'000 + static_cast<int>(::getpid() % 10'000);
  for (;;) {
    const int port = ++last;
    if (SocketAddress("127.0.0.1", port).listen()) {
      return port;
    }
  }
}

Rendezvous place_at(int port, int rank, int size) {
  return {.address = "127.0.0.1", .port = port, .run = "test", .rank = rank, .size = size, .timeout = 20s};
}

// What each rank's thread threw; "" where it threw nothing.
std::vector<std::string> errors_of(const std::vector<Rendezvous>& ranks,
                                   const std::function<void(RankGroup& group)>& body) {
  std::vector<std::string> errors(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        body(*meet(ranks[i]));
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return errors;
}

void run_over_tcp(int size, const std::function<void(RankGroup& group)>& body) {
  const int port = next_port();
  std::vector<Rendezvous> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.push_back(place_at(port, rank, size));
  }
  for (const std::string& error : errors_of(ranks, body)) {
    EXPECT_EQ(error, "");
  }
}

TEST(Rendezvous, RanksHaveTextsAndBarriersOfAll) {
  for (const int size : {1, 2, 3, 8}) {
    std::atomic<int> before = 0;
    run_over_tcp(size, [&](RankGroup& group) {
      EXPECT_EQ(group.size(), size);
      EXPECT_FALSE(group.carries_host_memory());
      const std::string long_text(100'000, static_cast<char>('a' + group.rank()));
      const std::vector<std::string> texts = texts_of(group, long_text);
      ASSERT_EQ(texts.size(), static_cast<std::size_t>(size));
      EXPECT_EQ(texts.back(), std::string(100'000, static_cast<char>('a' + size - 1)));
      EXPECT_EQ(places_of(group).back().process, ::getpid());
      ++before;
      group.barrier();
      EXPECT_EQ(before, size);
    });
  }
}

TEST(Rendezvous, ThePartsOfAGroupAreGroups) {
  run_over_tcp(4, [](RankGroup& group) {
    const auto part = group.first(3);
    ASSERT_EQ(part != nullptr, group.rank() < 3);
    if (part != nullptr) {
      EXPECT_EQ(texts_of(*part, std::to_string(group.rank())).size(), 3U);
    }
    EXPECT_THAT(texts_of(group, std::to_string(group.rank())), ElementsAre("0", "1", "2", "3"));
  });
}

TEST(Rendezvous, ARankThatEndsIsNamed) {
  const int port = next_port();
  const std::vector<std::string> errors =
      errors_of({place_at(port, 0, 3), place_at(port, 1, 3), place_at(port, 2, 3)}, [](RankGroup& group) {
        group.barrier();
        if (group.rank() != 2) {
          group.barrier();
        }
      });
  EXPECT_THAT(errors, ElementsAre("rank 2 closed its connection", "rank 0 closed its connection", ""));
}

TEST(Rendezvous, APortInUseIsNamedByTheFirstRank) {
  const int port = next_port();
  const Socket other = SocketAddress("127.0.0.1", port).listen();
  ASSERT_TRUE(other);
  EXPECT_THAT(errors_of({place_at(port, 0, 2)}, [](RankGroup&) {}).front(),
              AllOf(HasSubstr("MASTER_PORT: " + std::to_string(port)), HasSubstr("another port")));
}

TEST(Rendezvous, RanksThatDoNotComeAreNamed) {
  const int port = next_port();
  Rendezvous first = place_at(port, 0, 4);
  first.timeout = 600ms;
  const std::vector<std::string> errors = errors_of({first, place_at(port, 2, 4)}, [](RankGroup&) {});
  EXPECT_THAT(errors[0], HasSubstr("ranks 1, 3 of 4 did not come"));
  EXPECT_THAT(errors[1], HasSubstr("ended before all ranks had come"));
}

TEST(Rendezvous, AFirstRankThatIsNotThereIsUnreachable) {
  Rendezvous second = place_at(next_port(), 1, 2);
  second.timeout = 300ms;
  EXPECT_THROW(meet(second), FirstRankUnreachable);
}

TEST(Rendezvous, ARankThatComesTwiceIsNamed) {
  const int port = next_port();
  const std::vector<std::string> errors =
      errors_of({place_at(port, 0, 3), place_at(port, 1, 3), place_at(port, 1, 3)}, [](RankGroup&) {});
  EXPECT_THAT(errors[0], HasSubstr("rank 1 came to 127.0.0.1:" + std::to_string(port) + " twice"));
  EXPECT_NE(errors[1], "");
  EXPECT_NE(errors[2],
            "");  // which of the two is refused at once, and which when the first rank ends, is open
}

// Of another run, of no run at all, and one that says nothing.
TEST(Rendezvous, StrangersDoNotKeepRanksFromMeeting) {
  const int port = next_port();
  std::optional<std::string> refusal;
  std::thread stranger([&] {
    Rendezvous other = place_at(port, 1, 2);
    other.run = "another";
    refusal = errors_of({other}, [](RankGroup&) {}).front();
    const SocketAddress address("127.0.0.1", port);
    const Socket garbage = address.connect(1s);
    const std::string text(200, 'G');
    garbage.send(text.data(), text.size());
    const Socket silent = address.connect(1s);
    const std::vector<std::string> errors = errors_of({place_at(port, 1, 2)}, [](RankGroup& group) {
      EXPECT_THAT(texts_of(group, "b"), ElementsAre("a", "b"));
    });
    EXPECT_EQ(errors.front(), "");
  });
  const std::vector<std::string> errors = errors_of({place_at(port, 0, 2)}, [](RankGroup& group) {
    EXPECT_THAT(texts_of(group, "a"), ElementsAre("a", "b"));
  });
  stranger.join();
  EXPECT_EQ(errors.front(), "");
  EXPECT_THAT(refusal.value(), HasSubstr("not this run's first rank"));
}

std::string refusal_of(const std::map<std::string, std::string>& variables) {
  try {
    meet(rendezvous_of([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    }));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Rendezvous, IsReadFromTorchrunsVariables) {
  const std::map<std::string, std::string> good{{"RANK", "0"},
                                                {"WORLD_SIZE", "1"},
                                                {"MASTER_ADDR", "127.0.0.1"},
                                                {"MASTER_PORT", std::to_string(next_port())}};
  EXPECT_EQ(refusal_of(good), "");
  for (const auto& [name, wrong] : std::map<std::string, std::vector<std::string>>{
           {"RANK", {"1", "-1", "x", ""}},
           {"WORLD_SIZE", {"0", "1.5"}},
           {"MASTER_ADDR", {"", "no.such.host.invalid", "192.0.2.1"}},
           {"MASTER_PORT", {"0", "65536", "http"}}}) {
    for (const std::string& value : wrong) {
      auto variables = good;
      variables[name] = value;
      EXPECT_THAT(refusal_of(variables), HasSubstr(name + ": ")) << value;
    }
  }
  // torchrun listens at the port itself.
  const auto port = [](const char* taken) {
    return rendezvous_of([=](const char* name) -> const char* {
             const std::string_view asked = name;
             return asked == "RANK"                           ? "1"
                    : asked == "WORLD_SIZE"                   ? "2"
                    : asked == "MASTER_ADDR"                  ? "localhost"
                    : asked == "MASTER_PORT"                  ? "29500"
                    : asked == "TORCHELASTIC_USE_AGENT_STORE" ? taken
                                                              : nullptr;
           })
        .port;
  };
  EXPECT_EQ(port("False"), 29500);
  EXPECT_EQ(port("True"), 29501);
}

}  // namespace
}  // namespace bench::kernels
