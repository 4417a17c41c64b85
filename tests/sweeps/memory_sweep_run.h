// A run of the memory sweep on a made-up machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory_machine.h"
#include "tests/bench/support/manual_clock.h"

namespace bench::testing {

class MemorySweepRun : public ::testing::Test {
 protected:
  MemorySweepRun() { use({}); }

  void use(const MachineNumbers& numbers) {
    type_ = machine_workload(numbers);
    smallest_ = numbers.smallest;
    request_.workload = &type_;
    if (request_.memory_caps.empty()) {
      request_.modes = {"infer"};
      request_.dtypes = {Dtype::fp32};
      request_.memory_caps = {5000};
    }
    request_.sweep_options["soak"] = "0";
  }

  std::unique_ptr<Sweep> make() { return registry<SweepType>().find("memory")->make(request_, machine_); }
  SweepPlan plan() { return make()->plan(); }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const SweepPoint& point : plan().points) {
      all.push_back(point.name);
    }
    return all;
  }

  // As the program does: plan, predict, measure, study, find. `left_ns`: of the time budget when the study
  // begins. `before`: what the file holds of the sweep of a process that lost the device.
  ResultDocument run(double left_ns = 1e9, const Json& before = nullptr) {
    const Clock::time_point start = clock_.now();
    sweep_ = make();
    ResultDocument document;
    document.sweep.axes = sweep_->plan().axes;
    document.sweep.memory_cap_bytes = request_.largest_cap();
    sweep_->predict(planning_end_);
    if (!before.is_null()) {
      document.sweep.state = before;
      sweep_->restore(document);
    }
    for (const SweepPoint& point : sweep_->plan().points) {
      if (!point.workload->unsupported(machine_) && point.spec.batch <= 16 && point.spec.batch >= smallest_) {
        document.points.push_back(measured_point(point, machine_));
      }
    }
    SweepStudy study{.request = request_,
                     .plan = sweep_->plan(),
                     .device = machine_,
                     .document = document,
                     .report = [](const std::string&) {},
                     .save = [this, &document] { document.sweep.state = sweep_->to_json(); },
                     .left_ns = [&] { return left_ns - clock_.since_ns(start); },
                     .leave_out = [](std::chrono::nanoseconds) {},
                     .interrupted = [] { return false; },
                     .lost = document.sweep.lost,
                     .costs = costs_};
    try {
      sweep_->study(study);
    } catch (const DeviceLost&) {
      lost_ = true;
    }
    document.sweep.state = sweep_->to_json();
    document.findings = sweep_->findings(document);
    return document;
  }

  static const Finding& finding(const ResultDocument& document, const std::string& name) {
    const auto at = std::ranges::find(document.findings, name, &Finding::name);
    if (at == document.findings.end()) {
      throw std::runtime_error("no finding " + name);
    }
    return *at;
  }

  // The limits by plan.
  Json predicted() {
    const auto sweep = make();
    sweep->predict(planning_end_);
    return sweep->to_json().at("limits");
  }

  MemoryMachine machine_;
  PlanningEnd planning_end_ = [] { return std::nullopt; };
  WorkloadType type_;
  ManualClock clock_;
  SweepRequest request_{clock_};
  std::map<std::string, SeriesCost> costs_;  // of preparing the points
  std::unique_ptr<Sweep> sweep_;
  std::int64_t smallest_ = 1;
  bool lost_ = false;
};

}  // namespace bench::testing
