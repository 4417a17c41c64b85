// Attention by cuDNN's fused kernels: no scores and no probabilities are in memory. The forward pass keeps a
// number for each row, from which the gradient computes them again (Dao et al. 2022, arXiv:2205.14135).
//
// The heuristics' favourite plan is taken untimed: all of them are compiled at run time, which takes longer
// than what a better one would save.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/cudnn/candidates.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels::cudnn {
namespace {

constexpr std::int64_t kWorkspaceCap = std::int64_t{1} << 30;

std::int64_t bytes_of(const Tensor& tensor) {
  std::int64_t bytes = bench::bytes_of(Dtype::fp32);
  for (const std::int64_t dim : tensor.dims) {
    bytes *= dim;
  }
  return cuda::before_library_scratch(bytes);
}

// The favourite, and the last one for where it cannot be built. Throws Unsupported where there is none.
std::vector<Candidate> candidates_for(const AttentionPass& pass, cuda::Card& card, std::int64_t& workspace) {
  const std::shared_ptr<Plans> plans = plans_for(pass, card);
  const Selection selection = select(plans->list(), pass.dtype, kWorkspaceCap, 1);
  if (selection.plans.empty()) {
    throw Unsupported(fmt::format("cuDNN has no plan for {} that sums in fp32", described(pass)));
  }
  workspace = selection.workspace;
  std::vector<Candidate> candidates{{.plans = plans, .plan = selection.plans.front()}};
  if (selection.reserve) {
    candidates.push_back({.plans = plans, .plan = *selection.reserve, .reserve = true});
  }
  return candidates;
}

class CudnnAttention final : public Operation {
 public:
  CudnnAttention(const Attention& spec, Device& device)
      : spec_(spec),
        pass_(pass_of(spec)),
        device_(device),
        candidates_(candidates_for(pass_, cuda::card_of(device), workspace_)) {
    const bool backward = !spec.forward();
    add(Slot::src, Role::input, spec.src());
    if (spec.training || backward) {
      slots_.push_back({.slot = Slot::saved,
                        .role = spec.saves() ? Role::output : Role::input,
                        .bytes = spec.saved_bytes()});
    }
    add(Slot::dst, backward ? Role::input : Role::output, spec.dst());
    if (backward) {
      add(Slot::diff_dst, Role::input, spec.dst());
      add(Slot::diff_src, Role::output, spec.src());
      row_sums_ = bytes_of(pass_.row_values());
      query_sums_ = bytes_of(pass_.dense());
    }
    if (row_sums_ + query_sums_ + workspace_ > 0) {
      slots_.push_back(cuda::library_scratch(row_sums_ + query_sums_ + workspace_));
    }
  }

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {
    if (!prepared_) {
      candidates_ = prepared(candidates_, workspace_, described(pass_));
      prepared_ = true;
    }
  }
  void pack(Slot slot, std::span<const float> /*plain*/, void* /*packed*/) override { refuse(slot); }
  void unpack(Slot slot, const void* /*packed*/, std::span<float> /*plain*/) override { refuse(slot); }
  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return candidates_.front().plans->name(candidates_.front().plan); }

  void run(const SlotPointers& pointers) override {
    PlanArguments arguments;
    auto* const scratch = static_cast<std::byte*>(pointers[Slot::workspace]);
    arguments[kQuery] = part(pointers[Slot::src], 0);
    arguments[kKey] = part(pointers[Slot::src], 1);
    arguments[kValue] = part(pointers[Slot::src], 2);
    arguments[kOut] = pointers[Slot::dst];
    arguments[kStatistics] = pointers[Slot::saved];
    if (!spec_.forward()) {
      arguments[kDiffOut] = pointers[Slot::diff_dst];
      arguments[kDiffQuery] = part(pointers[Slot::diff_src], 0);
      arguments[kDiffKey] = part(pointers[Slot::diff_src], 1);
      arguments[kDiffValue] = part(pointers[Slot::diff_src], 2);
      arguments[kRowSums] = scratch;
      arguments[kDiffQuerySum] = scratch + row_sums_;
    }
    arguments.workspace = scratch == nullptr ? nullptr : scratch + row_sums_ + query_sums_;
    cuda::check_library_scratch(arguments.workspace);
    const Candidate& chosen = candidates_.front();
    chosen.plans->run(chosen.plan, cuda::stream_of(device_), arguments);
  }

 private:
  void add(Slot slot, Role role, const TensorDesc& tensor) {
    slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
  }
  [[noreturn]] static void refuse(Slot slot) {
    throw std::invalid_argument(fmt::format("attention has no parameter {}", name_of(slot)));
  }
  // Query, key or value (0, 1, 2) of the first head, in src or diff_src.
  void* part(void* rows, int which) const {
    return static_cast<std::byte*>(rows) + which * spec_.width() * bench::bytes_of(spec_.dtype);
  }

  Attention spec_;
  AttentionPass pass_;
  Device& device_;
  std::int64_t workspace_ = 0;  // of cuDNN's own, behind ours
  std::int64_t row_sums_ = 0;
  std::int64_t query_sums_ = 0;
  std::vector<Candidate> candidates_;
  bool prepared_ = false;
  std::vector<SlotInfo> slots_;
};

std::optional<std::string> unsupported(const Attention& spec, const Device& device) {
  if ((spec.training || !spec.forward()) && !spec.statistics) {
    return "cuDNN's attention keeps no probabilities";
  }
  if (auto reason = device.unsupported(spec.dtype)) {
    return reason;
  }
  try {
    cuda::Card& card = cuda::card_of(device);
    const AttentionPass pass = pass_of(spec);
    if (auto reason = unsupported(pass, card.compute_capability(), plan_source().version())) {
      return reason;
    }
    std::int64_t workspace = 0;
    candidates_for(pass, card, workspace);
    return std::nullopt;
  } catch (const Unsupported& error) {
    return error.what();
  }
}

const Registration<Implementation<Attention>> registered{
    {.name = "cudnn",
     .device_kind = "cuda",
     .preference = 20,
     .unsupported = [](const Attention& spec, const Device& device) { return unsupported(spec, device); },
     .make = [](const Attention& spec, Device& device) -> std::unique_ptr<Operation> {
       return std::make_unique<CudnnAttention>(spec, device);
     }}};

}  // namespace
}  // namespace bench::kernels::cudnn
