// A change of the settings in words, in PyTorch, and what it costs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/advise/advice.h"

namespace bench {

// "workers 0 → 3, batch 16 → 64"
std::string changed_words(const TrainingSettings& now, const TrainingSettings& then);

// "DataLoader(batch_size=64, num_workers=3, pin_memory=True, prefetch_factor=2)"; what did not change is left
// out, but for workers, whose prefetch_factor is always written.
struct SettingUse {
  bool on_gpu = false;
  bool training = false;
  bool convolves_channels_last = false;  // as this program does on a GPU; PyTorch has to be told to
  std::int64_t cards_of_a_host = 0;      // 0: all are in one host
};
std::string pytorch_setting(const TrainingSettings& now, const TrainingSettings& then, const SettingUse& use);

// "effective batch 16 → 64: learning rate × 4 with SGD, × 2 with Adam (rules of thumb)"
std::string effective_batch_words(const TrainingSettings& now, const TrainingSettings& then);

struct SettingBytes {
  std::int64_t device = 0;  // 0: not known, as the others
  std::int64_t device_cap = 0;
  double host = 0;
  double host_cap = 0;
};

// So begins one that is no cost.
inline constexpr std::string_view kSaves = "saves ";
// A sentence each: memory, accuracy and, in training, effective batch and learning rate.
std::vector<std::string> costs_of(const TrainingSettings& now, const TrainingSettings& then,
                                  const SettingBytes& before, const SettingBytes& after, bool training);

}  // namespace bench
