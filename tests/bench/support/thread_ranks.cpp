#include "tests/bench/support/thread_ranks.h"

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench::testing {
namespace {

// What the ranks of a group share. Between two barriers each writes its own place only.
struct Shared {
  explicit Shared(int ranks) : size(ranks), barrier(ranks), offers(static_cast<std::size_t>(ranks)) {}

  int size;
  std::barrier<> barrier;
  std::vector<Collective> offers;
  std::shared_ptr<Shared> part;  // of the first ranks, while it is made
  std::mutex mutex;
  std::condition_variable sent;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;  // by sender and receiver
};

const std::byte* bytes_of(const void* data) {
  return static_cast<const std::byte*>(data);
}

class ThreadRanks final : public RankGroup {
 public:
  ThreadRanks(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return shared_->size; }
  void barrier() override { shared_->barrier.arrive_and_wait(); }

  void run(const Collective& collective) override {
    if (collective.kind == CollectiveKind::send) {
      return send(collective);
    }
    if (collective.kind == CollectiveKind::receive) {
      return receive(collective);
    }
    own() = collective;
    barrier();
    const std::vector<std::byte> result = result_of(collective);
    barrier();  // the buffer may be one that others read
    std::ranges::copy(result, static_cast<std::byte*>(collective.to));
  }

  std::unique_ptr<PendingCollective> start(const Collective& collective) override {
    run(collective);
    return std::make_unique<Done>();
  }

  // A send waits until it is received, as NCCL's may.
  void exchange(std::span<const Collective> messages) override {
    for (const Collective& message : messages) {
      if (message.kind == CollectiveKind::send) {
        send(message);
      }
    }
    for (const Collective& message : messages) {
      if (message.kind == CollectiveKind::receive) {
        receive(message);
      }
    }
    for (const Collective& message : messages) {
      if (message.kind == CollectiveKind::send) {
        std::unique_lock lock(shared_->mutex);
        shared_->sent.wait(lock, [&] { return shared_->messages[{rank_, message.peer}].empty(); });
      }
    }
  }

  std::unique_ptr<RankGroup> first(int ranks) override {
    if (rank_ == 0) {
      shared_->part = std::make_shared<Shared>(ranks);
    }
    barrier();
    const std::shared_ptr<Shared> part = shared_->part;
    barrier();
    return rank_ < ranks ? std::make_unique<ThreadRanks>(part, rank_) : nullptr;
  }

 private:
  class Done final : public PendingCollective {
    void poll() override {}
    void wait() override {}
  };

  Collective& own() { return offer(rank_); }
  Collective& offer(int rank) { return shared_->offers[static_cast<std::size_t>(rank)]; }

  std::vector<std::byte> result_of(const Collective& c) {
    switch (c.kind) {
      case CollectiveKind::all_reduce:
        return sums(c.bytes, 0);
      case CollectiveKind::reduce_scatter:
        return sums(c.bytes, rank_ * c.bytes);
      case CollectiveKind::all_gather: {
        std::vector<std::byte> all;
        for (int other = 0; other < size(); ++other) {
          const std::byte* const given = bytes_of(offer(other).from);
          all.insert(all.end(), given, given + c.bytes);
        }
        return all;
      }
      case CollectiveKind::send:
      case CollectiveKind::receive:
        break;
    }
    return {};
  }

  void send(const Collective& c) {
    const std::lock_guard lock(shared_->mutex);
    shared_->messages[{rank_, c.peer}].emplace_back(bytes_of(c.from), bytes_of(c.from) + c.bytes);
    shared_->sent.notify_all();
  }

  void receive(const Collective& c) {
    std::unique_lock lock(shared_->mutex);
    auto& messages = shared_->messages[{c.peer, rank_}];
    shared_->sent.wait(lock, [&] { return !messages.empty(); });
    std::ranges::copy(messages.front(), static_cast<std::byte*>(c.to));
    messages.pop_front();
    shared_->sent.notify_all();
  }

  // Of fp32 values from this byte on.
  std::vector<std::byte> sums(std::int64_t bytes, std::int64_t from_byte) {
    std::vector<float> sums(static_cast<std::size_t>(bytes) / sizeof(float));
    std::vector<float> given(sums.size());
    for (int other = 0; other < size(); ++other) {
      std::memcpy(given.data(), bytes_of(offer(other).from) + from_byte, static_cast<std::size_t>(bytes));
      std::ranges::transform(sums, given, sums.begin(), std::plus<>());
    }
    const std::byte* const made = bytes_of(sums.data());
    return {made, made + bytes};
  }

  std::shared_ptr<Shared> shared_;
  int rank_;
};

}  // namespace

void run_ranks(int size, const std::function<void(RankGroup& group)>& body) {
  const auto shared = std::make_shared<Shared>(size);
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRanks group(shared, rank);
      try {
        body(group);
      } catch (...) {
        failed[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  for (const std::exception_ptr& failure : failed) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

}  // namespace bench::testing
