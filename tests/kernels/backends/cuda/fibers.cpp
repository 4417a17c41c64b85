#include "fibers.h"

#include <sanitizer/common_interface_defs.h>
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

namespace bench::kernels::testing {
namespace {

constexpr int kWarp = 32;
constexpr int kMostThreads = 1024;
constexpr std::size_t kStack = std::size_t{128} << 10;

enum class State { ready, at_barrier, at_exchange, ended };

// A stack that runs one body after the other, and switches to and from whoever resumes it. ucontext makes the
// stack; later switches are jumps, for swapcontext calls the system each time.
//
// Frames that are left by a jump are not checked by the address sanitizer: it would take what lies around
// their variables for in use still.
class Fiber {
 public:
  Fiber() : stack_(std::make_unique_for_overwrite<std::byte[]>(kStack)) {}

  // Until it suspends or the body ends.
  [[gnu::no_sanitize_address]] void resume(const std::function<void()>* body) {
    body_ = body;
    if (__builtin_setjmp(outside_.data()) == 0) {
      leave_to(stack_.get(), kStack, &outside_fake_);
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

}  // namespace

class FiberBlock {
 public:
  FiberBlock(int threads, const std::function<void(int)>& body)
      : states_(static_cast<std::size_t>(threads), State::ready),
        exchanged_(states_.size()),
        rounds_(states_.size()) {
    for (int index = 0; index < threads; ++index) {
      bodies_.emplace_back([this, &body, index] {
        try {
          body(index);
        } catch (...) {
          thrown_ = std::current_exception();
        }
        states_[index] = State::ended;
      });
    }
  }

  // A fiber in the midst of a body that will not go on is of no use any more.
  ~FiberBlock() {
    for (std::size_t index = 0; index < states_.size(); ++index) {
      if (states_[index] == State::at_barrier || states_[index] == State::at_exchange) {
        fiber(static_cast<int>(index)).reset();
      }
    }
  }
  FiberBlock(const FiberBlock&) = delete;
  FiberBlock& operator=(const FiberBlock&) = delete;

  void run() {
    std::vector<int> order(states_.size());
    std::iota(order.begin(), order.end(), 0);
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

  // Two rooms, used in turns: a lane that is ahead by one must not write over what others still read.
  std::uint64_t exchange(int index, std::uint64_t mine, int lane) {
    const std::size_t room = rounds_[index]++ % 2;
    exchanged_[index][room] = mine;
    wait(index, State::at_exchange);
    return exchanged_.at(index / kWarp * kWarp + lane)[room];
  }

  void* shared(std::size_t bytes) {
    if (shared_.empty()) {
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
      if (all(begin, end, State::at_exchange)) {
        std::fill(begin, end, State::ready);
      }
    }
  }

  std::vector<State> states_;
  std::vector<std::array<std::uint64_t, 2>> exchanged_;
  std::vector<std::size_t> rounds_;
  std::vector<std::function<void()>> bodies_;
  std::vector<Line> shared_;
  std::size_t shared_bytes_ = 0;
  std::exception_ptr thrown_;
};

void FiberThread::sync() const {
  owner_->wait(index_, State::at_barrier);
}

std::uint64_t FiberThread::exchange(std::uint64_t mine, int lane) const {
  return owner_->exchange(index_, mine, lane);
}

std::uint32_t FiberThread::ballot(bool vote) const {
  std::uint32_t votes = (vote ? 1U : 0U) << (index_ % kWarp);
  for (int mask = 1; mask < kWarp; mask *= 2) {
    votes |= shuffle_xor(votes, mask);
  }
  return votes;
}

void* FiberThread::shared_bytes(std::size_t bytes) const {
  return owner_->shared(bytes);
}

void run_grid(int threads, std::int64_t blocks, const std::function<void(const FiberThread&)>& body) {
  if (threads < 1 || threads > kMostThreads || threads % kWarp != 0) {
    throw std::logic_error("a block has whole warps, and at most 1024 threads");
  }
  std::vector<int> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, shuffler());
  for (const int block : order) {
    FiberBlock* owner = nullptr;
    const std::function<void(int)> of_thread = [&](int index) {
      body(FiberThread(*owner, index, block, static_cast<int>(blocks)));
    };
    FiberBlock running(threads, of_thread);
    owner = &running;
    running.run();
  }
}

}  // namespace bench::kernels::testing
