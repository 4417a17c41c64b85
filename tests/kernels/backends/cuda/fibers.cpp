#include "fibers.h"

#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

// Absent unless the address sanitizer is linked: then it is told of every switch between stacks.
#pragma weak __sanitizer_start_switch_fiber
#pragma weak __sanitizer_finish_switch_fiber

// Absent unless the thread sanitizer is linked. This file is compiled without it: what the machine itself
// reads and writes is no access of a body's.
#pragma weak __tsan_get_current_fiber
#pragma weak __tsan_create_fiber
#pragma weak __tsan_destroy_fiber
#pragma weak __tsan_switch_to_fiber
#pragma weak __tsan_acquire
#pragma weak __tsan_release
#pragma weak AnnotateIgnoreWritesBegin
#pragma weak AnnotateIgnoreWritesEnd
extern "C" {
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace bench::kernels::testing {
namespace {

constexpr int kWarp = 32;
constexpr int kMostThreads = 1024;
constexpr std::size_t kStack = std::size_t{128} << 10;

enum class State { ready, at_barrier, at_warp_barrier, at_exchange, ended };

// What the thread sanitizer is told has happened before: whatever was published before it is observed.
class Order {
 public:
  void publish() {
    if (__tsan_release != nullptr) {
      __tsan_release(this);
    }
  }
  void observe() {
    if (__tsan_acquire != nullptr) {
      __tsan_acquire(this);
    }
  }
};

// Memory that the current fiber allocates and fills for all: no access of its own.
class NoAccess {
 public:
  NoAccess() {
    if (AnnotateIgnoreWritesBegin != nullptr) {
      AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
  }
  NoAccess(const NoAccess&) = delete;
  NoAccess& operator=(const NoAccess&) = delete;
  ~NoAccess() {
    if (AnnotateIgnoreWritesEnd != nullptr) {
      AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    }
  }
};

// A stack that runs one body after the other, and switches to and from whoever resumes it. ucontext makes the
// stack; later switches are jumps, for swapcontext calls the system each time.
//
// Frames that are left by a jump are not checked by the address sanitizer: it would take what lies around
// their variables for in use still.
class Fiber {
 public:
  Fiber() : stack_(std::make_unique_for_overwrite<std::byte[]>(kStack)) {
    if (__tsan_create_fiber != nullptr) {
      thread_ = __tsan_create_fiber(0);
    }
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    if (thread_ != nullptr) {
      __tsan_destroy_fiber(thread_);
    }
  }

  // Until it suspends or the body ends.
  [[gnu::no_sanitize_address]] void resume(const std::function<void()>* body) {
    body_ = body;
    if (__builtin_setjmp(outside_.data()) == 0) {
      leave_to(stack_.get(), kStack, &outside_fake_);
      outside_thread_ = __tsan_get_current_fiber != nullptr ? __tsan_get_current_fiber() : nullptr;
      become(thread_);
      if (started_) {
        jump(inside_);
      }
      start();
    }
    arrived(outside_fake_, nullptr, nullptr);
  }

  [[gnu::no_sanitize_address]] void suspend() {
    if (__builtin_setjmp(inside_.data()) == 0) {
      leave_to(outside_stack_, outside_size_, &inside_fake_);
      become(outside_thread_);
      jump(outside_);
    }
    arrived(inside_fake_, &outside_stack_, &outside_size_);
  }

 private:
  using Jump = std::array<void*, 5>;

  // The compiler wants it in another function than the jump's aim.
  [[gnu::noinline, gnu::no_sanitize_address, noreturn]] static void jump(Jump& to) {
    __builtin_longjmp(to.data(), 1);
  }

  [[gnu::noinline, gnu::no_sanitize_address]] void start() {
    started_ = true;
    starting_ = this;
    ucontext_t context{};
    getcontext(&context);
    context.uc_stack.ss_sp = stack_.get();
    context.uc_stack.ss_size = kStack;
    makecontext(&context, &Fiber::enter, 0);
    setcontext(&context);
  }

  static void enter() {
    Fiber* const self = starting_;
    self->arrived(nullptr, &self->outside_stack_, &self->outside_size_);
    for (;;) {
      (*self->body_)();
      self->suspend();
    }
  }

  static void become(void* thread) {
    if (thread != nullptr) {
      __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
    }
  }
  static void leave_to(const void* stack, std::size_t bytes, void** fake) {
    if (__sanitizer_start_switch_fiber != nullptr) {
      __sanitizer_start_switch_fiber(fake, stack, bytes);
    }
  }
  static void arrived(void* fake, const void** from, std::size_t* bytes) {
    if (__sanitizer_finish_switch_fiber != nullptr) {
      __sanitizer_finish_switch_fiber(fake, from, bytes);
    }
  }

  static inline Fiber* starting_ = nullptr;

  std::unique_ptr<std::byte[]> stack_;
  const std::function<void()>* body_ = nullptr;
  bool started_ = false;
  Jump outside_{};
  Jump inside_{};
  void* outside_fake_ = nullptr;
  void* inside_fake_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_size_ = 0;
  void* thread_ = nullptr;  // as the thread sanitizer knows it
  void* outside_thread_ = nullptr;
};

// Made once for all blocks, since a stack is dear.
std::unique_ptr<Fiber>& fiber(int index) {
  static std::array<std::unique_ptr<Fiber>, kMostThreads> fibers;
  auto& made = fibers.at(static_cast<std::size_t>(index));
  if (made == nullptr) {
    made = std::make_unique<Fiber>();
  }
  return made;
}

std::mt19937& shuffler() {
  static std::mt19937 engine(20240229);
  return engine;
}

std::optional<int> forgotten;  // number of a barrier

}  // namespace

bool under_thread_sanitizer() {
  return __tsan_get_current_fiber != nullptr;
}

void forget_barrier(std::optional<int> number) {
  forgotten = number;
}

class FiberBlock {
 public:
  // `finished`: what the block's threads did, for who reads their results.
  FiberBlock(int threads, const std::function<void(int)>& body, Order& finished)
      : states_(static_cast<std::size_t>(threads), State::ready),
        exchanged_(states_.size()),
        rounds_(states_.size()),
        barriers_(states_.size()),
        met_in_warps_((states_.size() + kWarp - 1) / kWarp) {
    for (int index = 0; index < threads; ++index) {
      bodies_.emplace_back([this, &body, &finished, index] {
        started_.observe();
        try {
          body(index);
        } catch (...) {
          thrown_ = std::current_exception();
        }
        finished.publish();
        states_[index] = State::ended;
      });
    }
  }

  // A fiber in the midst of a body that will not go on is of no use any more.
  ~FiberBlock() {
    for (std::size_t index = 0; index < states_.size(); ++index) {
      if (states_[index] != State::ready && states_[index] != State::ended) {
        fiber(static_cast<int>(index)).reset();
      }
    }
  }
  FiberBlock(const FiberBlock&) = delete;
  FiberBlock& operator=(const FiberBlock&) = delete;

  void run() {
    std::vector<int> order(states_.size());
    std::iota(order.begin(), order.end(), 0);
    started_.publish();
    while (!std::ranges::all_of(states_, [](State state) { return state == State::ended; })) {
      std::ranges::shuffle(order, shuffler());
      bool moved = false;
      for (const int index : order) {
        if (states_[index] == State::ready) {
          moved = true;
          fiber(index)->resume(&bodies_[index]);
          if (thrown_) {
            std::rethrow_exception(thrown_);
          }
        }
      }
      release();
      if (!moved) {
        throw std::logic_error("threads wait for others that never come");
      }
    }
  }

  void wait(int index, State state) {
    states_[index] = state;
    fiber(index)->suspend();
  }

  void barrier(int index) { barrier(index, State::at_barrier, met_); }
  void warp_barrier(int index) { barrier(index, State::at_warp_barrier, met_in_warps_[index / kWarp]); }

  // Two rooms, used in turns: a lane that is ahead by one must not write over what others still read.
  std::uint64_t exchange(int index, std::uint64_t mine, int lane) {
    const std::size_t room = rounds_[index]++ % 2;
    exchanged_[index][room] = mine;
    wait(index, State::at_exchange);
    return exchanged_.at(index / kWarp * kWarp + lane)[room];
  }

  void* shared(std::size_t bytes) {
    if (shared_.empty()) {
      const NoAccess setting_up;
      shared_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
      std::memset(shared_.data(), 0xff, shared_.size() * sizeof(Line));
      shared_bytes_ = bytes;
    }
    if (bytes != shared_bytes_) {
      throw std::logic_error("a kernel asks for shared memory of two types");
    }
    return shared_.data();
  }

 private:
  void barrier(int index, State state, Order& met) {
    if (barriers_[index]++ == forgotten) {
      return;
    }
    met.publish();
    wait(index, state);
    met.observe();
  }

  // As a GPU aligns what asks for it.
  struct alignas(128) Line {
    std::array<std::byte, 128> bytes;
  };

  // Whoever all of a warp, or of the block, have come to.
  void release() {
    const auto all = [](auto first, auto last, State state) {
      return std::all_of(first, last, [&](State one) { return one == state; });
    };
    if (all(states_.begin(), states_.end(), State::at_barrier)) {
      std::ranges::fill(states_, State::ready);
      return;
    }
    for (std::size_t first = 0; first < states_.size(); first += kWarp) {
      const auto begin = states_.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end =
          begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(kWarp, states_.size() - first));
      if (all(begin, end, State::at_exchange) || all(begin, end, State::at_warp_barrier)) {
        std::fill(begin, end, State::ready);
      }
    }
  }

  std::vector<State> states_;
  std::vector<std::array<std::uint64_t, 2>> exchanged_;
  std::vector<std::size_t> rounds_;
  std::vector<int> barriers_;  // that each thread has come to
  Order started_;
  Order met_;
  std::vector<Order> met_in_warps_;
  std::vector<std::function<void()>> bodies_;
  std::vector<Line> shared_;
  std::size_t shared_bytes_ = 0;
  std::exception_ptr thrown_;
};

void FiberThread::sync() const {
  owner_->barrier(index_);
}

void FiberThread::sync_warp() const {
  owner_->warp_barrier(index_);
}

std::uint64_t FiberThread::exchange(std::uint64_t mine, int lane) const {
  return owner_->exchange(index_, mine, lane);
}

void* FiberThread::shared_bytes(std::size_t bytes) const {
  return owner_->shared(bytes);
}

void run_grid(int threads, std::int64_t blocks, const std::function<void(const FiberThread&)>& body,
              std::int64_t first) {
  if (threads < 1 || threads > kMostThreads || threads % kWarp != 0) {
    throw std::logic_error("a block has whole warps, and at most 1024 threads");
  }
  std::vector<int> order(static_cast<std::size_t>(blocks - first));
  std::iota(order.begin(), order.end(), static_cast<int>(first));
  std::ranges::shuffle(order, shuffler());
  Order finished;
  // Under the thread sanitizer all blocks live until the grid has ended: giving their memory back is an
  // access that only the end of the grid orders.
  std::vector<std::unique_ptr<FiberBlock>> ended;
  try {
    for (const int block : order) {
      FiberBlock* owner = nullptr;
      const std::function<void(int)> of_thread = [&](int index) {
        body(FiberThread(*owner, index, block, static_cast<int>(blocks)));
      };
      auto running = std::make_unique<FiberBlock>(threads, of_thread, finished);
      owner = running.get();
      if (under_thread_sanitizer()) {
        ended.push_back(std::move(running));
      }
      owner->run();
    }
  } catch (...) {
    finished.observe();
    throw;
  }
  finished.observe();
}

}  // namespace bench::kernels::testing
