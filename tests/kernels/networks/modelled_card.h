// A CUDA device that is not here, for plans alone: its operations have the slots of the reference
// implementations, and scratch as large as a library might ask for.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "tests/bench/support/idle_device.h"

namespace bench::kernels {

class ModelledCard : public IdleDevice {
 public:
  ModelledCard(std::string name, int multiprocessors, bool bf16, std::int64_t free_bytes = 0)
      : bf16_(bf16),
        info_{.id = "cuda:0",
              .kind = "cuda",
              .name = std::move(name),
              .memory_bytes = free_bytes,
              .available_bytes = free_bytes,
              .compute_units = multiprocessors,
              .details = {}} {}

  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return dtype == Dtype::bf16 && !bf16_ ? std::optional<std::string>("bf16 needs sm_80") : std::nullopt;
  }

 private:
  bool bf16_;
  DeviceInfo info_;
};

inline ModelledCard t4() {
  return {"T4", 40, false};
}
inline ModelledCard h200() {
  return {"H200", 132, true};
}

}  // namespace bench::kernels
