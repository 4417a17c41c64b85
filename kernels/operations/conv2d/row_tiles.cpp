#include "kernels/operations/conv2d/row_tiles.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kBufferFloats = 64 << 10;  // of a part: half of a second cache of 512 KiB

bool is_depthwise(const Conv2d& conv) {
  return conv.groups > 1 && conv.groups == conv.in_channels && conv.groups == conv.out_channels;
}

// Libraries plan and run for one thread: each part of the work has one.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

}  // namespace

std::optional<std::string> ConvRowTiles::unsupported(std::span<const Conv2d> convolutions) {
  for (std::size_t i = 0; i < convolutions.size(); ++i) {
    const Conv2d& conv = convolutions[i];
    if (conv.direction != Direction::forward || conv.training || conv.dtype != Dtype::fp32 ||
        conv.src_layout != Layout::nhwc || conv.dst_layout != Layout::nhwc) {
      return "row tiles are those of inference in fp32 and nhwc";
    }
    if (!conv.rows().each_reads()) {
      return "a row of a convolution's result reads none of its input";
    }
    if (i == 0) {
      continue;
    }
    const Conv2d& before = convolutions[i - 1];
    if (before.dst() != conv.src() || before.residual) {
      return "a convolution reads other than what the one before computes";
    }
    if (!is_depthwise(before) && !is_depthwise(conv)) {
      return "neither of two neighbours is depthwise";
    }
  }
  return std::nullopt;
}

ConvRowTiles::ConvRowTiles(std::vector<Conv2d> convolutions, std::int64_t parts, Device& device)
    : convolutions_(std::move(convolutions)),
      steps_(convolutions_, parts, kBufferFloats),
      operations_(static_cast<std::size_t>(parts)),
      packers_(convolutions_.size()) {
  if (const auto reason = unsupported(convolutions_)) {
    throw Unsupported(*reason);
  }
  if (steps_.floats() > 2 * kBufferFloats) {
    throw Unsupported("the rows of a tile do not fit the second cache");
  }
  const OneThread one_thread;
  std::int64_t most = 0;  // floats of scratch
  for (std::size_t part = 0; part < operations_.size(); ++part) {
    steps_.for_each_kind(static_cast<std::int64_t>(part), [&](const RowTileStep& step) {
      auto& operation = operations_[part][key_of(step)];
      if (operation == nullptr) {
        operation = make(step, device);
        const SlotInfo* const scratch = operation->find(Slot::workspace);
        most = std::max(most, scratch == nullptr ? 0 : (scratch->bytes + 63) / 64 * 16);
        auto& packer = packers_[step.convolution];
        packer = packer == nullptr ? operation : packer;
        if (packer->algorithm() != operation->algorithm() ||
            packer->find(Slot::weights)->bytes != operation->find(Slot::weights)->bytes) {
          throw Unsupported("row tiles of different heights pack their weights differently");
        }
      }
    });
  }
  scratch_floats_ = steps_.floats() + most;
  list_slots();
}

std::shared_ptr<Operation> ConvRowTiles::make(const RowTileStep& step, Device& device) const {
  Conv2d spec = convolutions_[step.convolution];
  const WindowAxis axis = spec.rows();
  spec.batch = 1;
  spec.height = step.in.count();
  spec.pad_h = step.padding;
  spec.pad_bottom = (step.out.count() - 1) * axis.stride + axis.reach() - spec.height - 2 * spec.pad_h;
  spec.extra = {};
  return make_operation(spec, device);
}

void ConvRowTiles::list_slots() {
  const auto activation = [&](Slot slot, Role role, const TensorDesc& tensor) {
    slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
  };
  const Conv2d& last = convolutions_.back();
  activation(Slot::src, Role::input, convolutions_.front().src());
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    for (const Slot parameter : {Slot::weights, Slot::bias}) {
      if (const SlotInfo* const info = packers_[i]->find(parameter)) {
        slots_.push_back(*info);
        slots_.back().slot = slot_of(i, parameter);
      }
    }
  }
  if (last.residual) {
    activation(Slot::src1, Role::input, last.dst());
  }
  activation(Slot::dst, Role::output, last.dst());
  slots_.push_back({.slot = Slot::workspace,
                    .role = Role::scratch,
                    .bytes = 4 * scratch_floats_ * static_cast<std::int64_t>(operations_.size())});
}

