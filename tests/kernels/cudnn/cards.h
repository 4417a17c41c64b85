// Cards that are not here, as cuDNN plans for them: see cards.json.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "kernels/cudnn/plans.h"

namespace bench::kernels::testing {

struct Card {
  std::string name;  // "RTX 3060"
  cudnn::Target target;
};
inline void PrintTo(const Card& card, std::ostream* out) {
  *out << card.name;
}

const std::vector<Card>& cards();
const Card& card(const std::string& name);

}  // namespace bench::kernels::testing
