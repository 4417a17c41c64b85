#include "kernels/ranks/tcp/rendezvous.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/run/socket.h"
#include "bench/text/fingerprint.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench::kernels {
namespace {

using Time = std::chrono::steady_clock::time_point;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::array<char, 8> kMagic{'b', 'e', 'n', 'c', 'h', ' ', 'r', '1'};
constexpr auto kHelloLimit = 2s;  // a stranger that connects and says nothing costs no more

// What a rank says when it comes.
struct Hello {
  std::array<char, 8> magic = kMagic;
  std::array<char, 32> run{};  // a fingerprint
  std::int32_t size = 0;
  std::int32_t rank = 0;
};

// What the first rank answers: at once, and when all have come.
enum class Answer : std::int32_t { welcome = 1, other_run = 2, all_are_here = 3 };

Hello hello_of(const Rendezvous& rendezvous) {
  Hello hello;
  const std::string run = fingerprint(rendezvous.run);
  std::copy_n(run.begin(), std::min(run.size(), hello.run.size()), hello.run.begin());
  hello.size = rendezvous.size;
  hello.rank = rendezvous.rank;
  return hello;
}

std::string place_of(const Rendezvous& rendezvous) {
  return fmt::format("{}:{}", rendezvous.address, rendezvous.port);
}

std::string limit_of(const Rendezvous& rendezvous) {
  return format_duration(static_cast<double>(rendezvous.timeout.count()));
}

// The connections of a rank: the first has one to each other rank, another one to the first.
using Connections = std::vector<Socket>;

class TcpRanks final : public RankGroup {
 public:
  TcpRanks(std::shared_ptr<const Connections> connections, int rank, int size)
      : connections_(std::move(connections)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // On the same connections: every rank makes its calls in the same order.
  std::unique_ptr<RankGroup> first(int ranks) override {
    return rank_ < ranks ? std::make_unique<TcpRanks>(connections_, rank_, ranks) : nullptr;
  }

  void gather(const void* own, void* all, std::int64_t bytes) override {
    const auto each = static_cast<std::size_t>(bytes);
    const std::size_t whole = each * static_cast<std::size_t>(size_);
    if (rank_ > 0) {
      const Socket& first = connections_->front();
      if (!first.send(&bytes, sizeof(bytes)) || !first.send(own, each) || !first.receive(all, whole)) {
        throw RanksLost("rank 0 closed its connection");
      }
      return;
    }
    auto* const parts = static_cast<std::byte*>(all);
    std::memmove(parts, own, each);
    for (int rank = 1; rank < size_; ++rank) {
      std::int64_t given = 0;
      if (!of(rank).receive(&given, sizeof(given))) {
        lost(rank);
      }
      if (given != bytes) {
        throw RanksLost(fmt::format("rank {} sent {} B where {} B were expected", rank, given, bytes));
      }
      if (!of(rank).receive(parts + static_cast<std::size_t>(rank) * each, each)) {
        lost(rank);
      }
    }
    for (int rank = 1; rank < size_; ++rank) {
      if (!of(rank).send(all, whole)) {
        lost(rank);
      }
    }
  }

  void barrier() override {
    const std::byte own{};
    std::vector<std::byte> all(static_cast<std::size_t>(size_));
    gather(&own, all.data(), 1);
  }

  bool carries_host_memory() const override { return false; }
  void run(const Collective& /*collective*/) override { refuse(); }
  std::unique_ptr<PendingCollective> start(const Collective& /*collective*/) override {
    refuse();
    return nullptr;
  }

 private:
  const Socket& of(int rank) const { return (*connections_)[static_cast<std::size_t>(rank) - 1]; }
  [[noreturn]] static void lost(int rank) {
    throw RanksLost(fmt::format("rank {} closed its connection", rank));
  }
  [[noreturn]] static void refuse() {
    throw std::logic_error("the rendezvous of ranks carries no data of a device");
  }

  std::shared_ptr<const Connections> connections_;
  int rank_;
  int size_;
};

void answer(const Socket& socket, Answer text) {
  socket.send(&text, sizeof(text));  // one that is gone by now is missed at the first call
}

// Of the first rank: until all have come.
Connections wait_for_all(const Rendezvous& rendezvous, const SocketAddress& address) {
  const Socket listening = address.listen();
  if (!listening) {
    throw UsageError(fmt::format(
        "MASTER_PORT: {} was given, where the first rank cannot listen: {}; ranks of another run may not "
        "have ended, give another port",
        rendezvous.port, std::strerror(errno)));
  }
  const Hello own = hello_of(rendezvous);
  Connections come(static_cast<std::size_t>(rendezvous.size) - 1);
  const Time end = std::chrono::steady_clock::now() + rendezvous.timeout;
  for (std::size_t missing = come.size(); missing > 0;) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= 0ms) {
      std::vector<std::size_t> absent;
      for (std::size_t i = 0; i < come.size(); ++i) {
        if (!come[i]) {
          absent.push_back(i + 1);
        }
      }
      throw UsageError(
          fmt::format("{} {} of {} did not come to {} within {}: MASTER_ADDR, MASTER_PORT and WORLD_SIZE "
                      "must be the same "
                      "for all ranks, and RANK another one for each",
                      absent.size() == 1 ? "rank" : "ranks", fmt::join(absent, ", "), rendezvous.size,
                      place_of(rendezvous), limit_of(rendezvous)));
    }
    Socket socket = accept(listening, left);
    if (!socket) {
      continue;
    }
    Hello hello;
    socket.limit_receiving(kHelloLimit);
    if (!socket.receive(&hello, sizeof(hello)) || hello.magic != kMagic) {
      continue;
    }
    socket.limit_receiving(std::nullopt);
    if (hello.run != own.run || hello.size != own.size || hello.rank < 1 || hello.rank >= own.size) {
      answer(socket, Answer::other_run);
      continue;
    }
    Socket& place = come[static_cast<std::size_t>(hello.rank) - 1];
    if (place) {
      answer(socket, Answer::other_run);
      throw UsageError(fmt::format(
          "rank {} came to {} twice: ranks of another run use this MASTER_PORT, or two have the same RANK",
          hello.rank, place_of(rendezvous)));
    }
    answer(socket, Answer::welcome);
    place = std::move(socket);
    --missing;
  }
  for (const Socket& socket : come) {
    answer(socket, Answer::all_are_here);
  }
  return come;
}

