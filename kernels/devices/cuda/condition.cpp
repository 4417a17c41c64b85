#include "kernels/devices/cuda/condition.h"

#include <algorithm>
#include <utility>

namespace bench::kernels::cuda {
namespace {

void add_reasons(DeviceState& to, const std::vector<std::string>& reasons) {
  for (const std::string& reason : reasons) {
    if (std::ranges::find(to.throttle_reasons, reason) == to.throttle_reasons.end()) {
      to.throttle_reasons.push_back(reason);
    }
  }
}

}  // namespace

void ConditionWatch::while_working(Time now) {
  if (monitor_ == nullptr || (seen_ && now - read_ < kEvery)) {
    return;
  }
  DeviceState state = monitor_->state();
  if (seen_) {
    add_reasons(state, seen_->throttle_reasons);
  }
  seen_ = std::move(state);
  read_ = now;
}

DeviceState ConditionWatch::take() {
  if (monitor_ == nullptr) {
    return {};
  }
  DeviceState now = monitor_->state();
  if (!seen_) {
    return now;
  }
  DeviceState state = std::move(*seen_);
  seen_.reset();
  add_reasons(state, now.throttle_reasons);
  return state;
}

}  // namespace bench::kernels::cuda
