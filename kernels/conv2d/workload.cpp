// The workload `conv2d`: one convolution of a chosen shape, forward or one of its gradients.
//
// Sample i of a batch is sample i mod 2 of two distinct ones, so that every row is checked against a
// reference of two: rows of forward and backward-data directly, the weights' gradient as the sum it is over
// the batch.
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/networks/budget.h"
#include "kernels/networks/compare.h"
#include "kernels/networks/layout.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

using Values = std::vector<float>;
using Direction = Conv2d::Direction;

constexpr std::int64_t kDistinct = 2;
constexpr std::byte kPoison{0xFF};  // all ones is a NaN in every dtype

const std::vector<WorkloadType::Option>& options() {
  static const std::vector<WorkloadType::Option> all{
      {"in-channels", "64", "channels of the input, 1 to 65536"},
      {"out-channels", "64", "channels of the output, 1 to 65536"},
      {"height", "56", "rows of the input, 1 to 65536 pixels"},
      {"width", "56", "columns of the input, 1 to 65536 pixels"},
      {"kernel", "3", "rows and columns of the window, 1 to 1024"},
      {"stride", "1", "step of the window, 1 to 1024"},
      {"padding", "1", "zeros on each side of the input, 0 to 1024"},
      {"dilation", "1", "distance between the window's taps, 1 to 1024"},
      {"groups", "1", "groups of channels, a divisor of both channel counts"},
  };
  return all;
}

Direction direction_of(const std::string& mode) {
  if (mode == "backward-data") {
    return Direction::backward_data;
  }
  return mode == "backward-weights" ? Direction::backward_weights : Direction::forward;
}

Conv2d described(const WorkloadSpec& spec) {
  constexpr std::int64_t kWide = 65536;
  constexpr std::int64_t kNarrow = 1024;
  Conv2d conv;
  conv.batch = spec.batch;
  conv.dtype = spec.dtype;
  conv.direction = direction_of(spec.mode);
  conv.in_channels = whole_option(spec, "in-channels", 1, kWide);
  conv.out_channels = whole_option(spec, "out-channels", 1, kWide);
  conv.height = whole_option(spec, "height", 1, kWide);
  conv.width = whole_option(spec, "width", 1, kWide);
  conv.kernel_h = conv.kernel_w = whole_option(spec, "kernel", 1, kNarrow);
  conv.stride_h = conv.stride_w = whole_option(spec, "stride", 1, kNarrow);
  conv.pad_h = conv.pad_w = whole_option(spec, "padding", 0, kNarrow);
  conv.dilation_h = conv.dilation_w = whole_option(spec, "dilation", 1, kNarrow);
  conv.groups = whole_option(spec, "groups", 1, kWide);

  if (conv.in_channels % conv.groups != 0 || conv.out_channels % conv.groups != 0) {
    throw UsageError(
        fmt::format("--groups '{}': accepted are divisors of both --in-channels {} and --out-channels {}",
                    conv.groups, conv.in_channels, conv.out_channels));
  }
  const std::int64_t extent = conv.dilation_h * (conv.kernel_h - 1) + 1;
  const std::int64_t smaller = std::min(conv.height, conv.width);
  if (extent > smaller + 2 * conv.pad_h) {
    throw UsageError(
        fmt::format("--kernel '{}': with --dilation {} it spans {} pixels; accepted are kernels that fit "
                    "the {} pixels of --height or --width with --padding {}",
                    conv.kernel_h, conv.dilation_h, extent, smaller, conv.pad_h));
  }
  if (const auto wrong = conv.invalid()) {
    throw UsageError(*wrong);
  }
  return conv;
}

// With the device's layouts and, as for a network, as much memory for faster algorithms as the rule allows.
Conv2d placed(const WorkloadSpec& spec, const Device& device) {
  Conv2d conv = described(spec);
  const NetworkLayouts layouts = layouts_for(device, spec.dtype);
  const bool stem = conv.in_channels < 16 && conv.direction == Direction::forward;
  conv.src_layout = stem ? layouts.image : layouts.inner;
  conv.dst_layout = layouts.inner;
  conv.extra =
      extra_budget(conv.weight_count() * bytes_of(conv.dtype), conv.src().bytes() + conv.dst().bytes());
  return conv;
}

