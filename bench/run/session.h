// A session: one process's part of a result. How it begins, and what it says when it ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/host/system_state.h"
#include "bench/result/result.h"

namespace bench {

// Begins the document's first session, and names the run and the machine after its context.
void begin_session(ResultDocument& document, const SystemState& system);

struct SessionEnd {
  bool keep = true;  // in the history
  bool ranks_share_host =
      false;  // several ranks of the run: one that waits spins, and slows the calibrations
};

// Judges the session's rounds by its calibrations, and enters what the machine's history says of them:
// whether this hour is like others, and each point's interval between runs. `history`: the file; nullopt:
// there is none. Then adds the session to it. Calibrations of a host that ranks share are neither compared
// with the history's nor added to it. Returns a note for people who want details, such as "a damaged history
// was put aside"; empty: nothing to say. Never fails because of the history.
std::string end_session(ResultDocument& document, std::size_t session,
                        const std::optional<std::filesystem::path>& history, SessionEnd end);

}  // namespace bench
