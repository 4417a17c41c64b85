// Names as people type them.
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Letters and digits, in lower case: "Llama-3.1-8B" is "llama318b".
std::string letters(std::string_view name);

}  // namespace bench