MemoryCategory category_of(const SlotInfo& slot) {
  switch (slot.slot) {
    case Slot::weights:
      return MemoryCategory::weights;
    case Slot::diff_weights:
      return MemoryCategory::gradients;
    case Slot::workspace:
      return MemoryCategory::workspace;
    default:
      return slot.role == Role::input ? MemoryCategory::input : MemoryCategory::activations;
  }
}

Values random_values(std::int64_t count, std::uint64_t seed, Slot slot, std::int64_t sample = 0) {
  Values values(static_cast<std::size_t>(count));
  fill_random(values, seed,
              static_cast<std::uint64_t>(slot) * kDistinct + static_cast<std::uint64_t>(sample));
  return values;
}

bool is_gradient_of_weights(Slot slot) {
  return slot == Slot::diff_weights;
}

// An operation with a buffer for each slot, weights and samples in place.
class Bound {
 public:
  Bound(std::unique_ptr<Operation> operation, Device& device, std::uint64_t seed, std::int64_t first_sample)
      : device_(device), operation_(std::move(operation)) {
    for (const SlotInfo& slot : operation_->slots()) {
      buffers_.push_back(device.allocate(slot.bytes, category_of(slot)));
      pointers_[slot.slot] = buffers_.back().data();
    }
    operation_->prepare();
    for (const SlotInfo& slot : operation_->slots()) {
      if (slot.role == Role::parameter) {
        std::vector<std::byte> packed(static_cast<std::size_t>(slot.bytes));
        operation_->pack(slot.slot, random_values(slot.plain_count, seed, slot.slot), packed.data());
        device.upload(pointers_[slot.slot], packed.data(), slot.bytes);
      } else if (slot.role == Role::input) {
        upload_samples(slot, seed, first_sample);
      }
    }
  }

  const Operation& operation() const { return *operation_; }
  void run() { operation_->run(pointers_); }
  void poison() { device_.fill(pointers_[result().slot], kPoison, result().bytes); }

  // The result as fp32: samples one after another in NCHW, or plain weights.
  Values output() {
    device_.synchronize();
    const SlotInfo& slot = result();
    std::vector<std::byte> stored(static_cast<std::size_t>(slot.bytes));
    device_.download(stored.data(), pointers_[slot.slot], slot.bytes);
    if (is_gradient_of_weights(slot.slot)) {
      Values values(static_cast<std::size_t>(slot.plain_count));
      operation_->unpack(slot.slot, stored.data(), values);
      return values;
    }
    Values values(static_cast<std::size_t>(slot.tensor.elements()));
    load(slot.tensor, stored.data(), values);
    return values;
  }

 private:
  const SlotInfo& result() const {
    return *std::ranges::find(operation_->slots(), Role::output, &SlotInfo::role);
  }

  void upload_samples(const SlotInfo& slot, std::uint64_t seed, std::int64_t first_sample) {
    TensorDesc one = slot.tensor;
    one.n = 1;
    std::vector<std::byte> stored(static_cast<std::size_t>(one.bytes()));
    for (std::int64_t distinct = 0; distinct < std::min(kDistinct, slot.tensor.n); ++distinct) {
      const std::int64_t sample = (first_sample + distinct) % kDistinct;
      store(one, random_values(one.elements(), seed, slot.slot, sample), stored.data());
      for (std::int64_t n = distinct; n < slot.tensor.n; n += kDistinct) {
        device_.upload(static_cast<std::byte*>(pointers_[slot.slot]) + n * one.bytes(), stored.data(),
                       one.bytes());
      }
    }
  }

  Device& device_;
  std::unique_ptr<Operation> operation_;
  std::vector<Buffer> buffers_;
  SlotPointers pointers_;
};

