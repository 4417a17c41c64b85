// A card that operations are planned for: where it is here, its stream and its memory; the handles, plans and
// tunings of NVIDIA's libraries for it. The card's device owns it. Needs no CUDA header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

#include "bench/device.h"
#include "bench/error.h"
#include "bench/text/lru_cache.h"
#include "kernels/devices/cuda/allocator.h"
#include "kernels/devices/cuda/autotuned_choices.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

// For one thread: the one that has the device.
class Card {
 public:
  // A card that is here, and the calling thread's.
  Card(Runtime& runtime, const CardProperties& card, int ordinal)
      : compute_capability_(10 * card.major + card.minor),
        multiprocessors_(card.multiprocessors),
        here_(std::make_unique<Here>(runtime, ordinal)) {}
  // A card that is not here: plans are made for it, and nothing runs. `properties` is cuDNN's JSON of it.
  Card(int compute_capability, int multiprocessors, std::string properties)
      : compute_capability_(compute_capability),
        multiprocessors_(multiprocessors),
        properties_(std::move(properties)) {}

  bool is_here() const { return here_ != nullptr; }
  int compute_capability() const { return compute_capability_; }  // 75 is 7.5
  int multiprocessors() const { return multiprocessors_; }
  const std::string& properties() const { return properties_; }  // empty for a card that is here

  // These throw std::logic_error where the card is not here.
  Runtime& runtime() const { return here().runtime; }
  int ordinal() const { return here().ordinal; }
  CUstream_st* stream() const { return here().stream.get(); }
  CachingAllocator& allocator() const { return here().allocator; }
  // Makes the card the calling thread's: another one may have been opened meanwhile.
  void use() const;

  // A library's object for this card, one of each type: made as Kept(*this) when first asked for, and
  // destroyed with the card unless something else still owns it.
  template <class Kept>
  const std::shared_ptr<Kept>& keep() {
    std::shared_ptr<void>& slot = kept_[typeid(Kept)];
    if (slot == nullptr) {
      slot = std::make_shared<std::shared_ptr<Kept>>(std::make_shared<Kept>(*this));
    }
    return *static_cast<std::shared_ptr<Kept>*>(slot.get());
  }

  // For a call that allocates memory itself. If the call finds none, the allocator frees its kept segments
  // and the call is repeated once, unless nothing was kept or the stream is being recorded. Throws the last
  // call's exception.
  template <class Call>
  auto with_memory(const Call& call) const {
    try {
      return call();
    } catch (const OutOfMemory&) {
      if (!gives_back_memory()) {
        throw;
      }
    }
    return call();
  }
  // Queues a kernel of our own by launch(stream). The driver loads a kernel's code at its first launch, and
  // may find no memory for it.
  template <class Launch>
  void queue(const char* kernel, const Launch& launch) const {
    with_memory([&] {
      launch(stream());
      runtime().check(runtime().last_error(), kernel);
    });
  }

  // Autotuning's choices for this card, by this process and, after keep_choices(), by earlier ones.
  AutotunedChoices& choices() { return choices_; }
  void keep_choices(AutotunedChoices choices) { choices_ = std::move(choices); }
  bool autotunes() const { return autotunes_; }
  void take_first_algorithms() { autotunes_ = false; }

  // The number of the workload that is being made or runs: what is bounded for one begins again with the
  // next.
  std::int64_t workload() const { return workload_; }
  void begin_workload() { ++workload_; }

 private:
  struct Here {
    Here(Runtime& of, int number) : runtime(of), ordinal(number), stream(of), allocator(of) {}
    Runtime& runtime;
    int ordinal;
    CudaStream stream;
    CachingAllocator allocator;
  };
  Here& here() const;
  bool gives_back_memory() const;

  int compute_capability_ = 0;
  int multiprocessors_ = 0;
  std::string properties_;
  std::unique_ptr<Here> here_;
  // Destroyed before the stream and the memory, which they may refer to.
  std::map<std::type_index, std::shared_ptr<void>> kept_;
  AutotunedChoices choices_;
  bool autotunes_ = true;
  std::int64_t workload_ = 0;
};

// A card's LRU cache of a library's answers, by the work it was asked for. A default memory sweep asks cuDNN
// for some 4,000, which take 0.25 MB each.
template <class Work, class Answer>
class KeptAnswers : public LruCache<Work, Answer> {
 public:
  static constexpr std::size_t kMost = 8192;
  explicit KeptAnswers(const Card& /*card*/) : LruCache<Work, Answer>(kMost) {}
};

// Base of the devices that are a card, here or not.
class CardDevice {
 public:
  virtual ~CardDevice() = default;
  virtual Card& card() const = 0;
};

// Throws Unsupported where the device is no card.
Card& card_of(const Device& device);

// The stream on which a device's workload is queued. Throws Unsupported where the device is no card, and
// std::logic_error where the card is not here.
CUstream_st* stream_of(const Device& device);

}  // namespace bench::kernels::cuda
