// Ends the process where the ranks that it waits for do not answer: a library's call cannot be given up, and
// some launchers let the others wait forever.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/ranks.h"
#include "bench/run/rank_heartbeat.h"

namespace bench {

enum class ProcessState { running, stopped, gone };
// Of a process on this host. A zombie is gone.
ProcessState process_state(std::int64_t process);

struct RankWatchSettings {
  // Of one call; longer where longer ones were answered before, as `growth` times the longest of them.
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  int growth = 3;
  int patience =
      10;  // times that, where a long wait is expected, or all ranks that it may be are known to run
  std::chrono::nanoseconds pace = std::chrono::milliseconds(250);
  std::function<ProcessState(std::int64_t process)> state = process_state;
  // Called once. By default prints the sentence and ends the process with exit code 3, a second later: the
  // other ranks of this host see the rank that was lost, not this one.
  std::function<void(const std::string& sentence)> end;
};

// The same group, watched: a rank that is gone ends this process at once, one that is stopped after the
// timeout; so does a call that fails, or takes too long for ranks that compute. Of ranks on other hosts only
// the heartbeat knows.
// Before that the group is abandoned, on a thread of its own, because that may not return.
class WatchedRanks final : public RankGroup {
 public:
  // `places`: of each rank, see places_of(). `joining_bytes`: by which each grew as it joined; empty where
  // that is not known. `heartbeat`: nullptr where there is none.
  WatchedRanks(std::unique_ptr<RankGroup> group, std::vector<RankPlace> places, RankWatchSettings settings,
               std::vector<std::int64_t> joining_bytes = {},
               std::unique_ptr<RankHeartbeat> heartbeat = nullptr);
  ~WatchedRanks() override;

  int rank() const override { return group_rank_; }
  int size() const override { return static_cast<int>(places_.size()); }
  const std::vector<RankPlace>& places() const { return places_; }
  const std::vector<std::int64_t>& joining_bytes() const { return joining_bytes_; }

  // From now on collectives take the device's memory, until the device is closed: see device_group(). Every
  // rank calls it. Throws UsageError, the same on every rank.
  void use_device(Device& device);

  std::unique_ptr<RankGroup> first(int ranks) override;
  void run(const Collective& collective) override;
  void queue(const Collective& collective) override;
  void finish() override;
  std::unique_ptr<PendingCollective> start(const Collective& collective) override;
  void exchange(std::span<const Collective> messages) override;
  std::optional<double> waited_on_device_ns() const override { return group().waited_on_device_ns(); }
  void gather(const void* own, void* all, std::int64_t bytes) override;
  void barrier() override;
  bool carries_host_memory() const override { return group().carries_host_memory(); }
  void expect_long_wait(bool expected) override { long_wait_ = expected; }
  void expect_ends() override { ends_expected_ = true; }
  // The file that has what was measured so far, for the last sentence of this rank.
  void note_saved(const std::string& file);
  // Says why and ends the process with exit code 3. The library's clean-up would wait for the others, which
  // wait for this rank.
  [[noreturn]] void end_alone(const std::string& why) override;
  std::map<std::string, std::string> software() const override;

 private:
  class Part;
  class Pending;

  std::unique_ptr<RankGroup> part_of(RankGroup& group, int ranks);
  std::unique_ptr<PendingCollective> started(RankGroup& group, const Collective& collective);
  RankGroup& group() const { return of_device_ != nullptr ? *of_device_ : *group_; }
  void watch();
  void stop();
  void guarded(const std::function<void()>& call);
  void end(const std::string& why);
  // Why this process ends; empty: it goes on. `longest`: the longest call before that was answered.
  std::string lost(std::chrono::nanoseconds waited, std::chrono::nanoseconds longest) const;
  std::string last_words(const std::string& why) const;
  bool is_near(const RankPlace& place) const;
  std::string named(std::size_t rank) const;

  std::unique_ptr<RankGroup> group_;
  std::unique_ptr<RankGroup> of_device_;  // set once, under the mutex; uses group_
  RankWatchSettings settings_;
  int group_rank_;
  std::vector<RankPlace> places_;
  std::vector<std::int64_t> joining_bytes_;
  std::unique_ptr<RankHeartbeat> heartbeat_;
  std::atomic<std::uint64_t> calls_{0};  // odd: one is under way
  std::atomic<bool> ends_expected_{false};
  std::atomic<bool> long_wait_{false};
  std::atomic<bool> ending_{false};  // a sentence is being said
  mutable std::mutex saved_mutex_;
  std::string saved_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::atomic<bool> closing_{false};
  std::thread abandoning_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace bench
