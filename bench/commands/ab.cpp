#include "bench/commands/ab.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/progress.h"
#include "bench/cli/terminal.h"
#include "bench/clock.h"
#include "bench/commands/compare.h"
#include "bench/commands/sweep_process.h"
#include "bench/commands/wait_policy.h"
#include "bench/compare/duet.h"
#include "bench/compare/judgement.h"
#include "bench/compare/matching.h"
#include "bench/compare/run.h"
#include "bench/host/interrupt.h"
#include "bench/host/search_path.h"
#include "bench/run/run_budget.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

constexpr std::int64_t kMostPairs = 1000;

struct AbOptions {
  BothSides<std::string> program;
  BothSides<Environment> environment;
  std::vector<std::string> sweep;  // the programs' own words
  std::chrono::nanoseconds time_budget = std::chrono::minutes(20);
  std::int64_t most_pairs = 20;
  fs::path out;
  CompareSettings settings;
  AllowedDifferences allowed;
};

std::string side_option(Side side) {
  return side == Side::base ? "--base-env" : "--new-env";
}

Environment read_environment(const CommandWords& words, Side side) {
  Environment environment;
  for (const std::string& text : words.texts_of(side_option(side).substr(2))) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(
          fmt::format("{}: {} is not a variable; give NAME=VALUE", side_option(side), quote(text)));
    }
    environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return environment;
}

// As a shell finds it: a name without a slash on PATH first.
std::string found_program(const std::string& name) {
  const char* const all = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (all == nullptr || name.find('/') != std::string::npos) {
    return name;
  }
  std::istringstream folders(absolute_folders(all));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path path = fs::path(folder) / name;
    std::error_code error;
    if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0) {
      return path.string();
    }
  }
  return name;
}

void check_program(const std::string& path, Side side) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("{}: {} {}; give a bench program by its path, or by its name where it is on PATH",
                    name_of(side), quote(path), why));
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    refuse("does not exist");
  }
  if (!fs::is_regular_file(status)) {
    refuse("is not a file");
  }
  if (::access(path.c_str(), X_OK) != 0) {
    refuse("is not executable");
  }
}

// Those that `ab` itself gives to each run, or that would make runs depend on each other.
void check_sweep(const std::vector<std::string>& words) {
  if (words.empty()) {
    throw UsageError(
        "--: a sweep is missing; give its options after --, as in bench ab BASE NEW -- --sweep batch");
  }
  constexpr std::array<std::string_view, 7> kNotHere{"--out",  "--resume", "--dry-run", "--list",
                                                     "--help", "-h",       "--version"};
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(kNotHere, name) != kNotHere.end()) {
      throw UsageError(fmt::format("{}: not accepted after --{}", name,
                                   name == "--out" ? "; give it before --, for the folder of all runs"
                                                   : "; ab measures every run by itself"));
    }
  }
}

std::int64_t read_pairs(const std::string& text) {
  std::int64_t pairs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pairs);
  constexpr std::int64_t kFewest = 5;  // the first look
  if (error != std::errc{} || end != text.data() + text.size() || pairs < kFewest || pairs > kMostPairs) {
    throw UsageError(
        fmt::format("--pairs: {} is not a whole number from {} to {}", quote(text), kFewest, kMostPairs));
  }
  return pairs;
}

AbOptions read_options(const Command& command, const CommandWords& words) {
  AbOptions options;
  options.settings = compare_settings(words);
  options.allowed = allowed_differences(words);
  check_format(words);
  const std::vector<std::string>& programs = words.before();
  for (const Side side : kSides) {
    options.environment[side] = read_environment(words, side);
  }
  const bool one_is_enough = options.environment.base != options.environment.next;
  if (programs.empty() || programs.size() > 2 || (programs.size() == 1 && !one_is_enough)) {
    throw UsageError(
        fmt::format("BASE NEW: {} given; give two programs, or one and --base-env or --new-env: bench {} {}",
                    programs.empty()       ? "none was"
                    : programs.size() == 1 ? "one was"
                                           : fmt::format("{} were", programs.size()),
                    command.name, command.usage));
  }
  options.program = {found_program(programs.front()), found_program(programs.back())};
  for (const Side side : kSides) {
    check_program(options.program[side], side);
  }
  options.sweep = words.after();
  check_sweep(options.sweep);
  if (const std::string* const text = words.text_of("time-budget")) {
    options.time_budget = parse_duration("--time-budget", *text);
  }
  if (const std::string* const text = words.text_of("pairs")) {
    options.most_pairs = read_pairs(*text);
  }
  const std::string* const out = words.text_of("out");
  options.out = out == nullptr ? dated_folder("ab") : fs::path(*out);
  return options;
}

