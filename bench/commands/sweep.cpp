#include "bench/commands/sweep.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/progress.h"
#include "bench/cli/report.h"
#include "bench/cli/table.h"
#include "bench/cli/terminal.h"
#include "bench/commands/benchmark_out.h"
#include "bench/commands/dry_run.h"
#include "bench/commands/planned_sweep.h"
#include "bench/commands/ranked_sweep.h"
#include "bench/commands/resume.h"
#include "bench/commands/setup.h"
#include "bench/commands/summary.h"
#include "bench/commands/wait_policy.h"
#include "bench/host/cpu_usage.h"
#include "bench/host/interrupt.h"
#include "bench/host/process_memory.h"
#include "bench/host/user_folders.h"
#include "bench/registry.h"
#include "bench/result/sessions.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/history.h"
#include "bench/run/machine_watch.h"
#include "bench/run/predicted_points.h"
#include "bench/run/result_file.h"
#include "bench/run/result_folder.h"
#include "bench/run/runner.h"
#include "bench/run/session.h"
#include "bench/run/verification_cost.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Share of the time budget for opening the device, and plans that no point waits for.
constexpr double kPlanningShare = 0.2;

ExitCode interrupted_while_planning() {
  std::cerr << notice(STDERR_FILENO, "interrupted while planning; nothing was measured");
  return ExitCode::interrupted;
}

// Between two processes of a run, or while the second one plans.
ExitCode interrupted_before_going_on(const std::vector<std::string>& argv) {
  std::cerr << notice(STDERR_FILENO, "interrupted; what was measured is saved; go on with",
                      command_to_resume(argv));
  return ExitCode::interrupted;
}

// Keeps the file and the progress line up to date while points run.
class LiveOutput : public RunObserver {
 public:
  LiveOutput(ResultFile& file, Progress& bar, WatchedRanks* ranks) : file_(file), bar_(bar), ranks_(ranks) {}
  void progress(const RunProgress& now) override { bar_.update(now); }
  void verified(const std::string& point, double ns) override { verification_.add(point, ns); }
  const VerificationCost& verification() const { return verification_; }
  // Where nothing was measured or refused yet, an earlier result stays in its place.
  void changed(const ResultDocument& document) override {
    if (!measured_points(document).empty() || !document.unmeasured.empty()) {
      file_.write(document);
      if (ranks_ != nullptr && !file_.path().empty()) {
        ranks_->note_saved(file_.path().string());
      }
    }
  }

 private:
  ResultFile& file_;
  Progress& bar_;
  WatchedRanks* ranks_;  // nullptr: one process alone
  VerificationCost verification_;
};

class SweepRun {
 public:
  SweepRun(const Options& options, const std::vector<std::string>& argv,
           const std::optional<Continuation>& continued, WatchedRanks* ranks, const Clock& clock)
      : options_(options),
        argv_(argv),
        continued_(continued),
        budget_(clock, continued ? continued->started : clock.now(), options.time_budget),
        began_(budget_.started()),
        type_(*registry<SweepType>().find(options.sweep)),
        ranks_(ranks),
        device_(open_rank_device(options, ranks)),
        request_(make_request(options, type_, *device_, clock, ranks)),
        sweep_(type_.make(request_, *device_)),
        planned_(sweep_->plan(), request_, *device_, options.benchmark.filter),
        folder_(options.out.empty() ? default_result_folder()
                                    : ResultFolder{.path = options.out, .note = ""}),
        file_(folder_.path, type_.name, request_.label,
              device_->info().id + (is_modelled() ? "-predicted" : "")) {
    device_->memory().set_cap(request_.largest_cap());
  }

  ExitCode list_tests() {
    planned_.stop_at_cap();
    if (interrupted()) {
      return interrupted_while_planning();
    }
    for (const SweepPoint& point : plan().points) {
      fmt::print("{}\n", point.name);
    }
    return ExitCode::done;
  }

