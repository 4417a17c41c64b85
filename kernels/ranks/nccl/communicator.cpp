#include "kernels/ranks/nccl/communicator.h"

#include <chrono>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include "bench/ranks.h"

namespace bench::kernels::nccl {
namespace {

constexpr std::chrono::microseconds kPace(20);

}  // namespace

std::string version_text(int version) {
  constexpr int kNewForm = 10'000;  // from 2.9 on
  return version < kNewForm ? fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100)
                            : fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

void Communicator::fail(const char* name, int code) {
  failed_ = true;
  const std::string words = nccl_.last_error(comm_);
  throw RanksLost(fmt::format("{} failed: {} ({}{})", name, code, nccl_.error_text(code),
                              words.empty() ? "" : ": " + words));
}

ncclComm* Communicator::handle() const {
  if (comm_ == nullptr) {
    throw RanksLost("the ranks' NCCL communicator was given up");
  }
  return comm_;
}

bool Communicator::in_progress(const char* name) {
  const std::scoped_lock lock(mutex_);
  int error = result::kSuccess;
  if (const int code = nccl_.async_error(handle(), error); code != result::kSuccess) {
    fail("ncclCommGetAsyncError", code);
  }
  if (error != result::kSuccess && error != result::kInProgress) {
    fail(name, error);
  }
  return error == result::kInProgress;
}

void Communicator::until_done(const char* name) {
  while (in_progress(name)) {
    std::this_thread::sleep_for(kPace);
  }
}

void Communicator::init(int ranks, const UniqueId& id, int rank) {
  constexpr const char* kName = "ncclCommInitRankConfig";
  {
    const std::scoped_lock lock(mutex_);
    const int code = nccl_.init(comm_, ranks, id, rank);
    if (code != result::kSuccess && code != result::kInProgress) {
      fail(kName, code);
    }
  }
  until_done(kName);
}

void Communicator::call(const char* name, const std::function<int(ncclComm* comm)>& call) {
  {
    const std::scoped_lock lock(mutex_);
    const int code = call(handle());
    if (code == result::kSuccess) {
      return;
    }
    if (code != result::kInProgress) {
      fail(name, code);
    }
  }
  until_done(name);
}

void Communicator::check() {
  in_progress("a collective of NCCL");
}

void Communicator::abandon() {
  const std::scoped_lock lock(mutex_);
  if (comm_ != nullptr) {
    nccl_.abort(comm_);
    comm_ = nullptr;
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
  const std::scoped_lock lock(mutex_);
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
