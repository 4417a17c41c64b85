// A group of ranks: processes that work on one step together, on one host or on several, and what they send
// each other. Implemented in kernels/ranks/: by MPI; for cards by NCCL, over a group that brings ranks
// together; the tests have a group of threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/error.h"

namespace bench {

class Device;

enum class CollectiveKind { all_reduce, reduce_scatter, all_gather, send, receive };

// One operation, which every rank of the group starts (send and receive: the two peers). Buffers are memory
// of the rank's device, by MPI the host's. They do not overlap, but an operation may be in place: an
// all_reduce has one buffer for both; so has a reduce_scatter, whose result is then at its start; an
// all_gather's part may lie at its place in the whole.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  const void* from = nullptr;
  void* to = nullptr;
  // all_reduce: of each buffer. reduce_scatter: of a rank's result; `from` has one for each rank. all_gather:
  // of a rank's part; `to` has one for each rank. send, receive: of the message. Reductions add fp32 values,
  // so that their bytes are a multiple of 4.
  std::int64_t bytes = 0;
  int peer = 0;  // of send and receive
};

// A collective under way, whose buffers it has until it is waited for.
class PendingCollective {
 public:
  PendingCollective() = default;
  PendingCollective(const PendingCollective&) = delete;
  PendingCollective& operator=(const PendingCollective&) = delete;
  virtual ~PendingCollective() = default;
  // Gives the library a moment to go on with all that is under way: some do nothing otherwise.
  virtual void poll() = 0;
  // Once. Work that is queued on the device afterwards runs after the collective; on a card the host does not
  // wait for it.
  virtual void wait() = 0;
};

// The other ranks cannot be reached any more, or the library failed.
class RanksLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The first rank cannot be reached, and so says nothing: the second does.
class FirstRankUnreachable : public UsageError {
 public:
  using UsageError::UsageError;
};

// Used by one thread. Every function throws RanksLost.
class RankGroup {
 public:
  RankGroup() = default;
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  virtual ~RankGroup() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The first `ranks` of this group, from 1 to all of them, as a group; nullptr for the others. Every rank
  // calls it.
  virtual std::unique_ptr<RankGroup> first(int ranks) = 0;
  virtual void run(const Collective& collective) = 0;  // returns when its own part is done
  // In order with the device's other work; on a card it returns before the collective is done.
  virtual void queue(const Collective& collective) { run(collective); }
  virtual void finish() {}  // returns when the device has done all its work
  // Beside the work that is queued on the device afterwards.
  virtual std::unique_ptr<PendingCollective> start(const Collective& collective) = 0;
  // Sends and receives that go on together, in order with the device's other work: on a card it returns
  // before they are done, else after. Two ranks that exchange messages name them in one call, each its own
  // ends: a send may wait until its receiver has come to it.
  virtual void exchange(std::span<const Collective> messages) {
    std::vector<std::unique_ptr<PendingCollective>> pending;
    for (const Collective& message : messages) {
      pending.push_back(start(message));
    }
    for (const auto& one : pending) {
      one->wait();
    }
  }
  // Between the last two calls of finish(): nanoseconds in which the device waited for collectives that were
  // started, and for exchanges; nullopt where the host's clock tells that.
  virtual std::optional<double> waited_on_device_ns() const { return std::nullopt; }
  // What each rank gives, `bytes` of the host's memory, by rank.
  virtual void gather(const void* own, void* all, std::int64_t bytes) {
    run({.kind = CollectiveKind::all_gather, .from = own, .to = all, .bytes = bytes});
  }
  virtual void barrier() = 0;
  // Whether collectives take the host's memory.
  virtual bool carries_host_memory() const { return true; }
  // Connects the ranks for collectives now; otherwise the first one does.
  virtual void connect() {}
  // From another thread: ends collectives under way, whose calls then throw. May not return.
  virtual void abandon() noexcept {}
  // While it is expected, calls may take long, because the first rank works alone before it makes its own.
  virtual void expect_long_wait(bool /*expected*/) {}
  // From now on ranks may end: called before they are told to.
  virtual void expect_ends() {}
  // Where this rank cannot go on while the others wait for it within a step. A group that is watched ends the
  // process, so that the others see that it is gone.
  virtual void end_alone(const std::string& why) { throw RanksLost(why); }
  // Versions of the libraries by which it exchanges data: {"mpi", "Open MPI v4.1.4"}.
  virtual std::map<std::string, std::string> software() const { return {}; }
};

