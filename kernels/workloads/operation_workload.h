// A workload made of one operation: from its description to measured steps whose answer is checked.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/devices/queued_timing.h"
#include "kernels/workloads/operation_instance.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {

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

// A row of the answer as the reference computes it: the operation that gives it, on its share of the inputs.
template <class Spec>
struct ReferenceRow {
  Spec spec;
  Excerpt excerpt{};
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
  std::vector<CommandOption> options;

  // Reads the options, once. Throws UsageError.
  std::function<Spec(const WorkloadSpec&)> describe;
  // With the device's layouts and whatever else it decides; nothing: as described.
  std::function<Spec(const Spec&, const Device&)> place{};
  // The same for one sample, in fp32 and plain layouts, for the reference implementation.
  std::function<Spec(Spec)> single;
  // Bytes of a sample in all operands, about; nothing where the operation itself refuses what it cannot
  // count.
  std::function<double(const Spec&)> sample_bytes{};
  // Accepted error of a row of the answer.
  std::function<double(const Spec&)> tolerance;
  // Where rows of the answer are not the samples': their number, and how the reference computes one.
  std::function<std::int64_t(const Spec&)> rows{};
  std::function<ReferenceRow<Spec>(const Spec&, std::int64_t row)> row{};
  // The name of the implementation that was asked for; nothing, or an empty name: the best.
  std::function<std::string(const WorkloadSpec&)> implementation{};
  // Why a library would compute the point in another dtype than its own; nothing: none does.
  std::function<std::optional<std::string>(const Spec&, const std::string& implementation, const Device&)>
      computed_otherwise{};
  // Its work as a framework's library does it, for the model of GPUs; nothing: no model knows it.
  std::function<NetworkTerms(const Spec&)> eager_terms{};
  // See WorkloadType::kernel_points.
  std::function<std::vector<KernelPoint>(const KernelRequest&, const Device&)> kernel_points{};
  // What the host takes to queue a step is part of its time.
  bool counts_launches = false;
};

