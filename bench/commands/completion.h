// Completion of command lines in shells: a fixed stub for each shell asks the program, which answers from its
// registries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What the shell reads once: `source <(bench --completion bash)`. Throws UsageError for another shell.
std::string completion_stub(std::string_view shell);

// What the last word, which may be empty, can become. `words` are those after the program's name, up to the
// cursor. None where a file's name is wanted. Opens no device.
std::vector<std::string> completions(std::vector<std::string> words);

}  // namespace bench
