#include "kernels/onednn/remembered.h"

#include <vector>

namespace bench::kernels::onednn {
namespace {

std::vector<Forgetful*>& of_this_thread() {
  thread_local std::vector<Forgetful*> all;
  return all;
}

}  // namespace

Forgetful::Forgetful() {
  of_this_thread().push_back(this);
}

Forgetful::~Forgetful() {
  std::erase(of_this_thread(), this);
}

void forget_answers() {
  for (Forgetful* const one : of_this_thread()) {
    one->forget();
  }
}

}  // namespace bench::kernels::onednn
