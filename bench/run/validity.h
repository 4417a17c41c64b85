// The flags of a measured point: what the machine did meanwhile, and whether its figure can be.
#pragma once

#include "bench/device.h"
#include "bench/dtype.h"
#include "bench/measure/result.h"
#include "bench/measure/stop_rule.h"

namespace bench {

// Into the context of a document, where findings look for them.
void set_peaks(ResultDocument& document, Dtype dtype, const Peaks& peaks);

class ValidityJudge {
 public:
  // All outlive it.
  ValidityJudge(const StopRule& rule, Device& device, ResultDocument& document)
      : rule_(rule), device_(device), document_(document) {}

  // Anew, from the point's statistics and the device's state since the samples before; what held it back once
  // stays.
  void set_validity(MeasuredPoint& entry, Dtype dtype, const DeviceState& state);

 private:
  bool above_peak(const MeasuredPoint& entry, Dtype dtype);

  const StopRule& rule_;
  Device& device_;
  ResultDocument& document_;
  int refreshes_left_ = 5;  // of the peaks, each up to a second
};

}  // namespace bench
