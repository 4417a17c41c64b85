// How close do memory and arithmetic come to what the device can do, and which operations fall short?
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/kernels/findings.h"
#include "sweeps/kernels/tables.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// A device with more memory bandwidth and more cores needs larger work before it shows what it can do.
bool is_large(const Device& device) {
  return device.info().kind != "cpu";
}

class Planner {
 public:
  Planner(const SweepRequest& request, Device& device)
      : request_(request),
        device_(device),
        dtypes_(request.dtypes.empty() ? default_dtypes(device) : request.dtypes) {}

  SweepPlan run() && {
    for (const WorkloadType* type : request_.workloads) {
      type_ = type;
      add_points_of_type();
    }
    plan_.axes = {{"workload", Json::array()}, {"dtype", Json::array()}, {"caches", {"hot", "cold"}}};
    for (const WorkloadType* type : request_.workloads) {
      plan_.axes["workload"].push_back(type->name);
    }
    for (const Dtype dtype : dtypes_) {
      plan_.axes["dtype"].push_back(name_of(dtype));
    }
    return std::move(plan_);
  }

 private:
  using Changes = std::map<std::string, std::int64_t>;

  void add_points_of_type() {
    if (type_->name == "stream") {
      add_stream();
    } else if (type_->name == "fma") {
      add_fma();
    } else if (type_->name == "gemm") {
      add_gemm();
    } else if (type_->name == "conv2d") {
      add_conv2d();
    } else if (type_->name == "implicit_gemm") {
      add_implicit_gemm();
    } else if (type_->name == "launch") {
      add_launch();
    } else {
      add_plain();
    }
  }

  std::vector<std::int64_t> batches(const std::vector<std::int64_t>& usual) const {
    return request_.batches.empty() ? usual : request_.batches;
  }
  std::vector<Dtype> asked_or(const std::vector<Dtype>& usual) const {
    return request_.dtypes.empty() ? usual : request_.dtypes;
  }
  // Of several workloads, or where none was given: all.
  std::vector<std::string> modes() const { return request_.modes_given ? request_.modes : type_->modes; }

  // Arrays from what a core's own cache holds to what no cache holds.
  void add_stream() {
    constexpr std::int64_t kSmallest = 16 * 1024;                             // elements: 64 KiB an array
    const std::int64_t largest = is_large(device_) ? 128 * kMiB : 32 * kMiB;  // 512 MiB; 128 MiB
    for (const std::string& mode : modes()) {
      if (mode == "triad" || mode == "read") {
        for (std::int64_t elements = kSmallest; elements < largest; elements *= 8) {
          add_stream_of(mode, elements, false);
        }
      }
      add_stream_of(mode, largest, mode == "triad" || mode == "copy");
    }
  }

  // Of the pair only the cold point shows memory, and with it the roof.
  void add_stream_of(const std::string& mode, std::int64_t elements, bool roof) {
    for (const Dtype dtype : asked_or({Dtype::fp32})) {
      for (const std::int64_t rows : batches({1})) {
        add(mode, dtype, rows, {{"elements", elements}}, {});
        add(mode, dtype, rows, {{"elements", elements}}, {.cold = true, .first = roof});
      }
    }
  }

  // Hot only: between its one read and its one write an element stays in a register, so that cold caches
  // change the first steps' time as they do a copy's, and of many steps nothing.
  void add_fma() {
    for (const std::string& mode : modes()) {
      const bool tiles = mode == "tensor-cores";
      for (const Dtype dtype : tiles ? tensor_core_dtypes() : ordinary_dtypes()) {
        for (const std::int64_t rows : batches({1})) {
          for (const std::int64_t steps : fma_steps(tiles)) {
            add(mode, dtype, rows, {{"elements", is_large(device_) ? 16 * kMiB : 4 * kMiB}, {"steps", steps}},
                {.first = steps == kMostSteps});
          }
        }
      }
    }
  }

  static constexpr std::int64_t kMostSteps = 1024;

  // What has no tensor cores, the CPU or a wide dtype, says so once, unless they were asked for.
  std::vector<std::int64_t> fma_steps(bool tiles) const {
    const bool answered = is_large(device_) && !narrow_dtypes().empty();
    return tiles && !answered && !request_.modes_given
               ? std::vector<std::int64_t>{kMostSteps}
               : std::vector<std::int64_t>{1, 4, 16, 64, 256, kMostSteps};
  }

  std::vector<Dtype> ordinary_dtypes() const { return is_large(device_) ? dtypes_ : asked_or({Dtype::fp32}); }

  std::vector<Dtype> narrow_dtypes() const {
    std::vector<Dtype> narrow;
    std::ranges::copy_if(dtypes_, std::back_inserter(narrow),
                         [](Dtype dtype) { return bytes_of(dtype) == 2; });
    return narrow;
  }

  // Where there is none of 16 bits, one of the others: the answer says why not.
  std::vector<Dtype> tensor_core_dtypes() const {
    std::vector<Dtype> narrow = narrow_dtypes();
    return narrow.empty() ? std::vector<Dtype>{dtypes_.front()} : narrow;
  }

