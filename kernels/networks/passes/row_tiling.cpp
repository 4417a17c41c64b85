// Convolutions in row tiles: see tile_rows() in inference.h.
#include <omp.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/operations/conv2d/row_tiles.h"

namespace bench::kernels {
namespace {

// Maps that a chain reads, writes and passes on, below which they stay in the caches as they are. Measured
// with two cores of Zen 3, each with 512 KiB of second cache: MobileNetV2's blocks gain nothing at 4 MiB in
// all, and a quarter at 6.
constexpr std::int64_t kLeastBytesOfThread = 5 << 19;
constexpr std::size_t kMostConvolutions = 3;  // a bottleneck

class RowTiling {
 public:
  RowTiling(ProgramPlan& plan, Device& device, OperationCache& cache)
      : plan_(plan),
        device_(device),
        convolutions_(cache.all<Conv2d>()),
        last_touched_(plan.program.last_touched()) {}

  std::size_t run() && {
    std::size_t further = 0;
    for (std::size_t first = 0; first < program().instructions().size(); ++first) {
      for (std::size_t count = longest(first); count > 1; --count) {
        if (const auto operation = make(first, count)) {
          replace(first, count, operation);
          further += operation->operations_of_part() - 1;
          break;
        }
      }
    }
    return further;
  }

 private:
  Program& program() { return plan_.program; }
  const Instruction& at(std::size_t index) { return program().instructions()[index]; }

  static TensorId tensor_of(const Instruction& instruction, Slot slot) {
    return std::ranges::find(instruction.tensors, slot, &Arguments::value_type::first)->second;
  }

  const Conv2d* convolution_of(const Instruction& instruction) const {
    const auto known = std::ranges::find(
        convolutions_, instruction.operation, [](const auto& entry) -> const auto& { return entry.second; });
    return known == convolutions_.end() ? nullptr : &known->first;
  }

  std::vector<Conv2d> chain(std::size_t first, std::size_t count) {
    std::vector<Conv2d> convolutions;
    for (std::size_t index = first; index < first + count; ++index) {
      convolutions.push_back(*convolution_of(at(index)));
    }
    return convolutions;
  }

  // Instructions from there on each of which alone reads the result of the one before.
  std::size_t longest(std::size_t first) {
    std::size_t count = convolution_of(at(first)) == nullptr ? 0 : 1;
    for (; count > 0 && count < kMostConvolutions; ++count) {
      const std::size_t next = first + count;
      if (next == program().instructions().size() || convolution_of(at(next)) == nullptr ||
          ConvRowTiles::unsupported(chain(first, count + 1))) {
        break;
      }
      const TensorId passed = tensor_of(at(next - 1), Slot::dst);
      if (passed != tensor_of(at(next), Slot::src) || last_touched_[passed] != next + removed_ ||
          passed == program().output()) {
        break;
      }
    }
    return count;
  }

  std::shared_ptr<ConvRowTiles> make(std::size_t first, std::size_t count) {
    const std::vector<Conv2d> convolutions = chain(first, count);
    std::int64_t bytes = convolutions.back().dst().bytes();
    for (const Conv2d& conv : convolutions) {
      bytes += conv.src().bytes();
    }
    const std::int64_t threads = omp_get_max_threads();
    if (bytes < kLeastBytesOfThread * threads) {
      return nullptr;
    }
    try {
      auto made = std::make_shared<ConvRowTiles>(convolutions, threads, device_);
      for (std::size_t i = 0; i < count; ++i) {
        const Operation& whole = *at(first + i).operation;
        const Operation& tile = *made->packer(i);
        if (tile.algorithm() != whole.algorithm() ||  // it may share its weights with another layer
            tile.find(Slot::weights)->bytes != whole.find(Slot::weights)->bytes) {
          return nullptr;
        }
      }
      return made;
    } catch (const Unsupported&) {
      return nullptr;
    }
  }

  void replace(std::size_t first, std::size_t count, const std::shared_ptr<ConvRowTiles>& operation) {
    const Instruction& last = at(first + count - 1);
    Instruction made{
        .name = fmt::format("{} to {}", at(first).name, plan_.graph[last.layers.front()].name),
        .operation = operation,
        .make_own = [convolutions = chain(first, count), threads = omp_get_max_threads(),
                     &device = device_]() -> std::shared_ptr<Operation> {
          return std::make_shared<ConvRowTiles>(convolutions, threads, device);
        },
        .tensors = {{Slot::src, tensor_of(at(first), Slot::src)}, {Slot::dst, tensor_of(last, Slot::dst)}},
        .in_place = {tensor_of(last, Slot::dst)}};
    if (operation->find(Slot::src1) != nullptr) {
      made.tensors.emplace_back(Slot::src1, tensor_of(last, Slot::src1));
      if (operation->in_place_sum()) {
        made.in_place.over = {tensor_of(last, Slot::src1)};
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Instruction& each = at(first + i);
      made.layers.insert(made.layers.end(), each.layers.begin(), each.layers.end());
      for (const auto& [slot, id] : each.tensors) {
        if (slot == Slot::weights || slot == Slot::bias) {
          made.tensors.emplace_back(ConvRowTiles::slot_of(i, slot), id);
          std::ranges::find(plan_.parameters, id, &PlannedParameter::value)->operation = operation->packer(i);
        }
      }
    }
    program().replace(first, count, std::move(made));
    removed_ += count - 1;
  }

  ProgramPlan& plan_;
  Device& device_;
  const std::vector<std::pair<Conv2d, std::shared_ptr<Operation>>>& convolutions_;
  std::vector<std::size_t> last_touched_;  // when nothing was replaced
  std::size_t removed_ = 0;                // instructions so far, all of them before the next one
};

}  // namespace

std::size_t tile_rows(ProgramPlan& plan, Device& device, OperationCache& cache) {
  if (!device.host_accessible() || !plan.target.implementation.empty()) {
    return 0;
  }
  return RowTiling(plan, device, cache).run();
}

}  // namespace bench::kernels
