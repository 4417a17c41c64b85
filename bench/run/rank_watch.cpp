#include "bench/run/rank_watch.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Without the library's own clean-up, which would wait for the ranks that are lost. Within that second the
// group is abandoned. A library that crashes where a rank is gone is held there: the exit code is not its.
void end_process(const std::string& sentence) {
  for (const int crash : {SIGSEGV, SIGBUS, SIGABRT}) {
    std::signal(crash, [](int) {
      for (;;) {
        ::pause();
      }
    });
  }
  const std::string line = "bench: " + sentence + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::_Exit(static_cast<int>(ExitCode::inconclusive));
}

// A call counts while this lives.
class CallUnderWay {
 public:
  explicit CallUnderWay(std::atomic<std::uint64_t>& calls) : calls_(calls) { ++calls_; }
  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;
  ~CallUnderWay() { ++calls_; }

 private:
  std::atomic<std::uint64_t>& calls_;
};

}  // namespace

ProcessState process_state(std::int64_t process) {
  std::ifstream stat(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(stat, line);
  const std::size_t name_end = line.rfind(") ");  // "12 (a name) S …"
  if (name_end == std::string::npos || name_end + 2 >= line.size()) {
    return ProcessState::gone;
  }
  switch (line[name_end + 2]) {
    case 'Z':
    case 'X':
      return ProcessState::gone;
    case 'T':
    case 't':
      return ProcessState::stopped;
    default:
      return ProcessState::running;
  }
}

WatchedRanks::WatchedRanks(std::unique_ptr<RankGroup> group, std::vector<RankPlace> places,
                           RankWatchSettings settings, std::vector<std::int64_t> joining_bytes,
                           std::unique_ptr<RankHeartbeat> heartbeat)
    : group_(std::move(group)),
      settings_(std::move(settings)),
      group_rank_(group_->rank()),
      places_(std::move(places)),
      joining_bytes_(std::move(joining_bytes)),
      heartbeat_(std::move(heartbeat)) {
  if (!settings_.end) {
    settings_.end = end_process;
  }
  thread_ = std::thread([this] { watch(); });
}

void WatchedRanks::end_alone(const std::string& why) {
  const std::string sentence = fmt::format("rank {}: {}", group_rank_, why);
  if (heartbeat_ != nullptr) {
    heartbeat_->tell(sentence);
  }
  end_process(sentence);
  std::abort();
}

std::map<std::string, std::string> WatchedRanks::software() const {
  std::map<std::string, std::string> all = group_->software();
  all.merge(group().software());
  return all;
}

WatchedRanks::~WatchedRanks() {
  if (ending_) {  // and the process goes on: only in tests
    stop();
  }
  closing_ = true;
  {
    const CallUnderWay call(calls_);
    of_device_.reset();
    group_.reset();
  }
  stop();
}

void WatchedRanks::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_one();
  for (std::thread* thread : {&thread_, &abandoning_}) {
    if (thread->joinable()) {
      thread->join();
    }
  }
}

void WatchedRanks::use_device(Device& device) {
  std::unique_ptr<RankGroup> made;
  try {
    guarded([&] { made = device_group(*group_, device); });
  } catch (const UsageError&) {
    end_together(*this);
    throw;
  }
  if (made == nullptr) {
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    of_device_ = std::move(made);
  }
  guarded([&] { of_device_->connect(); });
}

// Their calls are the whole group's.
class WatchedRanks::Pending final : public PendingCollective {
 public:
  Pending(WatchedRanks& whole, std::unique_ptr<PendingCollective> pending)
      : whole_(whole), pending_(std::move(pending)) {}
  void poll() override {
    whole_.guarded([&] { pending_->poll(); });
  }
  void wait() override {
    whole_.guarded([&] { pending_->wait(); });
  }

 private:
  WatchedRanks& whole_;
  std::unique_ptr<PendingCollective> pending_;
};

class WatchedRanks::Part final : public RankGroup {
 public:
  Part(WatchedRanks& whole, std::unique_ptr<RankGroup> part) : whole_(whole), part_(std::move(part)) {}
  ~Part() override {
    const CallUnderWay call(whole_.calls_);
    part_.reset();
  }

  int rank() const override { return part_->rank(); }
  int size() const override { return part_->size(); }
  std::unique_ptr<RankGroup> first(int ranks) override { return whole_.part_of(*part_, ranks); }
  void run(const Collective& collective) override {
    whole_.guarded([&] { part_->run(collective); });
  }
  void queue(const Collective& collective) override {
    whole_.guarded([&] { part_->queue(collective); });
  }
  void finish() override {
    whole_.guarded([&] { part_->finish(); });
  }
  std::unique_ptr<PendingCollective> start(const Collective& collective) override {
    return whole_.started(*part_, collective);
  }
  void exchange(std::span<const Collective> messages) override {
    whole_.guarded([&] { part_->exchange(messages); });
  }
  std::optional<double> waited_on_device_ns() const override { return part_->waited_on_device_ns(); }
  void gather(const void* own, void* all, std::int64_t bytes) override {
    whole_.guarded([&] { part_->gather(own, all, bytes); });
  }
  void barrier() override {
    whole_.guarded([&] { part_->barrier(); });
  }
  bool carries_host_memory() const override { return part_->carries_host_memory(); }

 private:
  WatchedRanks& whole_;
  std::unique_ptr<RankGroup> part_;
};

std::unique_ptr<RankGroup> WatchedRanks::part_of(RankGroup& group, int ranks) {
  std::unique_ptr<RankGroup> part;
  guarded([&] { part = group.first(ranks); });
  return part == nullptr ? nullptr : std::make_unique<Part>(*this, std::move(part));
}