  ExitCode dry_run() {
    check_benchmark_out(options_.benchmark, file_.path(), true);
    planned_.stop_at_cap();
    std::vector<PlannedPoint> rows;
    for (const SweepPoint& point : plan().points) {
      if (!interrupted()) {
        rows.push_back(planned_.predict(point));
      }
    }
    start();
    if (interrupted()) {
      return interrupted_while_planning();
    }
    print_dry_run(std::cout,
                  {.sweep = type_.name,
                   .request = request_,
                   .device = *device_,
                   .plan = plan(),
                   .points = std::move(rows),
                   .answers = planned_answers(),
                   .tables = sweep_->tables(document_),
                   .budget = budget_},
                  options_);
    return ExitCode::done;
  }

  ExitCode measure(bool cores_are_busy) {
    start();
    if (interrupted()) {
      return continued_ ? interrupted_before_going_on(argv_) : interrupted_while_planning();
    }
    file_.check_writable();
    check_benchmark_out(options_.benchmark, file_.path(), false);
    if (options_.resume || continued_) {
      resume();
    }
    if (!continued_) {
      print_start(options_, request_, *device_);
      if (cores_are_busy) {
        say_cores_are_busy(options_.verbose);
      }
      say_where_things_are_kept();
    }
    if (is_modelled() || plan().points.empty()) {
      predict();
    } else {
      measure_points();
      if (successor_) {
        return ExitCode::inconclusive;
      }
    }
    const std::optional<Warning> late =
        interrupted() || options_.resume
            ? std::nullopt
            : lateness_of(document_, request_.clock.since_ns(began_), options_.quick);
    print_summary(options_, document_, sweep_->tables(document_), file_, late);
    write_benchmark_out(options_.benchmark, document_);
    say_how_to_go_on();
    const ExitCode code = exit_code_of(plan(), document_);
    return device_lost_ ? std::max(code, ExitCode::inconclusive) : code;
  }

  bool runs_on_processor() const { return device_->info().kind == "cpu"; }

  // Set by measure() where the device was lost and a fresh process can go on.
  const std::optional<Continuation>& successor() const { return successor_; }

 private:
  const SweepPlan& plan() const { return planned_.plan(); }
  bool is_modelled() const { return device_->model() != nullptr; }

  void say_where_things_are_kept() const {
    if (!folder_.note.empty()) {
      std::cerr << notice(STDERR_FILENO, folder_.note);
    }
    if (options_.cache && !is_modelled() && !cache_folder()) {
      std::cerr << notice(STDERR_FILENO,
                          "nothing is kept from run to run: neither XDG_CACHE_HOME nor HOME names a folder "
                          "that can be written");
    }
  }

  // Those that say what fits: others rest on measured points.
  std::vector<Finding> planned_answers() const {
    std::vector<Finding> answers = sweep_->findings(document_);
    std::erase_if(answers, [](const Finding& finding) {
      return !finding.details.is_object() || !finding.details.contains("fit");
    });
    return answers;
  }

  void start() {
    document_ = start_document(type_, request_, plan(), *device_, options_, argv_);
    Progress bar(std::cerr, can_redraw(STDERR_FILENO), terminal_width(STDERR_FILENO));
    sweep_->predict([&] { return end_of_planning(bar); });
  }

  // A dry run plans everything.
  std::optional<std::string> end_of_planning(Progress& bar) const {
    constexpr double kShortNs = 1e9;
    if (interrupted()) {
      return "the run was interrupted";
    }
    if (options_.dry_run) {
      return std::nullopt;
    }
    if (budget_.elapsed_ns() > kShortNs) {
      bar.update(budget_.progress("planning"));
    }
    if (budget_.elapsed_ns() <= kPlanningShare * budget_.total_ns()) {
      return std::nullopt;
    }
    return fmt::format("planning had taken {} of {}", format_percent(kPlanningShare), budget_.name());
  }