  void add_gemm() {
    const std::vector<std::int64_t> sizes = is_large(device_)
                                                ? std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192}
                                                : std::vector<std::int64_t>{128, 256, 512, 1024, 2048};
    for (const Dtype dtype : dtypes_) {
      for (const std::int64_t size : batches(sizes)) {
        const bool roof = request_.batches.empty() && size == sizes.back();
        add("forward", dtype, size, {{"inner", size}, {"columns", size}}, {.first = roof});
        add("forward", dtype, size, {{"inner", size}, {"columns", size}}, {.cold = true});
      }
    }
  }

  // ResNet's 3×3 convolutions: channels double where height and width halve.
  static std::vector<Changes> convolutions() {
    std::vector<Changes> all;
    for (std::int64_t channels = 64, size = 56; channels <= 512; channels *= 2, size /= 2) {
      all.push_back(
          {{"in-channels", channels}, {"out-channels", channels}, {"height", size}, {"width", size}});
    }
    return all;
  }

  void add_conv2d() {
    for (const std::string& mode : modes()) {
      for (const Dtype dtype : dtypes_) {
        add_convolutions(mode, dtype);
      }
    }
  }

  // In the dtypes that it has, unless others are asked for: those answer why not. What is no GPU says so
  // once.
  void add_implicit_gemm() {
    std::vector<Dtype> own;
    std::ranges::copy_if(dtypes_, std::back_inserter(own),
                         [](Dtype dtype) { return dtype == Dtype::fp32 || dtype == Dtype::fp16; });
    for (const Dtype dtype : asked_or(own)) {
      if (!is_large(device_)) {
        add("forward", dtype, batches({8}).front(), convolutions().front(), {});
        return;
      }
      add_convolutions("forward", dtype);
    }
  }

  void add_convolutions(const std::string& mode, Dtype dtype) {
    for (const std::int64_t batch : batches({is_large(device_) ? 64 : 8})) {
      for (const Changes& changes : convolutions()) {
        add_hot_and_cold(mode, dtype, batch, changes);
      }
    }
  }

  // It touches no data that a cache could hold or a dtype could change.
  void add_launch() {
    for (const std::int64_t batch : batches({1})) {
      add("forward", Dtype::fp32, batch, {}, {});
    }
  }

  // A workload that this sweep knows nothing about, as it comes.
  void add_plain() {
    for (const std::string& mode : modes()) {
      for (const Dtype dtype : dtypes_) {
        for (const std::int64_t batch : batches({1})) {
          add_hot_and_cold(mode, dtype, batch, {});
        }
      }
    }
  }

  void add_hot_and_cold(const std::string& mode, Dtype dtype, std::int64_t batch, const Changes& changes) {
    add(mode, dtype, batch, changes, {});
    add(mode, dtype, batch, changes, {.cold = true});
  }

  // The value the command line gave; else the sweep's, else the workload's.
  std::string value_of(const CommandOption& option, const Changes& changes) const {
    if (type_ == request_.workload && request_.given_options.contains(option.name)) {
      return request_.workload_options.at(option.name).front();
    }
    const auto change = changes.find(option.name);
    return change == changes.end() ? option.default_value : fmt::format("{}", change->second);
  }

  struct How {
    bool cold = false;
    bool first = false;  // the roof rests on it
  };

  void add(const std::string& mode, Dtype dtype, std::int64_t batch, const Changes& changes, How how) {
    SweepPoint point;
    point.workload = type_;
    point.cold = how.cold;
    point.first = how.first;
    point.spec.mode = mode;
    point.spec.dtype = dtype;
    point.spec.batch = batch;
    point.spec.seed = request_.seed;
    const std::string_view caches = how.cold ? "cold" : "hot";
    point.series = fmt::format("{}/{}/{}/{}", type_->name, mode, name_of(dtype), caches);
    point.name = "kernels/" + point.series;
    point.series += how.first ? "/first" : "";
    for (const CommandOption& option : type_->options) {
      const std::string value = value_of(option, changes);
      point.spec.options[option.name] = value;
      if (changes.contains(option.name) || value != option.default_value) {
        point.name += fmt::format("/{}:{}", option.name, value);
      }
    }
    point.name += fmt::format("/batch:{}", batch);
    point.params = params_of(type_->name, point.spec);
    point.params["caches"] = caches;
    const bool known =
        std::ranges::any_of(plan_.points, [&](const SweepPoint& other) { return other.name == point.name; });
    if (!known) {  // two sizes become one where the command line fixes them
      plan_.points.push_back(std::move(point));
    }
  }

  const SweepRequest& request_;
  Device& device_;
  std::vector<Dtype> dtypes_;
  const WorkloadType* type_ = nullptr;
  SweepPlan plan_;
};

const Registration<Sweep> registered{
    Sweep{.name = "kernels",
          .question = "How close do memory and arithmetic come to what the device can do?",
          .default_workload = "gemm",
          .workloads = {"fma", "stream", "gemm", "conv2d", "implicit_gemm", "launch"},
          .plan = [](const SweepRequest& request, Device& device) { return Planner(request, device).run(); },
          .findings = kernels_findings,
          .tables = kernels_tables}};

}  // namespace
}  // namespace bench::sweeps
