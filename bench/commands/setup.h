// From the command line to a run: the device, what the sweep is asked, how it runs, and its empty result.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/clock.h"
#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/run/rank_watch.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {

// A dry run, or a list of the points: nothing is measured.
bool only_plans(const Options& options);

// Where a device keeps autotuning's choices: a file in the user's cache folder; nullopt where there is none.
std::optional<std::filesystem::path> choices_file();

// "auto" takes the usable device of the highest preference. The device keeps autotuning's choices in the
// file, if one is given. Throws UsageError naming --device, what was given, and every device there is, with
// the reason where one cannot be used; `also_accepted` ends that sentence.
std::unique_ptr<Device> open_device(const std::string& id,
                                    const std::optional<std::filesystem::path>& choices = std::nullopt,
                                    const std::string& also_accepted = "");

// The device that the command line asks for: open_device(), or a GPU that is not here by its id in the
// catalogue, which always means the modelled card, or by a card's JSON file. Throws UsageError too for
// options that this device does not take.
std::unique_ptr<Device> open_asked_device(const Options& options);

// The same of commands that only plan: by id, without further options.
std::unique_ptr<Device> open_planned_device(const std::string& id);

// Defaults filled in: the sweep's where it has one, else the workload's; the memory cap is 80 % of what is
// free on the device, all of it where the device is not here. Ranks that share a host's memory share the cap.
// Throws UsageError for an option of a mode that
// is not asked for.
SweepRequest make_request(const Options& options, const SweepType& sweep, const Device& device,
                          const Clock& clock, WatchedRanks* ranks = nullptr);

RunSettings run_settings(const Options& options, const SweepRequest& request, const SweepPlan& plan,
                         Clock::time_point started);

// Where, when and what is asked.
ResultDocument start_document(const SweepType& sweep, const SweepRequest& request, const SweepPlan& plan,
                              const Device& device, const Options& options,
                              const std::vector<std::string>& argv);

}  // namespace bench