// Of another rank. What ends the wait for the others, once it is welcome, is told by the first rank.
Connections come_to_first(const Rendezvous& rendezvous, const SocketAddress& address) {
  constexpr auto kPause = 100ms;
  const Hello hello = hello_of(rendezvous);
  const Time end = std::chrono::steady_clock::now() + rendezvous.timeout;
  for (auto left = rendezvous.timeout; left > 0ms; left = end - std::chrono::steady_clock::now()) {
    Socket socket = address.connect(std::min<std::chrono::nanoseconds>(left, kHelloLimit));
    Answer said = Answer::other_run;
    if (socket) {
      socket.limit_receiving(2 * kHelloLimit);
      if (socket.send(&hello, sizeof(hello)) && socket.receive(&said, sizeof(said))) {
        if (said != Answer::welcome) {
          throw FirstRankUnreachable(
              fmt::format("at {} there is not this run's first rank", place_of(rendezvous)));
        }
        socket.limit_receiving(rendezvous.timeout + 2 * kHelloLimit);
        if (!socket.receive(&said, sizeof(said)) || said != Answer::all_are_here) {
          throw UsageError(
              fmt::format("the first rank at {} ended before all ranks had come", place_of(rendezvous)));
        }
        socket.limit_receiving(std::nullopt);
        Connections connections;
        connections.push_back(std::move(socket));
        return connections;
      }
    }
    std::this_thread::sleep_for(kPause);
  }
  throw FirstRankUnreachable(fmt::format(
      "rank {} did not reach the first rank at {} within {}: MASTER_ADDR and MASTER_PORT are those "
      "of the first rank's host",
      rendezvous.rank, place_of(rendezvous), limit_of(rendezvous)));
}

SocketAddress address_of(const Rendezvous& rendezvous) {
  try {
    return {rendezvous.address, rendezvous.port};
  } catch (const UsageError& error) {
    throw FirstRankUnreachable(fmt::format("MASTER_ADDR: {}", error.what()));
  }
}

int number_of(const LaunchVariables& environment, const char* name, int least, int most) {
  const char* const text = environment(name);
  const std::string_view digits = text == nullptr ? "" : text;
  int number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || read.ec != std::errc{} || read.ptr != digits.data() + digits.size() ||
      number < least || number > most) {
    throw FirstRankUnreachable(fmt::format("{}: {} was given; accepted: {} to {}, as torchrun sets it", name,
                                           text == nullptr ? "nothing" : quote(digits), least, most));
  }
  return number;
}

std::string text_of(const LaunchVariables& environment, const char* name) {
  const char* const text = environment(name);
  return text == nullptr ? "" : text;
}

}  // namespace

Rendezvous rendezvous_of(const LaunchVariables& environment) {
  constexpr int kMostRanks = 1 << 20;
  constexpr int kLastPort = 65'535;
  Rendezvous rendezvous;
  rendezvous.size = number_of(environment, "WORLD_SIZE", 1, kMostRanks);
  rendezvous.rank = number_of(environment, "RANK", 0, rendezvous.size - 1);
  rendezvous.address = text_of(environment, "MASTER_ADDR");
  if (rendezvous.address.empty()) {
    throw FirstRankUnreachable(
        "MASTER_ADDR: nothing was given; accepted: the first rank's host, as torchrun sets it");
  }
  const bool is_taken = text_of(environment, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  rendezvous.port = number_of(environment, "MASTER_PORT", 1, kLastPort - 1) + (is_taken ? 1 : 0);
  rendezvous.run =
      text_of(environment, "TORCHELASTIC_RUN_ID") + "/" + text_of(environment, "TORCHELASTIC_RESTART_COUNT");
  return rendezvous;
}

std::unique_ptr<RankGroup> meet(const Rendezvous& rendezvous) {
  const SocketAddress address = address_of(rendezvous);
  if (rendezvous.rank == 0 && !address.is_of_this_host()) {
    throw UsageError(fmt::format("MASTER_ADDR: {} was given, which is no address of the first rank's host",
                                 quote(rendezvous.address)));
  }
  return std::make_unique<TcpRanks>(
      std::make_shared<const Connections>(rendezvous.rank == 0 ? wait_for_all(rendezvous, address)
                                                               : come_to_first(rendezvous, address)),
      rendezvous.rank, rendezvous.size);
}

}  // namespace bench::kernels