  void resume() {
    if (file_.path().empty()) {
      throw UsageError("--resume: " + folder_.note);
    }
    const ResumeReason reason = continued_ ? ResumeReason::device_lost : ResumeReason::requested;
    if (!take_over(file_.path(), plan(), reason, document_)) {
      std::cerr << notice(STDERR_FILENO, fmt::format("--resume: {} does not exist yet; starting a new run",
                                                     file_.path().string()));
      return;
    }
    try {  // only the sweep can read params, notes and its own state
      sweep_->restore(document_);
      sweep_->findings(document_);
    } catch (const std::exception& error) {
      throw UsageError(fmt::format(
          "--resume: {} holds a field that this program cannot use ({}); run without --resume to start over "
          "(the old file is kept)",
          file_.path().string(), error.what()));
    }
    file_.continue_previous();
    if (!continued_) {
      std::cerr << notice(STDERR_FILENO,
                          fmt::format("--resume: going on with {}, which holds {} measured points",
                                      file_.path().string(), measured_points(document_).size()));
    }
    say_differences();
  }

  // The differences of this session from the file's last one.
  void say_differences() const {
    if (document_.sessions.size() < 2) {
      return;
    }
    const auto& sessions = document_.sessions;
    const std::vector<std::string> all = differences(sessions[sessions.size() - 2], sessions.back());
    if (!all.empty()) {
      std::cerr << notice(
          STDERR_FILENO,
          fmt::format("--resume: the machine or the program may differ: {}; points that go on are flagged {}",
                      fmt::join(all, ", "), kMixedSessions));
    }
  }

  // What needs no measurement: it takes no time, and is written once.
  void predict() {
    if (is_modelled()) {
      predict_points(
          plan(), *device_, request_.largest_cap(),
          [this](const SweepPoint& point) { return sweep_->predicted(point, *device_); }, document_);
    }
    conclude(*sweep_, document_);
    if (is_modelled()) {
      mark_as_predicted(document_.findings);
    }
    file_.write(document_);
  }

  // Tells what this machine's history says, and adds this session to it.
  void end_session_now() {
    const auto history = options_.cache ? history_file() : std::nullopt;
    const SessionEnd end{
        .keep = !interrupted() && !device_lost_,
        .ranks_share_host = ranks_ != nullptr && ranks_on_host(ranks_->places(), ranks_->rank()) > 1};
    const std::string note = end_session(document_, document_.sessions.size() - 1, history, end);
    if (options_.verbose && !note.empty()) {
      std::cerr << notice(STDERR_FILENO, note);
    }
  }

  void measure_points() {
    Progress bar(std::cerr, can_redraw(STDERR_FILENO), terminal_width(STDERR_FILENO));
    LiveOutput live(file_, bar, ranks_);
    const auto save = [&] {
      conclude(*sweep_, document_);
      live.changed(document_);
    };
    SweepStudy study{.request = request_,
                     .plan = plan(),
                     .device = *device_,
                     .document = document_,
                     .report = [&](const std::string& what) { bar.update(budget_.progress(what)); },
                     .save = save,
                     .left_ns = [&] { return budget_.left_ns(); },
                     .leave_out = [&](std::chrono::nanoseconds spent) { budget_.leave_out(spent); },
                     .interrupted = interrupted,
                     .lost = document_.sweep.lost};
    MachineWatch watch = watch_machine(*device_, request_.clock);
    const RunSession session{.index = static_cast<std::int64_t>(document_.sessions.size()) - 1,
                             .started = request_.clock.now(),
                             .watch = &watch};
    try {
      sweep_->prepare(study);
      RunSettings settings = run_settings(options_, request_, plan(), budget_.started());
      settings.session = session;
      study.costs = run_points(*sweep_, plan(), *device_, request_.clock, settings, document_, live);
      if (const std::string cost = live.verification().text(); options_.verbose && !cost.empty()) {
        bar.finish();
        std::cerr << notice(STDERR_FILENO, cost);
      }
      if (!interrupted() && !(measured_points(document_).empty() && document_.unmeasured.empty())) {
        sweep_->study(study);
      }
      end_session_now();
      save();
    } catch (const Interrupted&) {  // in the sweep's own measurements: what they found before is kept
      end_session_now();
      save();
    } catch (const DeviceLost& error) {
      bar.finish();
      hand_over(error);
    } catch (const UsageError&) {  // the file could not be written: what was measured is shown all the same
      bar.finish();
      print_result(options_, document_, sweep_->tables(document_));
      throw;
    }
  }

