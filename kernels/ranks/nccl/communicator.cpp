#include "kernels/ranks/nccl/communicator.h"

#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/ranks.h"

namespace bench::kernels::nccl {

std::string version_text(int version) {
  constexpr int kNewForm = 10'000;  // from 2.9 on
  return version < kNewForm ? fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100)
                            : fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

void Communicator::fail(const char* name, int code) {
  failed_ = true;
  const std::string words = nccl_.last_error();
  throw RanksLost(fmt::format("{} failed: {} ({}{})", name, code, nccl_.error_text(code),
                              words.empty() ? "" : ": " + words));
}

ncclComm* Communicator::living() const {
  if (given_up_) {
    throw RanksLost("the ranks' NCCL communicator was given up");
  }
  return comm_;
}

ncclComm* Communicator::handle() {
  const std::scoped_lock lock(mutex_);
  return living();
}

bool Communicator::in_progress(const char* name) {
  const std::scoped_lock lock(mutex_);
  int error = result::kSuccess;
  if (const int code = nccl_.async_error(living(), error); code != result::kSuccess) {
    fail("ncclCommGetAsyncError", code);
  }
  if (error != result::kSuccess && error != result::kInProgress) {
    fail(name, error);
  }
  return error == result::kInProgress;
}

void Communicator::until_done(const char* name) {
  while (in_progress(name)) {
    std::this_thread::yield();
  }
}

void Communicator::init(int ranks, const UniqueId& id, int rank) {
  constexpr const char* kName = "ncclCommInitRank";
  ncclComm* made = nullptr;
  const int code = nccl_.init(made, ranks, id, rank);
  bool given_up = false;
  {
    const std::scoped_lock lock(mutex_);
    comm_ = made;
    given_up = given_up_;
  }
  if (given_up) {  // meanwhile: there was no handle to abort
    abandon();
  }
  ended(kName, code);
}

void Communicator::call(const char* name, const std::function<int(ncclComm* comm)>& call) {
  ended(name, call(handle()));
}

void Communicator::ended(const char* name, int code) {
  if (code == result::kSuccess) {
    return;
  }
  handle();  // that it was given up is why the call failed
  if (code != result::kInProgress) {
    fail(name, code);
  }
  until_done(name);
}

void Communicator::check() {
  in_progress("a collective of NCCL");
}

void Communicator::abandon() {
  ncclComm* comm = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    given_up_ = true;
    comm = std::exchange(comm_, nullptr);
  }
  if (comm != nullptr) {
    nccl_.abort(comm);
  }
}

Communicator::~Communicator() {
  failed_ = failed_ || std::uncaught_exceptions() > 0;  // then the other ranks do not come to this
  if (!failed_ && comm_ != nullptr) {
    try {
      call("ncclCommFinalize", [this](ncclComm* comm) { return nccl_.finalize(comm); });
    } catch (const RanksLost&) {  // it is aborted below
    }
  }
  if (failed_) {
    abandon();
    return;
  }
  if (comm_ != nullptr) {
    nccl_.destroy(comm_);
  }
}

std::shared_ptr<Communicator> Communicators::make() {
  auto made = std::make_shared<Communicator>(nccl_);
  const std::scoped_lock lock(mutex_);
  std::erase_if(all_, [](const auto& one) { return one.expired(); });
  all_.push_back(made);
  return made;
}

void Communicators::abandon() {
  std::vector<std::shared_ptr<Communicator>> living;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& one : all_) {
      if (auto communicator = one.lock()) {
        living.push_back(std::move(communicator));
      }
    }
  }
  for (const auto& communicator : living) {
    communicator->abandon();
  }
}

}  // namespace bench::kernels::nccl
