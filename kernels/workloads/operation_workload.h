// A workload made of one operation: from its description to measured steps whose answer is checked.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/workloads/bound.h"
#include "kernels/workloads/compare.h"

namespace bench::kernels {

using Answers = std::vector<std::vector<float>>;

// Accepted errors by dtype: about three times what is seen.
struct Tolerances {
  double fp32 = 0;
  double tf32 = 0;
  double fp16 = 0;
  double bf16 = 0;

  double of(Dtype dtype) const {
    switch (dtype) {
      case Dtype::fp32:
        return fp32;
      case Dtype::tf32:
        return tf32;
      case Dtype::fp16:
        return fp16;
      case Dtype::bf16:
        return bf16;
    }
    return 0;
  }
};

// The description of one sample for the reference, where samples are rows and there is no layout.
template <class Spec>
Spec single_row(Spec spec) {
  spec.rows = 1;
  spec.dtype = Dtype::fp32;
  return spec;
}

// How an operation serves as a workload. Spec is the operation's description, e.g. Conv2d.
template <class Spec>
struct OperationType {
  std::string name;
  std::string description;  // one line, for --list
  std::vector<std::string> modes;
  std::vector<WorkloadType::Option> options;

  // From the command line. Throws UsageError.
  std::function<Spec(const WorkloadSpec&)> described;
  // With the device's layouts and whatever else it decides; nothing: as described.
  std::function<Spec(const Spec&, const Device&)> placed{};
  // The same for one sample, in fp32 and plain layouts, for the reference implementation.
  std::function<Spec(Spec)> single;
  // Bytes of a sample in all operands, about; nothing where the operation itself refuses what it cannot
  // count.
  std::function<double(const Spec&)> sample_bytes{};
  // Accepted error of a row of the answer.
  std::function<double(const Spec&)> tolerance;
  // Rows to be expected, where they are not the reference's answers to the distinct samples.
  std::function<Answers(const WorkloadSpec&, const Answers&)> expected{};
  // The implementation asked for by its name; nothing, or an empty name: the best.
  std::function<std::string(const WorkloadSpec&)> implementation{};
  // Why a library would compute the point in another dtype than its own; nothing: none does.
  std::function<std::optional<std::string>(const WorkloadSpec&, const Device&)> computed_otherwise{};
};

template <class Spec>
class OperationWorkload final : public Workload {
 public:
  OperationWorkload(const OperationType<Spec>& type, WorkloadSpec spec, Device& device)
      : type_(type), spec_(std::move(spec)), bound_(make(type_, spec_, device), device, spec_.seed) {}

  static std::unique_ptr<Operation> make(const OperationType<Spec>& type, const WorkloadSpec& spec,
                                         Device& device) {
    const Spec described = type.described(spec);
    if (type.sample_bytes) {
      refuse_uncountable(spec.batch, type.sample_bytes(described));
    }
    return make_operation(type.placed ? type.placed(described, device) : described, device,
                          type.implementation ? type.implementation(spec) : "");
  }

  void step() override { bound_.run(); }

  Verification verify() override {
    bound_.poison();
    step();
    const Answers& answers = reference_answers();
    return compare_rows(bound_.output(), type_.expected ? type_.expected(spec_, answers) : answers,
                        type_.tolerance(type_.described(spec_)), type_.name + " " + spec_.mode);
  }

  Work work() const override { return work_of(bound_.operation(), spec_.batch); }

 private:
  // What the reference answers to each of the distinct samples alone, but to no sample that the batch has
  // not: it is slow. Shared by all batches and dtypes of a sweep.
  const Answers& reference_answers() const {
    using Key = std::tuple<std::string, std::string, std::map<std::string, std::string>, std::uint64_t>;
    static std::mutex mutex;
    static std::map<Key, Answers> known;
    const std::scoped_lock lock(mutex);
    Answers& answers = known[Key{type_.name, spec_.mode, spec_.options, spec_.seed}];
    const std::int64_t needed = type_.expected ? Bound::kDistinct : std::min(spec_.batch, Bound::kDistinct);
    if (static_cast<std::int64_t>(answers.size()) < needed) {
      const DeviceKind* cpu = registry<DeviceKind>().find("cpu");
      if (cpu == nullptr) {
        throw Unsupported("answers are checked on the CPU device, which this program was built without");
      }
      answers.reserve(Bound::kDistinct);
      const auto device = cpu->open("cpu");  // its own: not counted as the measured device's memory
      const Spec single = type_.single(type_.described(spec_));
      for (auto sample = static_cast<std::int64_t>(answers.size()); sample < needed; ++sample) {
        Bound reference(make_operation(single, *device, "reference"), *device, spec_.seed, sample);
        reference.run();
        answers.push_back(reference.output());
      }
    }
    return answers;
  }

  OperationType<Spec> type_;
  WorkloadSpec spec_;
  Bound bound_;
};

template <class Spec>
WorkloadType operation_workload(const OperationType<Spec>& type) {
  using Made = OperationWorkload<Spec>;
  WorkloadType workload;
  workload.name = type.name;
  workload.kind = "operation";
  workload.description = type.description;
  workload.modes = type.modes;
  workload.options = type.options;
  workload.check = [type](const WorkloadSpec& spec) { type.described(spec); };
  workload.unsupported = [type](const WorkloadSpec& spec, Device& device) -> std::optional<std::string> {
    if (auto reason = device.unsupported(spec.dtype)) {
      return reason;
    }
    if (auto reason = type.computed_otherwise ? type.computed_otherwise(spec, device) : std::nullopt) {
      return reason;
    }
    try {
      Made::make(type, spec, device);
      return std::nullopt;
    } catch (const Unsupported& error) {
      return error.what();
    } catch (const OutOfMemory&) {  // the plan says so, with the bytes
      return std::nullopt;
    }
  };
  workload.plan = [type](const WorkloadSpec& spec, Device& device) {
    return plan_of(*Made::make(type, spec, device));
  };
  workload.make = [type](const WorkloadSpec& spec, Device& device) -> std::unique_ptr<Workload> {
    return std::make_unique<Made>(type, spec, device);
  };
  return workload;
}

}  // namespace bench::kernels