// Every rank calls it before it ends.
void end_together(RankGroup& group);
// What each rank gives, by rank. Every rank calls it.
std::vector<std::string> texts_of(RankGroup& group, const std::string& own);

// Where a rank runs.
struct RankPlace {
  std::string host;
  std::int64_t process = 0;
  std::int64_t namespace_id = 0;  // of its process numbers, so that containers on one host are told apart
  std::set<int> cores{};          // that it may use: some launchers bind each rank to one
};
// Of every rank, in their order. Every rank calls it.
std::vector<RankPlace> places_of(RankGroup& group);
// How many ranks before this one are on its host.
int local_rank(const std::vector<RankPlace>& places, int rank);
// How many ranks are on its host, itself among them.
int ranks_on_host(const std::vector<RankPlace>& places, int rank);
// Hosts, each once, in the order of their first rank.
std::vector<std::string> hosts_of(const std::vector<RankPlace>& places);

// What the launcher says of this process.
struct RankLaunch {
  std::string launcher;  // "mpirun of Open MPI", "srun"
  std::string engine;    // that belongs to it; empty: any
  int rank = 0;
  int size = 1;
};

// A library by which ranks reach each other, registered where it is implemented.
struct RankEngine {
  std::string name;           // "openmpi"
  std::string title;          // "Open MPI"
  std::string launcher;       // "mpirun.openmpi"
  std::string packages;       // of Debian, which it needs
  std::string rank_variable;  // of the environment that its launcher gives each rank
  std::string size_variable;
  std::string manager_variable{};        // of the environment that a process manager such as srun sets for it
  std::function<std::string()> missing;  // why it cannot be used here; empty: it can
  // The group of all ranks that were launched. Waits so long for ranks that do not come, where the library
  // allows a limit. Throws UsageError and RanksLost.
  std::function<std::unique_ptr<RankGroup>(std::chrono::nanoseconds timeout)> join;
  bool control_only = false;  // it has texts and barriers, but no collectives
};

// A library that moves data between the memories of devices of one kind, registered where it is implemented.
struct DeviceCollectives {
  std::string name;  // of the device kind: "cuda"
  // `control` brings the ranks together and outlives the group. Every rank calls it. Throws UsageError, the
  // same on every rank.
  std::function<std::unique_ptr<RankGroup>(RankGroup& control, Device& device)> connect;
};
// The group whose collectives take the device's memory; nullptr: `control` itself. Every rank calls it.
// Throws UsageError, the same on every rank.
std::unique_ptr<RankGroup> device_group(RankGroup& control, Device& device);

// nullptr where there is no such variable, as std::getenv.
using LaunchVariables = std::function<const char*(const char* name)>;

// nullopt where no launcher started this process. Of several that did, one that started more than one rank
// counts, then one whose engine is known.
std::optional<RankLaunch> launch_of(const LaunchVariables& environment);
// Of this process.
std::optional<RankLaunch> current_launch();
// Throws UsageError naming variables that a launcher sets where they are incomplete or wrong, as those are
// that another run left behind, and no other launcher started several ranks.
void require_whole_launch(const LaunchVariables& environment);

// Throws UsageError where no engine fits the launcher, and where the engine sees another number of ranks.
std::unique_ptr<RankGroup> join_launched(const RankLaunch& launch, std::chrono::nanoseconds timeout);

// "mpirun.openmpi -n 2": what starts several ranks with an engine that is here; "mpirun -n 2" where there is
// none. `reason`: why not, empty otherwise.
struct LaunchAdvice {
  std::string command;
  std::string reason;
};
LaunchAdvice launch_advice();

}  // namespace bench
