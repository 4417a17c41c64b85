// The devices that `bench evaluate` puts side by side, from results of the batch sweep, measured or
// predicted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/evaluate/evaluated_curve.h"
#include "bench/model/gpu_model.h"
#include "bench/result/result.h"
#include "bench/workload.h"

namespace bench {

struct EvaluatedDevice {
  std::string label;  // short, and unlike the others': "t4"
  std::string name;   // as its maker calls it
  bool predicted = false;
  std::int64_t cards = 1;     // of it that train together: see evaluated_cards.h
  std::string link{};         // that joins them, its name; empty: one card
  std::int64_t machines = 0;  // of a fleet, whose intervals reach from the slowest to the fastest; 0: none
  std::string machine{};      // that measured it, of several the median one; empty: not known, or predicted
  bool is_cpu = false;
  std::string framework;                    // that the time is of: "pytorch"; "bench" where it was measured
  std::vector<std::string> keys;            // other words for it: its id and names
  std::int64_t usable_bytes = 0;            // of memory; 0: not known
  std::optional<double> tdp_w{};            // of the data sheet
  std::optional<double> bus_bytes_per_s{};  // of the data sheet, nominal
  std::optional<bool> peer_access{};        // over that bus; nullopt: no data sheet tells
  std::vector<Curve> curves;                // by dtype, the narrowest last
  std::vector<std::string> files;
  std::vector<std::string> caveats{};  // a sentence each

  const Curve* in(const std::string& dtype) const;
  // By its label or one of its keys, in letters of any case.
  bool is_called(std::string_view word) const;
};

struct EvaluatedFile {
  std::string path;  // what messages call it
  ResultDocument document;
};

// What all files have to agree in.
struct EvaluatedTask {
  std::string workload;
  std::string mode;
  std::map<std::string, std::string> options;  // of the workload, those that change its work
};

struct EvaluatedDevices {
  EvaluatedTask task;
  std::vector<EvaluatedDevice> devices;  // in the order of the files
};

// Of one file, whatever its sweep. Throws UsageError where it has no points.
EvaluatedDevice evaluated_device(const EvaluatedFile& file);
// Of each fleet one device, see pool(); of every other file one each.
std::vector<EvaluatedDevice> pooled_devices(const std::vector<EvaluatedFile>& files);
// Of a modelled device.
EvaluatedTask modelled_task(const WorkloadType& workload, const WorkloadSpec& spec);
EvaluatedDevice modelled_device(const GpuModel& model, std::vector<Curve> curves);

// pooled_devices(); of these, those of one machine's device whose points do not meet become one. Throws
// UsageError, naming a file, for another sweep than batch, another workload, mode or size than the first
// file's, and for a file without points. `predicted`: modelled devices, which come behind those of the files.
EvaluatedDevices evaluated_devices(const std::vector<EvaluatedFile>& files, EvaluatedDevices predicted = {});

}  // namespace bench