class Duet {
 public:
  Duet(const AbOptions& options, const Clock& clock)
      : options_(options), clock_(clock), budget_(clock, clock.now(), options.time_budget) {}

  // Returns after the last look.
  void run() {
    Progress bar(std::cerr, can_redraw(STDERR_FILENO), terminal_width(STDERR_FILENO));
    for (std::int64_t pair = 1; pair <= options_.most_pairs && !done(pair); ++pair) {
      const Side first = first_of_pair(pair);
      for (const Side side : {first, first == Side::base ? Side::next : Side::base}) {
        if (!measure(side, pair, bar)) {
          forget_half_pair();
          break;
        }
      }
      if (interrupted()) {
        break;
      }
      if (pair == 1) {  // what cannot be compared is said now, not after the last pair
        match_runs(runs_.base, runs_.next, options_.allowed);
      }
      if (is_duet_look(pair)) {
        look();
      }
    }
    if (pairs() > 0 && looked_after_ != pairs()) {
      look();
    }
  }

  std::int64_t pairs() const { return static_cast<std::int64_t>(runs_.next.size()); }
  // Of whole runs, and of one that was interrupted once it had measured.
  bool has_results() const {
    return std::ranges::any_of(fs::directory_iterator(options_.out), [](const fs::directory_entry& run) {
      return run.is_directory() && run.path().filename() != "cache" &&
             std::ranges::any_of(fs::directory_iterator(run), [](const fs::directory_entry& file) {
               return file.path().extension() == ".json";
             });
    });
  }
  const std::optional<Judgement>& judgement() const { return judgement_; }
  const std::string& ended_because() const { return ended_because_; }

 private:
  // Before a pair is begun.
  bool done(std::int64_t pair) {
    if (interrupted()) {
      return true;
    }
    if (judgement_ && judgement_->settled()) {
      return true;
    }
    // Later pairs would not change the exit code, and name no further point.
    if (judgement_ && judgement_->code == ExitCode::regression && slower_before_ == slower_) {
      return true;
    }
    const double needed = pair == 1 ? 0 : budget_.elapsed_ns() / static_cast<double>(pair - 1);
    if (pair > 1 && needed > budget_.left_ns()) {
      ended_because_ =
          fmt::format("{} ended after {} pair{}", budget_.name(), pair - 1, pair == 2 ? "" : "s");
      return true;
    }
    return false;
  }

  // False where the run was interrupted.
  bool measure(Side side, std::int64_t pair, Progress& bar) {
    const std::string name = fmt::format("{}-{:02}", side == Side::base ? "base" : "new", pair);
    // Both sides share what they keep, and the machine's own history gets none of it.
    Environment environment = options_.environment[side];
    environment.try_emplace("XDG_CACHE_HOME", fs::absolute(options_.out / "cache").string());
    const std::string what = fmt::format("pair {} of at most {}: {}", pair, options_.most_pairs,
                                         side == Side::base ? "base" : "new");
    const double fraction = static_cast<double>(pair - 1) / static_cast<double>(options_.most_pairs);
    const std::optional<std::string> file =
        run_sweep_process({.who = name_of(side),
                           .program = options_.program[side],
                           .words = options_.sweep,
                           .environment = environment,
                           .folder = options_.out / name},
                          clock_, [&] { bar.update(budget_.progress(what, fraction)); });
    if (!file) {
      return false;
    }
    runs_[side].push_back(std::move(read_runs({*file}).front()));
    return true;
  }

