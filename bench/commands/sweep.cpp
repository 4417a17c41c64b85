#include "bench/commands/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "bench/cli/progress.h"
#include "bench/cli/table.h"
#include "bench/commands/benchmark_out.h"
#include "bench/commands/planned_sweep.h"
#include "bench/commands/request.h"
#include "bench/commands/select.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/run/context.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/interrupt.h"
#include "bench/run/picture.h"
#include "bench/run/restart.h"
#include "bench/run/result_file.h"
#include "bench/run/runner.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

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
    std::vector<PlannedPoint> rows;
    for (const SweepPoint& point : plan().points) {
      rows.push_back(planned_.predict(point));
    }
    print_planned(std::cout, rows, request_.largest_cap(), plan().open_ended);
    if (sweep_.predict) {
      for (const TextTable& table : tables_of(start_document())) {
        print_text_table(std::cout, table);
      }
    }
    return ExitCode::done;
  }

  // Set by measure() where the device was lost and a fresh process can go on.
  const std::optional<Continuation>& successor() const { return successor_; }

  ExitCode measure() {
    ResultFile file(options_.out, sweep_.name, workload_label(request_), device_->info().id);
    ResultDocument document = start_document();
    file.check_writable();
    check_benchmark_out(options_.benchmark, file.path());
    if (options_.resume || continued_) {
      resume_from(file, document);
    }
    install_interrupt_handlers();
    if (!continued_) {
      describe();
    }
    {
      Progress bar(std::cerr, isatty(STDERR_FILENO) == 1, terminal_width());
      LiveOutput live(file, bar);
      try {
        add_peaks(document, bar);
        run_points(sweep_, plan(), request_, *device_, make_settings(), document, live);
        prove(document, live, bar);
      } catch (const DeviceLost& error) {
        bar.finish();
        if (hand_over(document, error)) {
          return ExitCode::inconclusive;
        }
      } catch (const UsageError&) {  // the file could not be written: what was measured is shown all the same
        bar.finish();
        print_points(document);
        throw;
      }
      bar.finish();
    }
    print_summary(document, file);
    write_benchmark_out(options_.benchmark, document);
    return device_lost_ ? std::max(exit_code(document), ExitCode::inconclusive) : exit_code(document);
  }

 private:
  const SweepPlan& plan() const { return planned_.plan(); }

  static std::size_t errors_in(const ResultDocument& document) {
    return static_cast<std::size_t>(
        std::ranges::count(document.unmeasured, "error", &UnmeasuredPoint::status));
  }

  // Each process must leave one more point in error than the one before: there are finitely many.
  bool hand_over(const ResultDocument& document, const DeviceLost& error) {
    device_lost_ = true;
    const std::size_t errors = errors_in(document);
    const bool known_point = errors > (continued_ ? continued_->errors : 0);
    if (known_point && !interrupted()) {
      fmt::print(std::cerr, "{} was lost ({}); going on in a fresh process\n", device_->info().id,
                 error.what());
      successor_ = Continuation{errors, start_};
      return true;
    }
    fmt::print(std::cerr, "{} was lost and the run ends here: {}; go on with --resume\n", device_->info().id,
               error.what());
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
        .interrupted = [] { return interrupted(); }};
    sweep_.prove(study);
    save();
  }

  std::vector<TextTable> tables_of(const ResultDocument& document) const {
    return sweep_.tables ? sweep_.tables(document) : std::vector<TextTable>{};
  }

  ResultDocument start_document() {
    ResultDocument document;
    document.context = make_context(device_->info(), argv_, options_.seed);
    document.sweep = {
        {"name", sweep_.name},
        {"question", sweep_.question},
        {"workload", workload_label(request_)},
        {"mode", request_.workloads.size() > 1 ? "all" : fmt::format("{}", fmt::join(request_.modes, ","))},
        {"workload_options", Json::object()},
        {"memory_cap_bytes", request_.largest_cap()},
        {"time_budget_ns", options_.time_budget.count()},
        {"axes", plan().axes}};
    for (const auto& [name, values] : request_.workload_options) {
      if (request_.workloads.size() > 1) {
        break;  // each point's own stand in its params
      }
      document.sweep["workload_options"][name] = fmt::format("{}", fmt::join(values, ","));
    }
    if (!sweep_.options.empty()) {
      document.sweep["sweep_options"] = request_.sweep_options;
    }
    if (request_.memory_caps.size() > 1) {
      document.sweep["memory_caps_bytes"] = request_.memory_caps;
    }
    if (sweep_.predict) {
      sweep_.predict(request_, plan(), *device_, document);
    }
    return document;
  }

  void resume_from(ResultFile& file, ResultDocument& document) const {
    if (!fs::exists(file.path())) {
      fmt::print(std::cerr, "--resume: {} does not exist yet; starting anew\n", file.path().string());
      return;
    }
    ResultDocument old = read_resumable(file.path());
    check_resumable(old, document);
    document.benchmarks = std::move(old.benchmarks);
    // What may have changed is tried again; memory and support are not going to. An error of this very run
    // would come again.
    for (UnmeasuredPoint& point : old.unmeasured) {
      if (point.status == "oom" || point.status == "unsupported" || (continued_ && point.status == "error")) {
        document.unmeasured.push_back(std::move(point));
      }
    }
    file.continue_previous();
  }

  void add_peaks(ResultDocument& document, Progress& bar) {
    std::set<Dtype> dtypes;
    for (const SweepPoint& point : plan().points) {
      dtypes.insert(point.spec.dtype);
    }
    for (const Dtype dtype : dtypes) {
      if (!device_->unsupported(dtype)) {
        bar.update(0, fmt::format("measuring what the device can do in {}", name_of(dtype)), {}, {});
        set_peaks(document, dtype, device_->peaks(dtype));
      }
    }
  }

  RunSettings make_settings() const {
    RunSettings settings;
    settings.time_budget = std::chrono::nanoseconds(static_cast<std::int64_t>(
        plan().share_of_budget * static_cast<double>(options_.time_budget.count())));
    settings.memory_cap = request_.largest_cap();
    if (continued_) {
      settings.already_spent = std::chrono::steady_clock::now() - start_;
    }
    settings.seed = options_.seed;
    settings.growing_rounds = plan().rounds_when_growing;
    settings.max_rounds = plan().most_rounds;
    settings.max_samples = plan().most_samples;
    if (options_.benchmark.repetitions > 0) {
      // Fewer rounds than three cannot know the spread between them.
      settings.min_rounds = std::max(settings.min_rounds, options_.benchmark.repetitions);
      settings.wanted_rounds = std::max(settings.wanted_rounds, settings.min_rounds);
      settings.growing_rounds = std::max(settings.growing_rounds, settings.min_rounds);
      settings.max_rounds = std::max(settings.max_rounds, settings.min_rounds);
    }
    return settings;
  }

  void describe() const {
    fmt::print(std::cerr, "{}\n{} on {} ({}), memory cap {}, time budget {}\n", sweep_.question,
               workload_label(request_), device_->info().id, device_->info().name,
               format_bytes(request_.largest_cap()),
               format_duration(static_cast<double>(options_.time_budget.count())));
  }

  void print_points(const ResultDocument& document) const {
    if (options_.benchmark.format.empty()) {
      print_table(std::cout, document, terminal_width(), tables_of(document));
    } else {
      write_google_benchmark(document, options_.benchmark.format, std::cout);
    }
  }

  void print_summary(const ResultDocument& document, const ResultFile& file) const {
    if (document.benchmarks.empty() && document.unmeasured.empty()) {
      fmt::print(std::cerr, "Nothing was measured, and nothing was written.\n");
      return;
    }
    std::ostream& notes = options_.benchmark.format.empty() ? std::cout : std::cerr;
    print_points(document);
    fmt::print(notes, "\nresult   {}\n", file.path().string());
    if (!options_.plot) {
      return;
    }
    const Picture picture = draw(sweep_.name, file.path());
    for (const auto& drawn : picture.files) {
      fmt::print(notes, "picture  {}\n", drawn.string());
    }
    if (!picture.problem.empty()) {
      fmt::print(std::cerr, "no picture: {}\n", picture.problem);
    }
  }

  static ExitCode exit_code(const ResultDocument& document) {
    if (interrupted()) {
      return ExitCode::interrupted;
    }
    const bool errors = std::ranges::any_of(
        document.unmeasured, [](const UnmeasuredPoint& point) { return point.status == "error"; });
    // Out of memory and unsupported are answers; a budget that left no point measured is none.
    const bool nothing = document.benchmarks.empty() &&
                         std::ranges::any_of(document.unmeasured, [](const UnmeasuredPoint& point) {
                           return point.status == "skipped";
                         });
    return errors || nothing ? ExitCode::inconclusive : ExitCode::done;
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
    fmt::print(std::cerr, "no fresh process could be started ({}); go on with --resume\n",
               restart(argv, *successor));
  }
  return code;
}

}  // namespace bench