  // Each process must leave one more error than the one before: there are finitely many.
  void hand_over(const DeviceLost& error) {
    device_lost_ = true;
    const std::size_t errors = errors_in(document_);
    const bool known = !file_.path().empty() && errors > (continued_ ? continued_->errors : 0);
    if (known && !interrupted() && request_.ranks == nullptr) {  // the others do not meet it again
      std::cerr << notice(STDERR_FILENO, fmt::format("{} was lost ({}); going on in a fresh process",
                                                     device_->info().id, error.what()));
      successor_ = Continuation{errors, budget_.started()};
      return;
    }
    say_with_next(fmt::format("{} was lost and the run ends here: {}", device_->info().id, error.what()),
                  "; go on with");
  }

  // The sentence, `how` and the command with which this run goes on; the sentence alone without a file, from
  // which alone it can. How the launcher was called is not known.
  void say_with_next(const std::string& sentence, const std::string& how) const {
    const bool goes_on = !file_.path().empty();
    std::cerr << notice(STDERR_FILENO, sentence + (goes_on ? how : ""),
                        !goes_on            ? ""
                        : ranks_ == nullptr ? command_to_resume(argv_)
                                            : "the launcher's command and --resume");
  }

  void say_how_to_go_on() const {
    if (interrupted() && !measured_points(document_).empty()) {
      say_with_next("interrupted", "; what was measured is saved; go on with");
    }
    if (!interrupted() && only_references_measured(plan(), document_)) {
      say_with_next("the time budget ended after the reference points; give a larger --time-budget",
                    ", or go on with");
    }
  }

  const Options& options_;
  const std::vector<std::string>& argv_;
  std::optional<Continuation> continued_;
  RunBudget budget_;         // from before the device is opened
  Clock::time_point began_;  // without what the budget leaves out later
  const SweepType& type_;
  WatchedRanks* ranks_;
  std::unique_ptr<Device> device_;
  SweepRequest request_;
  std::unique_ptr<Sweep> sweep_;
  PlannedSweep planned_;
  ResultFolder folder_;
  ResultFile file_;
  ResultDocument document_;
  bool device_lost_ = false;
  std::optional<Continuation> successor_;
};

}  // namespace

ExitCode run_sweep(const Options& options, const std::vector<std::string>& argv, const Clock& clock) {
  install_interrupt_handlers();  // before anything is planned
  const std::optional<Continuation> continued = take_continuation();
  const bool cores_are_busy = take_busy_cores();
  initialize_google_benchmark(options.benchmark.other_flags);
  if (const std::optional<ExitCode> ended = run_on_own_ranks(options, argv)) {
    return *ended;
  }
  const std::unique_ptr<WatchedRanks> ranks = join_ranks(options, argv, clock);
  if (ranks != nullptr && ranks->rank() > 0) {
    try {
      serve_first_rank(options, *ranks, clock);
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      ranks->end_alone(failure_in_words(error));
    }
    return ExitCode::done;
  }
  const auto before = cpu_times_now(clock);
  std::optional<SweepRun> run;
  try {
    run.emplace(options, argv, continued, ranks.get(), clock);
  } catch (const Interrupted&) {
    return continued ? interrupted_before_going_on(argv) : interrupted_while_planning();
  } catch (const UsageError& error) {
    if (!continued) {
      throw;
    }
    throw std::runtime_error(
        fmt::format("the device did not come back ({}); what was measured before is saved", error.what()));
  }
  if (interrupted()) {
    return continued ? interrupted_before_going_on(argv) : interrupted_while_planning();
  }
  if (options.benchmark.list_tests) {
    return run->list_tests();
  }
  if (options.dry_run) {
    return run->dry_run();
  }
  if (run->runs_on_processor() && ranks == nullptr && !continued) {
    sleep_in_barriers_if_busy(argv, before, clock);
  }
  const ExitCode code = run->measure(cores_are_busy);
  if (const std::optional<Continuation> successor = run->successor()) {
    run.reset();  // closes the device and the file
    const std::string why_not = restart(argv, *successor);
    if (interrupted()) {
      return interrupted_before_going_on(argv);
    }
    std::cerr << notice(STDERR_FILENO,
                        fmt::format("no fresh process could be started ({}); go on with", why_not),
                        command_to_resume(argv));
  }
  return code;
}

}  // namespace bench
