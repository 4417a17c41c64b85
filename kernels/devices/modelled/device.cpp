// A GPU that is not here, known from its data sheet: it allocates and runs nothing.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/modelled.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "kernels/devices/absent_device.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/card_properties.h"

namespace bench::kernels {
namespace {

constexpr const char* kKind = "modelled";

DeviceInfo describe(const GpuModel& model, const ModelledSetting& setting) {
  const Gpu& gpu = model.gpu();
  DeviceInfo info{.id = gpu.id,
                  .kind = kKind,
                  .name = display_name(gpu),
                  .memory_bytes = gpu.memory_bytes,
                  .available_bytes = model.usable_bytes(),
                  .compute_units = gpu.multiprocessors,
                  .details = {{"compute_capability", fmt::format("{}.{}", gpu.compute_capability / 10,
                                                                 gpu.compute_capability % 10)},
                              {"framework", std::string(name_of(setting.framework))}}};
  if (gpu.bus) {
    info.details["pcie"] = fmt::format("gen{} x{}", gpu.bus->generation, gpu.bus->lanes);
  }
  if (setting.cast_whole) {
    info.details[kCastDetail] = "whole";
  }
  return info;
}

class ModelledDevice final : public AbsentDevice, public cuda::CardDevice {
 public:
  ModelledDevice(GpuModel model, const ModelledSetting& setting)
      : model_(std::move(model)),
        setting_(setting),
        info_(describe(model_, setting)),
        card_(model_.gpu().compute_capability, model_.gpu().multiprocessors,
              cuda::cudnn_properties(model_.gpu())) {}

  const DeviceInfo& info() const override { return info_; }
  const GpuModel* model() const override { return &model_; }
  // For plans of libraries.
  cuda::Card& card() const override { return card_; }

  std::optional<std::string> unsupported(Dtype dtype) const override {
    if (setting_.framework == Framework::bench) {  // a plan of its memory needs no measured time
      return model_.lacks_units(dtype);
    }
    return model_.unsupported({.dtype = dtype, .cast_whole = setting_.cast_whole && dtype == Dtype::fp16});
  }

  // Of the data sheet. A dtype without units of its own is computed as fp32.
  Peaks peaks(Dtype dtype) override {
    const Gpu& gpu = model_.gpu();
    const auto own = gpu.flops_per_s.find(dtype);
    const auto known = own != gpu.flops_per_s.end() ? own : gpu.flops_per_s.find(Dtype::fp32);
    return {.flops_per_s = known == gpu.flops_per_s.end() ? 0 : known->second,
            .bytes_per_s = gpu.bytes_per_s,
            .source = "data sheet"};
  }

 private:
  GpuModel model_;
  ModelledSetting setting_;
  DeviceInfo info_;
  mutable cuda::Card card_;
};

std::string description() {
  return fmt::format("{} GPUs that are not here, predicted from their data sheets: bench --list --gpus",
                     gpu_catalogue().all().size());
}

std::unique_ptr<Device> open(const std::string& id, const ModelledSetting& setting) {
  return std::make_unique<ModelledDevice>(
      GpuModel(gpu_named("--device", id), setting.framework, model_coefficients()), setting);
}

const Registration<ModelledDevices> BENCH_REGISTERED{
    {.name = kKind, .description = description, .open = open}};

}  // namespace
}  // namespace bench::kernels