std::unique_ptr<PendingCollective> WatchedRanks::started(RankGroup& group, const Collective& collective) {
  std::unique_ptr<PendingCollective> pending;
  guarded([&] { pending = group.start(collective); });
  return std::make_unique<Pending>(*this, std::move(pending));
}

std::unique_ptr<RankGroup> WatchedRanks::first(int ranks) {
  return part_of(group(), ranks);
}

std::unique_ptr<PendingCollective> WatchedRanks::start(const Collective& collective) {
  return started(group(), collective);
}

void WatchedRanks::guarded(const std::function<void()>& call) {
  try {
    const CallUnderWay under_way(calls_);
    call();
  } catch (const RanksLost& error) {
    std::this_thread::sleep_for(2 * settings_.pace);  // the watch may find out which rank it is
    if (ending_.exchange(true)) {
      thread_.join();
    } else {
      end(error.what());
    }
    throw;
  }
}

void WatchedRanks::end(const std::string& why) {
  if (heartbeat_ != nullptr) {
    heartbeat_->tell(why);
  }
  if (!closing_) {
    abandoning_ = std::thread([&abandoned = group()] { abandoned.abandon(); });
  }
  settings_.end(last_words(why));
}

void WatchedRanks::run(const Collective& collective) {
  guarded([&] { group().run(collective); });
}

void WatchedRanks::queue(const Collective& collective) {
  guarded([&] { group().queue(collective); });
}

void WatchedRanks::finish() {
  guarded([&] { group().finish(); });
}

void WatchedRanks::exchange(std::span<const Collective> messages) {
  guarded([&] { group().exchange(messages); });
}

void WatchedRanks::gather(const void* own, void* all, std::int64_t bytes) {
  guarded([&] { group().gather(own, all, bytes); });
}

void WatchedRanks::barrier() {
  guarded([&] { group().barrier(); });
}

bool WatchedRanks::is_near(const RankPlace& place) const {
  const RankPlace& own = places_[static_cast<std::size_t>(group_rank_)];
  return place.host == own.host && place.namespace_id == own.namespace_id && place.process != own.process;
}

std::string WatchedRanks::named(std::size_t rank) const {
  return fmt::format("rank {} (process {} on {})", rank, places_[rank].process, places_[rank].host);
}

std::string WatchedRanks::last_words(const std::string& why) const {
  const std::scoped_lock lock(saved_mutex_);
  return fmt::format("{}; rank {} ends here{}", why, group_rank_,
                     saved_.empty() ? "" : "; what was measured before is in " + saved_);
}

void WatchedRanks::note_saved(const std::string& file) {
  const std::scoped_lock lock(saved_mutex_);
  saved_ = file;
}

std::string WatchedRanks::lost(std::chrono::nanoseconds waited, std::chrono::nanoseconds longest) const {
  const auto in_words = [](std::chrono::nanoseconds time) {
    return format_duration(static_cast<double>(time.count()));
  };
  if (const std::string told = heartbeat_ == nullptr || ends_expected_ ? "" : heartbeat_->told();
      !told.empty()) {
    return told;
  }
  std::vector<std::size_t> unknown;  // whether they run
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    if (static_cast<int>(rank) == group_rank_) {
      continue;
    }
    const bool near = is_near(places_[rank]);
    if (!near && heartbeat_ == nullptr) {
      unknown.push_back(rank);
      continue;
    }
    const auto place = static_cast<int>(rank);
    const ProcessState state = near                         ? settings_.state(places_[rank].process)
                               : heartbeat_->is_gone(place) ? ProcessState::gone
                                                            : ProcessState::running;
    if (state == ProcessState::gone && !ends_expected_) {
      return named(rank) + " is gone";
    }
    if (state == ProcessState::stopped && waited >= settings_.timeout) {
      return fmt::format("{} is stopped and did not answer for {}", named(rank), in_words(waited));
    }
    if (const auto silent = near ? std::nullopt : heartbeat_->silent_for(place);
        silent && *silent >= settings_.timeout) {
      return fmt::format("{} gave no sign of life for {}", named(rank), in_words(*silent));
    }
  }
  if (closing_) {  // nothing is computed any more: some libraries do not return from their own end
    return waited < settings_.timeout
               ? ""
               : fmt::format("the library of the ranks did not end for {}", in_words(waited));
  }
  const auto limit = std::max(settings_.timeout, settings_.growth * longest);
  if (waited < limit * (long_wait_ || unknown.empty() ? settings_.patience : 1)) {
    return "";
  }
  return fmt::format("{} did not answer for {} (give a larger --rank-timeout where a step takes that long)",
                     !unknown.empty()
                         ? fmt::format("one of the ranks {} on other hosts", fmt::join(unknown, ", "))
                     : heartbeat_ != nullptr ? "another rank"
                                             : "another rank on this host",
                     in_words(waited));
}

void WatchedRanks::watch() {
  std::uint64_t seen = 0;
  auto since = std::chrono::steady_clock::now();
  std::chrono::nanoseconds longest{};
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, settings_.pace, [this] { return stop_; })) {
    const std::uint64_t calls = calls_;
    const auto now = std::chrono::steady_clock::now();
    if (calls != seen || calls % 2 == 0) {
      if (seen % 2 == 1) {
        longest = std::max(longest, std::chrono::nanoseconds(now - since));
      }
      seen = calls;
      since = now;
    }
    if (heartbeat_ != nullptr) {
      heartbeat_->beat();
    }
    const std::string why = lost(now - since, longest);
    if (!why.empty()) {
      if (!ending_.exchange(true)) {
        end(why);
      }
      return;
    }
  }
}

}  // namespace bench
