#include "bench/text/letters.h"

#include <cctype>

namespace bench {

std::string letters(std::string_view name) {
  std::string letters;
  for (const unsigned char letter : name) {
    if (std::isalnum(letter) != 0) {
      letters += static_cast<char>(std::tolower(letter));
    }
  }
  return letters;
}

}  // namespace bench
