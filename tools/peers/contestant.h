// The side of the comparison that a contestant's process has: lines in on standard input, JSON lines out.
//
//   (at start)  {"ready": true, "built_bytes": …, "about": {…}}   after building and warming up
//   go N        {"ns": [N step times], "peak_bytes": …}            one more step, untimed, comes first
//   (end of input)                                                  the process ends
//
// built_bytes and peak_bytes: the highest resident memory since Memory was made, less what was resident then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench::peers {

// Makes the kernel forget the process's highest resident memory so far, and takes what is resident as zero.
class Memory {
 public:
  Memory();
  std::int64_t growth() const;  // bytes

 private:
  std::int64_t before_ = 0;
};

// Answers until standard input ends. `turn` makes that many steps and returns what is answered.
void serve_turns(const Memory& memory, const nlohmann::json& about,
                 const std::function<std::vector<std::int64_t>(std::size_t steps)>& turn);

// Warms up with `warm_up` steps and answers until standard input ends. `step` returns its time in ns.
void serve(const Memory& memory, const nlohmann::json& about, int warm_up,
           const std::function<std::int64_t()>& step);

}  // namespace bench::peers
