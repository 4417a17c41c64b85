// A session: one process's part of a result. How it begins, and what it says when it ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/host/system_state.h"
#include "bench/measure/result.h"

namespace bench {

// Begins the document's first session, and names the run and the machine after its context.
void begin_session(ResultDocument& document, const SystemState& system);

// Judges the session's rounds by its calibrations, and enters what the machine's history says of them:
// whether this hour is like others, and each point's interval between runs. `history`: the file; nullopt:
// there is none. Then adds the session to it, unless `keep` is false. Returns a note for people who want
// details, such as "a damaged history was put aside"; empty: nothing to say. Never fails because of the
// history.
std::string end_session(ResultDocument& document, std::size_t session,
                        const std::optional<std::filesystem::path>& history, bool keep);

}  // namespace bench
