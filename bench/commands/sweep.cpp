#include "bench/commands/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/cli/progress.h"
#include "bench/cli/table.h"
#include "bench/commands/benchmark_out.h"
#include "bench/commands/planned_sweep.h"
#include "bench/commands/request.h"
#include "bench/commands/resume.h"
#include "bench/commands/run_settings.h"
#include "bench/commands/select.h"
#include "bench/commands/start_document.h"
#include "bench/commands/summary.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/interrupt.h"
#include "bench/run/restart.h"
#include "bench/run/result_file.h"
#include "bench/run/runner.h"
#include "bench/run/validity.h"

namespace bench {
namespace {

// Keeps the file and the progress line up to date while points run.
class LiveOutput : public RunObserver {
 public:
  LiveOutput(ResultFile& file, Progress& bar) : file_(file), bar_(bar) {}
  void progress(const RunProgress& now) override {
    bar_.update(now.fraction, now.what, now.elapsed, now.left);
  }
  // Nothing measured or refused yet is nothing to keep: an earlier result stays where it is.
  void changed(const ResultDocument& document) override {
    if (!document.benchmarks.empty() || !document.unmeasured.empty()) {
      file_.write(document);
    }
  }

 private:
  ResultFile& file_;
  Progress& bar_;
};

class SweepRun {
 public:
  SweepRun(const Options& options, const std::vector<std::string>& argv,
           const std::optional<Continuation>& continued)
      : options_(options),
        argv_(argv),
        continued_(continued),
        sweep_(*registry<Sweep>().find(options.sweep)),
        device_(open_device(options.device)),
        type_(*registry<WorkloadType>().find(options.workload.empty() ? sweep_.default_workload
                                                                      : options.workload)),
        request_(make_request(options, sweep_, type_, *device_)),
        planned_(plan_sweep(sweep_, request_, *device_, options.benchmark.filter)) {
    device_->memory().set_cap(request_.largest_cap());
  }

  ExitCode list_tests() const {
    for (const SweepPoint& point : plan().points) {
      fmt::print("{}\n", point.name);
    }
    return ExitCode::done;
  }

  ExitCode dry_run() {
    check_benchmark_out(options_.benchmark,
                        ResultFile(options_.out, sweep_.name, request_.label, device_->info().id).path());
    std::vector<PlannedPoint> rows;
    for (const SweepPoint& point : plan().points) {
      rows.push_back(planned_.predict(point));
    }
    print_planned(std::cout, rows, request_.largest_cap(), plan().open_ended);
    if (sweep_.predict) {
      for (const TextTable& table : tables_of(new_document())) {
        print_text_table(std::cout, table);
      }
    }
    return ExitCode::done;
  }

  // Set by measure() where the device was lost and a fresh process can go on.
  const std::optional<Continuation>& successor() const { return successor_; }

  ExitCode measure() {
    ResultFile file(options_.out, sweep_.name, request_.label, device_->info().id);
    ResultDocument document = new_document();
    file.check_writable();
    check_benchmark_out(options_.benchmark, file.path());
    try_benchmark_out(options_.benchmark);
    if (options_.resume || continued_) {
      resume_from(file, document);
    }
    install_interrupt_handlers();
    if (!continued_) {
      describe();
    }
    if (!plan().measures) {
      return show_predicted(file, document);
    }
    if (plan().prepare) {
      plan().prepare();
      start_ = continued_ ? start_ : std::chrono::steady_clock::now();
    }
    {
      Progress bar(std::cerr, isatty(STDERR_FILENO) == 1, terminal_width());
      LiveOutput live(file, bar);
      try {
        add_peaks(document, bar);
        run_points(sweep_, plan(), request_, *device_, run_settings(options_, request_, plan(), spent()),
                   document, live);
        prove(document, live, bar);
      } catch (const DeviceLost& error) {
        bar.finish();
        if (hand_over(document, error)) {
          return ExitCode::inconclusive;
        }
      } catch (const UsageError&) {  // the file could not be written: what was measured is shown all the same
        bar.finish();
        print_points(options_, document, tables_of(document));
        throw;
      }
      bar.finish();
    }
    print_summary(options_, sweep_.name, document, tables_of(document), file.path());
    if (interrupted() && !document.benchmarks.empty()) {
      fmt::print(std::cerr, "interrupted; what was measured is saved; go on with {}\n",
                 command_to_resume(argv_));
    }
    write_benchmark_out(options_.benchmark, document);
    if (only_first_measured(plan(), document) && !interrupted()) {
      fmt::print(
          std::cerr,
          "the time budget ended when only what the others are held against was measured; give a larger "
          "--time-budget, or go on with {}\n",
          command_to_resume(argv_));
    }
    const ExitCode code = exit_code_of(plan(), document);
    return device_lost_ ? std::max(code, ExitCode::inconclusive) : code;
  }

 private:
  const SweepPlan& plan() const { return planned_.plan(); }

  ExitCode show_predicted(ResultFile& file, ResultDocument& document) const {
    document.findings = sweep_.findings(document);
    file.write(document);
    print_summary(options_, sweep_.name, document, tables_of(document), file.path());
    return ExitCode::done;
  }

