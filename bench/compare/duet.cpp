#include "bench/compare/duet.h"

namespace bench {

bool is_duet_look(std::int64_t pairs) {
  constexpr std::int64_t kFirst = 5;
  std::int64_t look = kFirst;
  while (look < pairs) {
    look = (4 * look + 2) / 3;
  }
  return look == pairs;
}

Side first_of_pair(std::int64_t pair) {
  return pair % 2 == 1 ? Side::base : Side::next;
}

}  // namespace bench
