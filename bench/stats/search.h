// The largest size that fits, found by asking as seldom as possible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace bench {

struct LargestFit {
  std::int64_t size = 0;  // the largest that fits; 0 where not even 1 does
  bool bounded = false;   // size + 1 was found not to fit; false at the limit
  int asked = 0;
};

// Sizes 1 to `limit` fit up to some size and not beyond. Asks at `guess` first, then at its neighbour on the
// side of the answer, then at distances that double until the answer lies between two sizes, then halves: 2
// questions for a right guess, at most 2 + 2·log2(its error + 1) for a wrong one. guess and limit at least 1.
LargestFit find_largest_fit(std::int64_t guess, std::int64_t limit,
                            const std::function<bool(std::int64_t size)>& fits);

// The same where a size has an amount that grows about linearly, such as the bytes of a batch, and each
// amount takes long to find. Amounts are kept: further searches use those of earlier ones.
class LineSearch {
 public:
  // nullopt: the size does not fit, whatever may be taken.
  using Amount = std::function<std::optional<std::int64_t>(std::int64_t size)>;

  // Sizes from `first` to `limit`; first at least 1.
  LineSearch(std::int64_t first, std::int64_t limit, Amount amount)
      : first_(first), limit_(limit), amount_(std::move(amount)) {}

  // The largest size whose amount is at most `most`; 0 where not even the first one's is. Amounts grow.
  //
  // Asks for `first` and for 16 times as much, then where the line through the known neighbours of the answer
  // says: on a line for the answer and the size above it, 4 amounts, and 2 more for another `most`. Off the
  // line by an error of e sizes about 2·log2(e) more; at worst every fourth question halves the range.
  std::int64_t largest_within(std::int64_t most);

 private:
  std::int64_t first_;
  std::int64_t limit_;
  Amount amount_;
  std::map<std::int64_t, std::optional<std::int64_t>> known_;
};

}  // namespace bench
