// Sweeps over ranks: how this process joins the others, and what all but the first do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/clock.h"
#include "bench/device.h"
#include "bench/error.h"
#include "bench/run/rank_watch.h"

namespace bench {

// As parse_options(). Throws UsageError also where a launcher gave this process other options than the
// others.
Options parse_rank_options(int argc, const char* const* argv);

// Of a sweep over ranks that no launcher started, where the devices asked for are several: one process for
// each runs it, and this is how they ended. nullopt: it is to be run here.
std::optional<ExitCode> run_on_own_ranks(const Options& options, const std::vector<std::string>& argv);

// nullptr for a sweep of one process, and for a dry run without a launcher. Throws UsageError, on every rank:
// where a launcher is missing, naming the command to type; where it started several processes for a sweep of
// one; where ranks differ in build or options, or one cannot open its device.
std::unique_ptr<WatchedRanks> join_ranks(const Options& options, const std::vector<std::string>& argv,
                                         const Clock& clock);

// The device asked for; of ranks, each rank's own, to whose memory their collectives go. It is closed after
// the last of them. Throws UsageError, and with ranks the same on each.
std::unique_ptr<Device> open_rank_device(const Options& options, WatchedRanks* ranks);

// Returns when the first rank's sweep has ended; at once where it is only planned.
void serve_first_rank(const Options& options, WatchedRanks& ranks, const Clock& clock);

}  // namespace bench
