// A card that operations are planned for, with the handles, plans and tunings of NVIDIA's libraries for it.
// The card's device owns it and all of these, and releases them when it is closed. Needs no CUDA header.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

#include "bench/device.h"
#include "bench/error.h"
#include "kernels/devices/cuda/autotuned_choices.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

// For one thread: the one that has the device.
class Card {
 public:
  // A card that is here.
  Card(Runtime& runtime, int compute_capability, int ordinal)
      : runtime_(&runtime), compute_capability_(compute_capability), ordinal_(ordinal) {}
  // A card that is not here: plans are made for it, and nothing runs. `properties` is cuDNN's JSON of it.
  Card(int compute_capability, std::string properties)
      : compute_capability_(compute_capability), properties_(std::move(properties)) {}

  bool is_here() const { return runtime_ != nullptr; }
  int ordinal() const { return ordinal_; }                        // of a card that is here
  int compute_capability() const { return compute_capability_; }  // 75 is 7.5
  const std::string& properties() const { return properties_; }   // empty for a card that is here

  // Throws std::logic_error where the card is not here.
  Runtime& runtime() const;
  // Makes the card the calling thread's.
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
  void release() { kept_.clear(); }

  // `release` gives the memory that the card's device keeps for later back to the driver: false where there
  // is none, or where none can be given back now.
  void on_memory_shortage(std::function<bool()> release) { release_memory_ = std::move(release); }
  // Calls a library that allocates memory of its own. Where it finds none, the call is made once more, if the
  // device had memory to give back. Throws what the last call threw.
  template <class Call>
  auto with_memory(const Call& call) const {
    try {
      return call();
    } catch (const OutOfMemory&) {
      if (!release_memory_ || !release_memory_()) {
        throw;
      }
    }
    return call();
  }

  // What autotuning chose for this card, by this process and earlier ones; empty until keep_choices().
  AutotunedChoices& choices() { return choices_; }
  void keep_choices(AutotunedChoices choices) { choices_ = std::move(choices); }

 private:
  Runtime* runtime_ = nullptr;
  int compute_capability_ = 0;
  int ordinal_ = 0;
  std::string properties_;
  std::map<std::type_index, std::shared_ptr<void>> kept_;
  std::function<bool()> release_memory_;
  AutotunedChoices choices_;
};

// Base of the devices that are a card, here or not.
class CardDevice {
 public:
  virtual ~CardDevice() = default;
  virtual Card& card() const = 0;
};

// Throws Unsupported where the device is no card.
Card& card_of(const Device& device);

// The stream on which a device's workload is queued. Throws std::logic_error where the device has none.
CUstream_st* stream_of(Device& device);

}  // namespace bench::kernels::cuda
