// One communicator of NCCL, and its calls one at a time: the thread that watches the ranks may give it up at
// any moment.
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
  // Returns when the call is no longer in progress.
  void call(const char* name, const std::function<int(ncclComm* comm)>& call);
  // Throws where a call has failed meanwhile, here or on another rank.
  void check();

  // From another thread. May not return.
  void abandon();

 private:
  bool in_progress(const char* name);
  void until_done(const char* name);
  ncclComm* handle() const;
  [[noreturn]] void fail(const char* name, int code);

  Nccl& nccl_;
  std::mutex mutex_;          // of the calls
  ncclComm* comm_ = nullptr;  // nullptr before init() and after it was given up
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
