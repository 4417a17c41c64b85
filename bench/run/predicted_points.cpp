#include "bench/run/predicted_points.h"

#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/result/finding.h"
#include "bench/text/units.h"

namespace bench {

void predict_points(const SweepPlan& plan, Device& device, std::int64_t memory_cap,
                    const PointPredictor& predict, ResultDocument& document) {
  std::set<std::string> ended;  // series
  for (const SweepPoint& point : plan.points) {
    document.context.peaks.try_emplace(point.spec.dtype, device.peaks(point.spec.dtype));
    if (interrupted()) {
      return;
    }
    if (plan.open_ended && ended.contains(point.series)) {
      continue;
    }
    const auto leave_out = [&](const char* status, const std::string& reason) {
      document.unmeasured.push_back({point.name, point.params, status, reason});
      ended.insert(point.series);
    };
    try {
      Point predicted = predict(point);
      if (predicted.peak() > memory_cap) {
        leave_out("oom", fmt::format("needs {} (predicted), the memory cap is {}",
                                     format_bytes(predicted.peak()), format_bytes(memory_cap)));
      } else {
        document.points.push_back(std::move(predicted));
      }
    } catch (const Unsupported& error) {
      leave_out("unsupported", error.what());
    } catch (const OutOfMemory& error) {
      leave_out("oom", error.what());
    }
  }
}

void mark_as_predicted(std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (!finding.says_origin) {
      finding.claim = with_origin("Predicted", finding.claim);
    }
  }
}

}  // namespace bench