  void forget_half_pair() {
    const std::size_t whole = std::min(runs_.base.size(), runs_.next.size());
    for (const Side side : kSides) {
      runs_[side].resize(whole);
    }
  }

  void look() {
    CompareSettings settings = options_.settings;
    // The first look at pairs comes after so many; fewer are compared as runs that are not paired, once.
    settings.paired = looks_ > 0 || is_duet_look(pairs());
    if (settings.paired) {
      settings.look = ++looks_;
    }
    settings.pair_ns = budget_.elapsed_ns() / static_cast<double>(pairs());
    looked_after_ = pairs();
    judgement_ = judge(match_runs(runs_.base, runs_.next, options_.allowed), settings);
    slower_before_ = std::exchange(slower_, {});
    slower_.emplace();
    for (const JudgedPoint& point : judgement_->points) {
      if (is_regression(point.verdict)) {
        slower_->insert(point.name);
      }
    }
  }

  const AbOptions& options_;
  const Clock& clock_;
  RunBudget budget_;
  BothSides<std::vector<ComparedRun>> runs_;
  std::optional<Judgement> judgement_;
  std::optional<std::set<std::string>> slower_;         // at the last look
  std::optional<std::set<std::string>> slower_before_;  // at the one before
  std::int64_t looks_ = 0;
  std::int64_t looked_after_ = 0;  // pairs
  std::string ended_because_;
};

ExitCode run_ab(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  const AbOptions options = read_options(command, words);
  install_interrupt_handlers();
  Duet duet(options, steady_clock());
  make_new_folder(options.out);
  settle_wait_policy(steady_clock());  // else each run would choose by what others do when it starts
  duet.run();
  if (duet.judgement()) {
    std::cout << written(*duet.judgement(), words);
  }
  if (!duet.ended_because().empty()) {
    std::cerr << notice(STDERR_FILENO, duet.ended_because());
  }
  if (interrupted()) {
    std::cerr << notice(
        STDERR_FILENO,
        fmt::format("interrupted after {} whole pair{}; {}", duet.pairs(), duet.pairs() == 1 ? "" : "s",
                    duet.has_results() ? "what was measured is saved" : "nothing was measured"));
  }
  if (duet.has_results()) {
    std::cerr << notice(STDERR_FILENO, "Results:", options.out.string() + "/{base,new}-*/*.json");
  }
  if (interrupted()) {
    return ExitCode::interrupted;
  }
  return duet.judgement() ? duet.judgement()->code : ExitCode::inconclusive;
}

}  // namespace

Command ab_command() {
  std::vector<Option> options{
      {"base-env", "NAME=VALUE", "a variable of BASE's environment; may be given several times", {}, true},
      {"new-env", "NAME=VALUE", "the same of NEW's", {}, true},
      {"time-budget", "TIME", "begin no pair that would end later (default: 20min)"},
      {"pairs", "N", "most pairs, at least 5 (default: 20)"},
      {"out", "DIR", "new folder for the runs (default: results/local/ab-DATE)"},
      allow_different_option()};
  std::ranges::move(judging_options(), std::back_inserter(options));
  return {.name = "ab",
          .usage = "[options] BASE [NEW] -- --sweep NAME …",
          .brief = "BASE NEW -- --sweep …",
          .question = "two builds in turn, then compared: is NEW slower?",
          .options = std::move(options),
          .notes =
              {"Runs BASE NEW, NEW BASE, … as fresh processes until every point is settled, no further point "
               "regresses, or the time ends. What follows -- is given to both.",
               "Exit codes as of bench compare; 130 interrupted, the runs so far are saved."},
          .examples = {"bench ab main/bench build/release/bench -- --sweep batch --time-budget 10s",
                       "bench ab build/release/bench --new-env OMP_NUM_THREADS=1 -- --sweep batch"},
          .ends_at_dashes = true,
          .run = run_ab};
}

}  // namespace bench