// A point of an operation's workload: its description, and how to make and check it.
template <class Spec>
class ConfiguredOperation final : public ConfiguredWorkload,
                                  public std::enable_shared_from_this<ConfiguredOperation<Spec>> {
 public:
  // Throws UsageError.
  ConfiguredOperation(std::shared_ptr<const OperationType<Spec>> type, const WorkloadSpec& spec,
                      SharedAnswers& shared)
      : type_(std::move(type)),
        label_(type_->name + " " + spec.mode),
        dtype_(spec.dtype),
        batch_(spec.batch),
        seed_(spec.seed),
        described_(type_->describe(spec)),
        implementation_(type_->implementation ? type_->implementation(spec) : ""),
        answers_(shared.of(
            spec,
            [type = type_, described = described_, seed = seed_](const std::vector<std::int64_t>& rows) {
              return reference_answers(*type, described, seed, rows);
            },
            // Rows that are not samples may be sums over the batch.
            type_->rows && type_->rows(described_) != spec.batch ? spec.batch : 0)) {}

  std::optional<std::string> unsupported(Device& device) const override {
    if (auto reason = device.unsupported(dtype_)) {
      return reason;
    }
    if (type_->computed_otherwise) {
      if (auto reason = type_->computed_otherwise(described_, implementation_, device)) {
        return reason;
      }
    }
    try {
      make_operation_on(device);
      return std::nullopt;
    } catch (const Unsupported& error) {
      return error.what();
    } catch (const OutOfMemory&) {  // the plan says so, with the bytes
      return std::nullopt;
    }
  }
  MemoryPlan plan(Device& device) const override { return plan_of(*make_operation_on(device)); }
  std::unique_ptr<Workload> make(Device& device) const override;
  std::optional<NetworkTerms> eager_terms(const EagerForm& /*form*/) const override {
    return type_->eager_terms ? std::optional(type_->eager_terms(described_)) : std::nullopt;
  }

  std::unique_ptr<Operation> make_operation_on(Device& device) const {
    if (type_->sample_bytes) {
      refuse_uncountable(batch_, type_->sample_bytes(described_));
    }
    return make_operation(type_->place ? type_->place(described_, device) : described_, device,
                          implementation_);
  }
  // The answer that the instance holds. The reference is slow: it computes a few rows. From a card only these
  // are copied, and that the others are finite is looked up there; the whole answer says where one is not.
  Verification compare(OperationInstance& instance, const Device& device) const {
    const std::int64_t count = type_->rows ? type_->rows(described_) : batch_;
    const std::vector<std::int64_t> rows = rows_to_compare(count);
    const Answers expected = answers_->of(rows);
    const double tolerance = type_->tolerance(described_);
    if (!device.host_accessible()) {
      if (const auto sampled = instance.rows_of_output(rows, count)) {
        const Verification verification =
            compare_sampled_rows(*sampled, rows, count, expected, tolerance, label_);
        if (!verification.passed || instance.output_is_finite()) {
          return verification;
        }
      }
    }
    return compare_some_rows(instance.output(), rows, expected, tolerance, label_);
  }
  // Behind the host's launches, where the device can tell: in a network of many operations the card works
  // while the host queues the next one.
  std::int64_t timed(Device& device, const std::function<void()>& step) const {
    auto* const queues = timing_behind_launches(device);
    return queues != nullptr ? queues->time_queued(step) : device.time(step);
  }
  // Only launches that are in the step's time count.
  Work work(const Operation& operation, Device& device) const {
    Work work = work_of(operation, batch_);
    work.launches = timing_behind_launches(device) != nullptr ? 0 : work.launches;
    return work;
  }
  std::uint64_t seed() const { return seed_; }

 private:
  // nullptr where the device has none, or the host's launches are to be timed.
  QueuedTiming* timing_behind_launches(Device& device) const {
    return type_->counts_launches ? nullptr : dynamic_cast<QueuedTiming*>(&device);
  }
  static Answers reference_answers(const OperationType<Spec>& type, const Spec& described, std::uint64_t seed,
                                   const std::vector<std::int64_t>& rows) {
    const auto device = open_reference_device();
    Answers answers;
    for (const std::int64_t row : rows) {
      const ReferenceRow<Spec> part =
          type.row ? type.row(described, row)
                   : ReferenceRow<Spec>{type.single(described), {.first_sample = row, .skipped = {}}};
      OperationInstance reference(make_operation(part.spec, *device, "reference"), *device, seed,
                                  part.excerpt);
      reference.run();
      answers.push_back(reference.output());
    }
    return answers;
  }

  std::shared_ptr<const OperationType<Spec>> type_;
  std::string label_;  // "conv2d forward"
  Dtype dtype_;
  std::int64_t batch_;
  std::uint64_t seed_;
  Spec described_;
  std::string implementation_;
  std::shared_ptr<ReferenceAnswers> answers_;
};

template <class Spec>
class OperationWorkload final : public Workload {
 public:
  OperationWorkload(std::shared_ptr<const ConfiguredOperation<Spec>> point, Device& device)
      : point_(std::move(point)),
        device_(device),
        instance_(point_->make_operation_on(device), device, point_->seed()) {}

  void step() override { instance_.run(); }
  std::int64_t timed_step(Device& device) override {
    return point_->timed(device, [this] { step(); });
  }

  Verification verify() override {
    instance_.poison();
    step();
    return point_->compare(instance_, device_);
  }

  Work work() const override { return point_->work(instance_.operation(), device_); }
  Algorithms algorithms() const override { return {{instance_.operation().algorithm(), 1}}; }

 private:
  std::shared_ptr<const ConfiguredOperation<Spec>> point_;
  Device& device_;
  OperationInstance instance_;
};

template <class Spec>
std::unique_ptr<Workload> ConfiguredOperation<Spec>::make(Device& device) const {
  return std::make_unique<OperationWorkload<Spec>>(this->shared_from_this(), device);
}

template <class Spec>
WorkloadType operation_workload(OperationType<Spec> type) {
  WorkloadType workload{.name = type.name,
                        .kind = "operation",
                        .description = type.description,
                        .modes = type.modes,
                        .options = type.options,
                        .configure = {},
                        .kernel_points = type.kernel_points};
  workload.configure = [type = std::make_shared<const OperationType<Spec>>(std::move(type)),
                        shared = std::make_shared<SharedAnswers>()](const WorkloadSpec& spec) {
    return std::make_shared<const ConfiguredOperation<Spec>>(type, spec, *shared);
  };
  return workload;
}

}  // namespace bench::kernels