// What the reference answers to each of the distinct samples alone; shared by all batches and dtypes of a
// sweep.
const std::vector<Values>& reference_answers(const WorkloadSpec& spec) {
  using Key = std::tuple<std::string, std::map<std::string, std::string>, std::uint64_t>;
  static std::mutex mutex;
  static std::map<Key, std::vector<Values>> known;
  const std::scoped_lock lock(mutex);
  auto& answers = known[Key{spec.mode, spec.options, spec.seed}];
  if (answers.empty()) {
    const DeviceKind* cpu = registry<DeviceKind>().find("cpu");
    if (cpu == nullptr) {
      throw Unsupported("answers are checked on the CPU device, which this program was built without");
    }
    const auto device = cpu->open("cpu");  // its own: not counted as the measured device's memory
    Conv2d conv = described(spec);
    conv.batch = 1;
    conv.dtype = Dtype::fp32;
    conv.src_layout = conv.dst_layout = Layout::nchw;
    for (std::int64_t sample = 0; sample < kDistinct; ++sample) {
      Bound reference(make_operation(conv, *device, "reference"), *device, spec.seed, sample);
      reference.run();
      answers.push_back(reference.output());
    }
  }
  return answers;
}

std::vector<Values> expected_rows(const WorkloadSpec& spec) {
  const std::vector<Values>& answers = reference_answers(spec);
  if (direction_of(spec.mode) != Direction::backward_weights) {
    return answers;
  }
  // The gradient is a sum over the batch, in which sample 0 comes first and as often as sample 1 or once
  // more.
  const std::int64_t pairs = spec.batch / 2;
  const auto count0 = static_cast<double>(spec.batch - pairs);
  const auto count1 = static_cast<double>(pairs);
  Values sum(answers[0].size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = static_cast<float>(count0 * static_cast<double>(answers[0][i]) +
                                count1 * static_cast<double>(answers[1][i]));
  }
  return {sum};
}

// About three times what is seen; fp32 leaves room for Winograd's transforms.
double tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 1e-4;
    case Dtype::tf32:
    case Dtype::fp16:
      return 3e-3;
    case Dtype::bf16:
      return 1.5e-2;
  }
  return 0;
}

class Conv2dWorkload final : public Workload {
 public:
  Conv2dWorkload(WorkloadSpec spec, Device& device)
      : spec_(std::move(spec)),
        bound_(make_operation(placed(spec_, device), device), device, spec_.seed, 0) {}

  void step() override { bound_.run(); }

  Verification verify() override {
    bound_.poison();
    step();
    return compare_rows(bound_.output(), expected_rows(spec_), tolerance(spec_.dtype),
                        "conv2d " + spec_.mode);
  }

  Work work() const override {
    Work work;
    work.samples = static_cast<double>(spec_.batch);
    work.flops = bound_.operation().flops();
    work.launches = 1;
    for (const SlotInfo& slot : bound_.operation().slots()) {
      if (slot.role != Role::scratch) {
        const bool fixed = slot.role == Role::parameter || is_gradient_of_weights(slot.slot);
        (fixed ? work.fixed_bytes : work.sample_bytes) += static_cast<double>(slot.bytes);
      }
    }
    return work;
  }

 private:
  WorkloadSpec spec_;
  Bound bound_;
};

std::optional<std::string> why_not(const WorkloadSpec& spec, Device& device) {
  if (auto reason = device.unsupported(spec.dtype)) {
    return reason;
  }
  try {
    make_operation(placed(spec, device), device);
    return std::nullopt;
  } catch (const Unsupported& error) {
    return error.what();
  }
}

MemoryPlan plan(const WorkloadSpec& spec, Device& device) {
  MemoryPlan memory;
  const auto operation = make_operation(placed(spec, device), device);
  for (const SlotInfo& slot : operation->slots()) {
    memory.at_peak[category_of(slot)] += slot.bytes;
  }
  memory.peak = memory.at_peak.total();
  return memory;
}

const Registration<WorkloadType> registered{{
    .name = "conv2d",
    .kind = "operation",
    .description = "2-D convolution; by default ResNet's 3x3 on 64 channels of 56x56",
    .modes = {"forward", "backward-data", "backward-weights"},
    .options = options(),
    .check = [](const WorkloadSpec& spec) { described(spec); },
    .unsupported = why_not,
    .plan = plan,
    .make = [](const WorkloadSpec& spec, Device& device) -> std::unique_ptr<Workload> {
      return std::make_unique<Conv2dWorkload>(spec, device);
    },
}};

}  // namespace
}  // namespace bench::kernels
