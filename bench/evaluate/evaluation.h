// Devices side by side: what each reaches at its saturation batch, ratios between them, and the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/evaluate/evaluated_device.h"
#include "bench/evaluate/host_limit.h"
#include "bench/evaluate/job.h"
#include "bench/evaluate/prices.h"
#include "bench/stats/ratio.h"

namespace bench {

// a's throughput over b's. Of several cards over the one that they were predicted from, only what several
// cost is in the interval. Two predictions for one framework share errors, which cancel; otherwise the
// interval reaches from a's low end over b's high end to the opposite.
Ratio throughput_ratio_of(const CurvePoint& a, const CurvePoint& b);
// The same of one device in two dtypes: only the host's error cancels.
Ratio gain_of(const CurvePoint& a, const CurvePoint& b);

// A device in one dtype at its saturation batch.
struct EvaluatedRow {
  std::size_t device = 0;
  std::string dtype{};
  CurvePoint point{};                // at the saturation batch
  std::optional<Ratio> to_first{};   // none of the first device, and where that lacks the dtype
  std::optional<Ratio> over_fp32{};  // of the same device
  std::optional<double> peak_share{};
  std::optional<double> memory_share{};  // of the usable memory
  std::optional<double> power_w{};       // measured, else the data sheet's, which is an upper bound
  bool power_measured = false;
  std::optional<double> joules_per_sample{};
  std::optional<Price> price{};  // of all its cards
  std::optional<double> cost_per_hour{};
  std::optional<double> cost_per_million{};  // samples that the host can feed; a purchase's is spread
  std::optional<double> bus_per_s{};         // samples that the bus carries
  std::optional<Feed> feed{};                // with a host's limit
  std::optional<double> cores_to_feed{};     // of that host's
};

// One sentence that answers one question.
struct Answer {
  std::string question;  // "speed", "memory", "job", "cost", "host", "energy", "gain", "peak"
  std::string dtype;
  std::string claim;
  std::optional<Ratio> ratio{};
  int headline = 0;  // place among those printed; 0: with --verbose only
};

struct Evaluation {
  EvaluatedTask task;
  std::vector<EvaluatedDevice> devices;
  PriceList prices;
  std::optional<HostLimit> host{};
  std::optional<Job> job{};
  std::string dtype{};                  // of the headlines: the fastest that most devices have
  std::vector<EvaluatedRow> rows{};     // by dtype, then device
  std::vector<DeviceJob> on_devices{};  // with a job
  std::vector<Answer> answers{};
  std::vector<std::string> notes{};     // what limits the answers, a sentence each
  std::vector<std::string> left_out{};  // those of the notes that name a device without an answer

  bool has_several_cards() const;
  const EvaluatedRow* row(std::size_t device, const std::string& of) const;
  const EvaluatedDevice& device_of(const EvaluatedRow& row) const { return devices[row.device]; }
  const Curve& curve_of(const EvaluatedRow& row) const { return *devices[row.device].in(row.dtype); }
};

// The dtypes that any device has, the narrowest last.
std::vector<std::string> dtypes_of(const std::vector<EvaluatedDevice>& devices);

// Throws UsageError for a price of a device that is none of them.
Evaluation evaluate(EvaluatedDevices devices, PriceList prices, std::optional<HostLimit> host,
                    std::optional<Job> job = {});

}  // namespace bench
