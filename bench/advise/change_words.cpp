#include "bench/advise/change_words.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/units.h"

namespace bench {

std::string changed_words(const TrainingSettings& now, const TrainingSettings& then) {
  std::vector<std::string> words;
  if (now.cards != then.cards) {
    words.push_back(fmt::format("cards {} → {}", now.cards, then.cards));
  }
  if (now.dtype != then.dtype) {
    words.push_back(fmt::format("{} → {}", now.dtype, then.dtype));
  }
  if (now.batch != then.batch) {
    words.push_back(fmt::format("batch {} → {}", now.batch, then.batch));
  }
  if (now.accumulate != then.accumulate) {
    words.push_back(fmt::format("accumulate {} → {}", now.accumulate, then.accumulate));
  }
  if (now.workers != then.workers) {
    words.push_back(fmt::format("workers {} → {}", now.workers, then.workers));
  }
  if (now.prefetch != then.prefetch) {
    words.push_back(fmt::format("prefetch {} → {}", now.prefetch, then.prefetch));
  }
  if (now.pin != then.pin) {
    words.emplace_back(then.pin ? "pinned memory" : "pageable memory");
  }
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

std::string pytorch_setting(const TrainingSettings& now, const TrainingSettings& then,
                            const SettingUse& use) {
  std::vector<std::string> loader;
  if (now.batch != then.batch) {
    loader.push_back(fmt::format("batch_size={}", then.batch));
  }
  if (now.workers != then.workers || now.prefetch != then.prefetch) {
    loader.push_back(fmt::format("num_workers={}", then.workers));
    if (then.workers > 0) {
      loader.push_back(fmt::format("prefetch_factor={}, persistent_workers=True", then.prefetch));
    }
  }
  if (now.pin != then.pin) {
    loader.push_back(fmt::format("pin_memory={}", then.pin ? "True" : "False"));
  }
  std::vector<std::string> settings;
  if (now.cards != then.cards) {
    const std::int64_t a_host = use.cards_of_a_host > 0 ? use.cards_of_a_host : then.cards;
    settings.push_back(fmt::format(
        "torchrun {}--nproc_per_node={}, DistributedDataParallel(model)",
        a_host < then.cards ? fmt::format("--nnodes={} ", (then.cards + a_host - 1) / a_host) : "", a_host));
  }
  if (!loader.empty()) {
    settings.push_back(fmt::format("DataLoader({})", fmt::join(loader, ", ")));
  }
  if (now.pin != then.pin && then.pin) {
    settings.emplace_back("batch.to(device, non_blocking=True)");
  }
  if (now.dtype != then.dtype) {
    const char* const device = use.on_gpu ? "cuda" : "cpu";
    settings.push_back(
        then.dtype == "bf16"   ? fmt::format("torch.autocast(\"{}\", dtype=torch.bfloat16)", device)
        : then.dtype == "fp16" ? fmt::format("torch.autocast(\"{}\", dtype=torch.float16){}", device,
                                             use.training ? ", torch.amp.GradScaler()" : "")
        : then.dtype == "tf32"
            ? "torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True"
        : then.dtype == "half" ? "model.half()"
                               : "no torch.autocast");
    if (use.on_gpu && use.convolves_channels_last && then.dtype != "fp32" && then.dtype != "tf32") {
      settings.emplace_back("model.to(memory_format=torch.channels_last), the images too");
    }
  }
  if (now.accumulate != then.accumulate) {
    settings.push_back(then.accumulate == 1
                           ? "optimizer.step() after every batch"
                           : fmt::format("optimizer.step() after every {} batches", then.accumulate));
  }
  return fmt::format("{}", fmt::join(settings, "; "));
}

std::string effective_batch_words(const TrainingSettings& now, const TrainingSettings& then) {
  const double ratio =
      static_cast<double>(then.effective_batch()) / static_cast<double>(now.effective_batch());
  return fmt::format(
      "effective batch {} → {}: learning rate × {:.3g} with SGD, × {:.3g} with Adam (rules of thumb)",
      now.effective_batch(), then.effective_batch(), ratio, std::sqrt(ratio));
}

std::vector<std::string> costs_of(const TrainingSettings& now, const TrainingSettings& then,
                                  const SettingBytes& before, const SettingBytes& after, bool training) {
  std::vector<std::string> costs;
  const auto changes = [](std::string_view what, double from, double to, double cap) {
    constexpr double kNothing = 0.005;  // of the whole
    return fmt::format("{}{} {} → {}{}", to < from ? kSaves : "", what, format_bytes(std::llround(from)),
                       format_bytes(std::llround(to)),
                       to < kNothing * cap || cap == 0 ? ""
                                                       : fmt::format(" ({:.0f} % of {})", 100 * to / cap,
                                                                     format_bytes(std::llround(cap))));
  };
  if (before.device > 0 && after.device > 0 && before.device != after.device) {
    costs.push_back(changes("device memory", static_cast<double>(before.device),
                            static_cast<double>(after.device), static_cast<double>(after.device_cap)));
  }
  if (after.host > 0 && std::llround(after.host) != std::llround(before.host)) {
    costs.push_back(changes("host memory", before.host, after.host, after.host_cap) +
                    " for batches and workers");
  }
  if (now.dtype != then.dtype && then.dtype != "fp32") {
    const std::string compare = training ? "compare the validation loss" : "compare the answers";
    costs.push_back(then.dtype == "tf32" ? "10 bits of mantissa in products: " + compare
                    : then.dtype == "bf16"
                        ? "8 bits of precision: " + compare
                        : "a range of 6e-8 to 65504: " + std::string(training ? "scale the loss, and " : "") +
                              compare);
  }
  if (now.cards != then.cards) {
    costs.push_back(
        fmt::format("{} {} in place of {}", then.cards, then.cards == 1 ? "card" : "cards", now.cards));
  }
  if (!training) {
    return costs;
  }
  if (now.effective_batch() != then.effective_batch()) {
    costs.push_back(effective_batch_words(now, then));
  } else if (now.batch != then.batch) {
    costs.push_back(fmt::format("effective batch stays {}; batch norms see {} samples instead of {}",
                                then.effective_batch(), then.batch, now.batch));
  }
  return costs;
}

}  // namespace bench
