// A run of the runner on a fake device whose clock the test moves.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/run/runner.h"
#include "tests/bench/run/fake_device.h"

namespace bench::testing {

// Notes what the runner reports.
class Recorder : public RunObserver {
 public:
  void progress(const RunProgress& now) override { told.push_back(now.what); }
  void changed(const ResultDocument& document) override {
    sizes.push_back(document.points.size());
    findings = document.findings;
    if (on_change) {
      on_change();
    }
  }
  void verified(const std::string& point, double ns) override { verifications.emplace_back(point, ns); }
  std::vector<std::string> told;
  std::vector<std::pair<std::string, double>> verifications;
  std::vector<std::size_t> sizes;
  std::vector<Finding> findings;  // of the last change
  std::function<void()> on_change;
};

// Finds how many points were measured.
class FakeSweep : public Sweep {
 public:
  const SweepPlan& plan() const override { return plan_; }
  std::vector<Finding> findings(const ResultDocument& document) const override {
    ++times_asked;
    return {finding_of("measured", "points").set(Estimate{static_cast<double>(document.points.size())})};
  }
  mutable int times_asked = 0;

 private:
  SweepPlan plan_;
};

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    FakeWorkload::on_step = nullptr;
    FakeWorkload::on_verify = nullptr;
    FakeWorkload::verdict = true;
    FakeWorkload::not_checked.clear();
    device_.clock = &clock_;
    settings_.time_budget = std::chrono::seconds(60);
    settings_.started = clock_.now();
    settings_.memory_cap = 1000;
    settings_.longest_repetition = std::chrono::microseconds(8);
  }
  void run(const SweepPlan& plan) {
    run_points(sweep_, plan, device_, clock_, settings_, document_, recorder_);
  }
  std::vector<std::string> measured() const {
    std::vector<std::string> names;
    for (const Point& point : document_.points) {
      names.push_back(point.name);
    }
    return names;
  }

  FakeSweep sweep_;
  ManualClock clock_;
  FakeDevice device_;
  RunSettings settings_;
  ResultDocument document_;
  Recorder recorder_;
};

}  // namespace bench::testing
