// A double of NCCL that records its calls. Each rank has its own; nothing is moved. Its communicators block,
// but for calls that are told to answer kInProgress.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/ranks/nccl/nccl.h"

namespace bench::kernels::nccl::testing {

inline constexpr int kSystemError = 2;
inline constexpr int kRemoteError = 6;

class FakeNccl final : public Nccl {
 public:
  int version(int& version) override {
    version = version_now;
    return result::kSuccess;
  }
  int unique_id(UniqueId& id) override {
    id.fill('i');
    return answer("unique_id");
  }
  int init(ncclComm*& comm, int ranks, const UniqueId& id, int rank) override {
    comm = reinterpret_cast<ncclComm*>(&handle_);
    return answer(fmt::format("init {} of {} by {}", rank, ranks, id.back()), "init");
  }
  // In progress for `polls_in_progress` calls after each call that goes on.
  int async_error(ncclComm* /*comm*/, int& error) override {
    const std::scoped_lock lock(mutex_);
    error = polls_left_ > 0 ? result::kInProgress : remote_error.load();
    polls_left_ = std::max(0, polls_left_ - 1);
    return result::kSuccess;
  }
  int finalize(ncclComm* /*comm*/) override { return answer("finalize"); }
  int destroy(ncclComm* /*comm*/) override { return answer("destroy"); }
  int abort(ncclComm* /*comm*/) override {
    release();
    return answer("abort");
  }
  int all_reduce(const void* from, void* to, std::size_t values, ncclComm* /*comm*/,
                 CUstream_st* stream) override {
    streams.push_back(stream);
    return answer(fmt::format("all_reduce {}{}", values, from == to ? " in place" : ""), "all_reduce");
  }
  int reduce_scatter(const void* from, void* to, std::size_t values, ncclComm* /*comm*/,
                     CUstream_st* stream) override {
    streams.push_back(stream);
    return answer(fmt::format("reduce_scatter {} to {}", values,
                              static_cast<const std::byte*>(to) - static_cast<const std::byte*>(from)),
                  "reduce_scatter");
  }
  int all_gather(const void* /*from*/, void* /*to*/, std::size_t bytes, ncclComm* /*comm*/,
                 CUstream_st* stream) override {
    streams.push_back(stream);
    return answer(fmt::format("all_gather {}", bytes), "all_gather");
  }
  int send(const void* /*from*/, std::size_t bytes, int peer, ncclComm* /*comm*/,
           CUstream_st* stream) override {
    streams.push_back(stream);
    return answer(fmt::format("send {} to {}", bytes, peer), "send");
  }
  int receive(void* /*to*/, std::size_t bytes, int peer, ncclComm* /*comm*/, CUstream_st* stream) override {
    streams.push_back(stream);
    return answer(fmt::format("receive {} from {}", bytes, peer), "receive");
  }
  int group_start() override { return answer("group_start"); }
  int group_end() override { return answer("group_end"); }
  std::string error_text(int result) override { return fmt::format("text of {}", result); }
  std::string last_error() override { return "said by the double"; }

  std::vector<std::string> calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }
  // The call of that name waits for other ranks from now on, until the communicator is aborted.
  void hang_in(const std::string& call) { hanging_ = call; }
  // They come.
  void release() {
    {
      const std::scoped_lock lock(mutex_);
      released_ = true;
    }
    changed_.notify_all();
  }
  // The call of that name answers so from now on.
  void answer_with(const std::string& call, int result) { answers_[call] = result; }

  int version_now = 22809;
  int polls_in_progress = 2;
  std::atomic<int> remote_error{result::kSuccess};
  std::vector<CUstream_st*> streams;  // of collectives

 private:
  int answer(const std::string& text, const std::string& call = "") {
    const std::string& name = call.empty() ? text : call;
    std::unique_lock lock(mutex_);
    calls_.push_back(text);
    if (name == hanging_) {
      changed_.wait(lock, [this] { return released_; });
      return kSystemError;
    }
    const auto set = answers_.find(name);
    const int result = set == answers_.end() ? result::kSuccess : set->second;
    polls_left_ = result == result::kInProgress ? polls_in_progress : 0;
    return result;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  std::map<std::string, int> answers_;
  std::string hanging_;
  std::condition_variable changed_;
  bool released_ = false;
  int polls_left_ = 0;
  char handle_ = 0;
};

}  // namespace bench::kernels::nccl::testing