void ConvRowTiles::prepare() {
  const OneThread one_thread;
  for (Operations& operations : operations_) {
    for (auto& [key, operation] : operations) {
      operation->prepare();
    }
  }
}

std::pair<std::size_t, Slot> ConvRowTiles::parameter_of(Slot slot) const {
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    for (const Slot parameter : {Slot::weights, Slot::bias}) {
      if (slot == slot_of(i, parameter)) {
        return {i, parameter};
      }
    }
  }
  throw std::invalid_argument(fmt::format("{} is no parameter", name_of(slot)));
}

void ConvRowTiles::pack(Slot slot, std::span<const float> plain, void* packed) {
  const auto [convolution, parameter] = parameter_of(slot);
  packers_[convolution]->pack(parameter, plain, packed);
}

void ConvRowTiles::unpack(Slot slot, const void* packed, std::span<float> plain) {
  const auto [convolution, parameter] = parameter_of(slot);
  packers_[convolution]->unpack(parameter, packed, plain);
}

void ConvRowTiles::run(const SlotPointers& pointers) {
  const auto parts = static_cast<std::int64_t>(operations_.size());
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t part = 0; part < parts; ++part) {
    const OneThread one_thread;
    Operations& operations = operations_[static_cast<std::size_t>(part)];
    float* const scratch = static_cast<float*>(pointers[Slot::workspace]) + part * scratch_floats_;
    steps_.for_each(part, [&](const RowTileStep& step) { run(step, operations, scratch, pointers); });
  }
}

void ConvRowTiles::run(const RowTileStep& step, Operations& operations, float* scratch,
                       const SlotPointers& pointers) const {
  const Conv2d& conv = convolutions_[step.convolution];
  const std::size_t next = step.convolution + 1;
  SlotPointers own;
  own[Slot::weights] = pointers[slot_of(step.convolution, Slot::weights)];
  own[Slot::bias] = pointers[slot_of(step.convolution, Slot::bias)];
  own[Slot::workspace] = scratch + steps_.floats();
  own[Slot::src] = step.convolution > 0
                       ? scratch + steps_.buffer(step.convolution) + step.from * input_row_floats(conv)
                       : static_cast<float*>(pointers[Slot::src]) +
                             (step.image * conv.height + step.in.begin) * input_row_floats(conv);
  const std::int64_t row = conv.out_width() * conv.out_channels;
  if (next < convolutions_.size()) {
    float* const buffer = scratch + steps_.buffer(next);
    std::memmove(buffer, buffer + step.kept * row, static_cast<std::size_t>(4 * step.to * row));
    own[Slot::dst] = buffer + step.to * row;
  } else {
    const std::int64_t at = (step.image * conv.out_height() + step.out.begin) * row;
    own[Slot::dst] = static_cast<float*>(pointers[Slot::dst]) + at;
    own[Slot::src1] = conv.residual ? static_cast<float*>(pointers[Slot::src1]) + at : nullptr;
  }
  operations.at(key_of(step))->run(own);
}

// Over a src1 that is src as well: what a part writes, nobody reads later. The first convolution reads each
// row once, no later than a row as high is written, and no two parts share an image.
bool ConvRowTiles::in_place_sum() const {
  const Conv2d& first = convolutions_.front();
  return convolutions_.back().residual && first.kernel_h == 1 &&
         first.batch % static_cast<std::int64_t>(operations_.size()) == 0;
}

double ConvRowTiles::flops() const {
  double all = 0;
  for (const Conv2d& conv : convolutions_) {
    all += conv.flops();
  }
  return all;
}

std::string ConvRowTiles::algorithm() const {
  std::vector<std::string> names;
  for (const auto& packer : packers_) {
    names.push_back(packer->algorithm());
  }
  return fmt::format("row tiles of {}", fmt::join(names, ", "));
}

}  // namespace bench::kernels