  // Each process must leave one more error than the one before: there are finitely many.
  bool hand_over(const ResultDocument& document, const DeviceLost& error) {
    device_lost_ = true;
    const std::size_t errors = errors_in(document);
    const bool known = errors > (continued_ ? continued_->errors : 0);
    if (known && !interrupted()) {
      fmt::print(std::cerr, "{} was lost ({}); going on in a fresh process\n", device_->info().id,
                 error.what());
      successor_ = Continuation{errors, start_};
      return true;
    }
    fmt::print(std::cerr, "{} was lost and the run ends here: {}; go on with {}\n", device_->info().id,
               error.what(), command_to_resume(argv_));
    return false;
  }

  // What the sweep finds out beside its points, in what is left of the time budget.
  void prove(ResultDocument& document, LiveOutput& live, Progress& bar) {
    if (!sweep_.prove || interrupted() || (document.benchmarks.empty() && document.unmeasured.empty())) {
      return;
    }
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto elapsed = [this, now] { return std::chrono::nanoseconds(now() - start_); };
    const auto save = [&] {
      document.findings = sweep_.findings(document);
      live.changed(document);
    };
    SweepStudy study{
        .request = request_,
        .plan = plan(),
        .device = *device_,
        .document = document,
        .report =
            [&](const std::string& what) {
              const auto left = options_.time_budget - elapsed();
              bar.update(std::min(1.0, std::chrono::duration<double>(elapsed()) /
                                           std::chrono::duration<double>(options_.time_budget)),
                         what, elapsed(), std::max(left, std::chrono::nanoseconds(0)));
            },
        .save = save,
        .left_ns = [&] { return static_cast<double>((options_.time_budget - elapsed()).count()); },
        .interrupted = [] { return interrupted(); },
        .before = before_};
    sweep_.prove(study);
    save();
  }

  std::vector<TextTable> tables_of(const ResultDocument& document) const {
    return sweep_.tables ? sweep_.tables(document) : std::vector<TextTable>{};
  }

  ResultDocument new_document() {
    return start_document(sweep_, request_, plan(), *device_, options_, argv_);
  }

  void resume_from(ResultFile& file, ResultDocument& document) {
    Earlier earlier =
        take_over(file.path(), plan(), continued_ ? Successor::of_lost_device : Successor::of_user, document);
    if (!earlier.found) {
      fmt::print(std::cerr, "--resume: {} does not exist yet; starting anew\n", file.path().string());
      return;
    }
    try {  // what the points hold beside their numbers is the sweep's to read
      sweep_.findings(document);
    } catch (const std::exception& error) {
      throw UsageError(fmt::format(
          "--resume: {} holds a field that this program cannot use ({}); run without --resume to start anew "
          "(the old file is kept)",
          file.path().string(), error.what()));
    }
    before_ = std::move(earlier.sweep);
    if (before_.contains("lost") && before_["lost"].is_object()) {
      document.sweep["lost"] = before_["lost"];
    }
    file.continue_previous();
  }

  void add_peaks(ResultDocument& document, Progress& bar) {
    for (const Dtype dtype : computed_dtypes(plan(), request_)) {
      if (!device_->unsupported(dtype) && !interrupted()) {
        bar.update(0, fmt::format("measuring what the device can do in {}", name_of(dtype)), {}, {});
        set_peaks(document, dtype, device_->peaks(dtype));
      }
    }
  }

  std::chrono::nanoseconds spent() const {
    return continued_ ? std::chrono::steady_clock::now() - start_ : std::chrono::nanoseconds(0);
  }

  void describe() const {
    fmt::print(std::cerr, "{}\n{} on {} ({}), memory cap {}, time budget {}\n", sweep_.question,
               request_.label, device_->info().id, device_->info().name, format_bytes(request_.largest_cap()),
               format_duration(static_cast<double>(options_.time_budget.count())));
  }

  const Options& options_;
  const std::vector<std::string>& argv_;
  std::optional<Continuation> continued_;
  const Sweep& sweep_;
  std::unique_ptr<Device> device_;
  const WorkloadType& type_;
  SweepRequest request_;
  PlannedSweep planned_;
  std::chrono::steady_clock::time_point start_ =
      continued_ ? continued_->started : std::chrono::steady_clock::now();
  Json before_;  // of document.sweep, by the process that this one goes on for
  bool device_lost_ = false;
  std::optional<Continuation> successor_;
};

}  // namespace

ExitCode run_sweep(const Options& options, const std::vector<std::string>& argv) {
  const std::optional<Continuation> continued = take_continuation();
  initialize_google_benchmark(options.benchmark.other_flags);
  std::optional<SweepRun> run;
  try {
    run.emplace(options, argv, continued);
  } catch (const UsageError& error) {
    if (!continued) {
      throw;
    }
    throw std::runtime_error(
        fmt::format("the device did not come back ({}); what was measured before is saved", error.what()));
  }
  if (options.benchmark.list_tests) {
    return run->list_tests();
  }
  if (options.dry_run) {
    return run->dry_run();
  }
  const ExitCode code = run->measure();
  if (const std::optional<Continuation> successor = run->successor()) {
    run.reset();  // closes the device
    fmt::print(std::cerr, "no fresh process could be started ({}); go on with {}\n",
               restart(argv, *successor), command_to_resume(argv));
  }
  return code;
}

}  // namespace bench
