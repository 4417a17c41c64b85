// Softmax cross-entropy with its gradient on the CPU, a row at a time, rows over OpenMP threads.
//
// The exponentials are made twice, for the sum and for the gradient: diff_src may be narrower than fp32, and
// may be src itself. Each row's loss is noted and they are added in order, so that the sum does not depend on
// the number of threads.
#include <algorithm>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/element.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {
namespace {

// Writes the gradient of one row, times `scale`, and returns its loss, not scaled. diff may be x.
template <class Element>
double row_loss(const CrossEntropy& spec, double scale, const typename Element::Stored* x, std::int32_t label,
                typename Element::Stored* diff) {
  if (label < 0 || label >= spec.classes) {
    std::fill_n(diff, spec.classes, Element::from(0.0F));
    return 0;
  }
  float largest = Element::to(x[0]);
  for (std::int64_t c = 1; c < spec.classes; ++c) {
    largest = std::max(largest, Element::to(x[c]));
  }
  const auto exponential = [&](std::int64_t c) { return std::exp(Element::to(x[c]) - largest); };
  double others = 0;  // the classes that are not the label
  for (std::int64_t c = 0; c < label; ++c) {
    others += static_cast<double>(exponential(c));
  }
  for (std::int64_t c = label + 1; c < spec.classes; ++c) {
    others += static_cast<double>(exponential(c));
  }
  const double right = static_cast<double>(Element::to(x[label])) - static_cast<double>(largest);
  const double sum = others + static_cast<double>(exponential(label));
  const auto factor = static_cast<float>(scale / sum);
  for (std::int64_t c = 0; c < spec.classes; ++c) {
    diff[c] = Element::from(factor * exponential(c));
  }
  // p − 1 of a confident row would cancel.
  diff[label] = Element::from(static_cast<float>(-scale * (others / sum)));
  return std::log(sum) - right;
}

class CpuCrossEntropy final : public LoopsOf<CrossEntropy> {
 public:
  explicit CpuCrossEntropy(const CrossEntropy& spec) : LoopsOf(spec) {
    add_opaque(Slot::workspace, Role::scratch, spec.rows * static_cast<std::int64_t>(sizeof(double)));
  }

  void run(const SlotPointers& pointers) override {
    with_element(spec_.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  static constexpr std::int64_t kWorthThreads = 8192;  // elements: tens of microseconds of exponentials

  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto* const src = static_cast<const Stored*>(pointers[Slot::src]);
    const auto* const labels = static_cast<const std::int32_t*>(pointers[Slot::labels]);
    auto* const diff_src = static_cast<Stored*>(pointers[Slot::diff_src]);
    const std::span<double> losses(static_cast<double*>(pointers[Slot::workspace]),
                                   static_cast<std::size_t>(spec_.rows));
    double scale = spec_.scale;
    if (spec_.scaled) {
      scale *= static_cast<const LossScale*>(pointers[Slot::loss_scale])->factor;
    }
#pragma omp parallel for schedule(static) if (spec_.rows * spec_.classes >= kWorthThreads)
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      const std::int64_t start = row * spec_.classes;
      losses[row] = row_loss<Element>(spec_, scale, src + start, labels[row], diff_src + start);
    }
    double loss = 0;
    for (const double one : losses) {
      loss += one;
    }
    values(pointers, Slot::loss).front() = static_cast<float>(static_cast<double>(spec_.scale) * loss);
  }
};

const Registration<Implementation<CrossEntropy>> BENCH_REGISTERED{
    cpu_implementation<CrossEntropy, CpuCrossEntropy>(
        "openmp", 10,
        [](const CrossEntropy& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
