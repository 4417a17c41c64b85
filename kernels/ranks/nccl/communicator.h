// One communicator of NCCL. It blocks: a call returns once its work is queued, which takes microseconds, or
// waits within NCCL for ranks that do not come. The thread that watches the ranks then aborts it, and the
// call returns, as in PyTorch's ProcessGroupNCCL. Of a communicator that does not block NCCL 2.23 and later
// start a thread for each call.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/ranks/nccl/nccl.h"

namespace bench::kernels::nccl {

class Communicator {
 public:
  explicit Communicator(Nccl& nccl) : nccl_(nccl) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Returns when every rank has come to this; after a failure at once.
  ~Communicator();

  // These throw RanksLost.

  // Returns when it is connected. Called first, once.
  void init(int ranks, const UniqueId& id, int rank);
  // Neither sleeps nor locks others out. Polls only where NCCL_COMM_BLOCKING=0 has NCCL go on in a thread.
  void call(const char* name, const std::function<int(ncclComm* comm)>& call);
  // Throws where a call has failed meanwhile, here or on another rank.
  void check();

  // From another thread: aborts it, but not while init() waits for the other ranks. May not return. A call
  // that begins at this moment may find the memory gone: the process ends all the same.
  void abandon();

 private:
  bool in_progress(const char* name);
  void until_done(const char* name);
  void ended(const char* name, int code);
  ncclComm* handle();
  ncclComm* living() const;  // under the mutex
  [[noreturn]] void fail(const char* name, int code);

  Nccl& nccl_;
  std::mutex mutex_;          // of these two; not held in calls that may wait for other ranks
  ncclComm* comm_ = nullptr;  // nullptr before init() and after it was given up
  bool given_up_ = false;
  bool failed_ = false;
};

// All communicators of a group of ranks and of its parts.
class Communicators {
 public:
  explicit Communicators(Nccl& nccl) : nccl_(nccl) {}
  Nccl& nccl() const { return nccl_; }
  std::shared_ptr<Communicator> make();
  // From another thread: ends what is under way, whose calls then throw. May not return.
  void abandon();

 private:
  Nccl& nccl_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Communicator>> all_;
};

}  // namespace bench::kernels::nccl
