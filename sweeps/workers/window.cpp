#include "sweeps/workers/window.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace bench::sweeps {
namespace {

constexpr std::size_t kMostSamples = 256;    // single samples' times that are kept
constexpr std::size_t kStepsOnTimeLine = 6;  // enough to see who waits for whom
constexpr std::size_t kMostStretches = 400;

// Times count from the window's first.
Json time_line(const std::vector<Stretch>& stretches, const std::vector<std::int64_t>& step_ns) {
  const std::int64_t start = std::ranges::min(stretches, {}, &Stretch::from_ns).from_ns;
  std::int64_t end = start;
  for (std::size_t i = 0; i < std::min(kStepsOnTimeLine, step_ns.size()); ++i) {
    end += step_ns[i];
  }
  Json line = Json::array();
  for (const Stretch& stretch : stretches) {
    if (stretch.from_ns < end && line.size() < kMostStretches) {
      line.push_back({{"who", stretch.who < 0 ? "consumer" : fmt::format("worker {}", stretch.who)},
                      {"what", stretch.what},
                      {"from_ns", stretch.from_ns - start},
                      {"to_ns", std::min(stretch.to_ns, end) - start},
                      {"batch", stretch.batch}});
    }
  }
  return line;
}

}  // namespace

Json notes_of(const Window& window) {
  Json batch_ns = Json::array();
  Json batch_cpu_ns = Json::array();
  Json sample_ns = Json::array();
  loader::StageTimes stages;
  std::int64_t hand_off_ns = 0;
  std::int64_t voluntary = 0;
  std::int64_t involuntary = 0;
  std::int64_t images = 0;
  for (const loader::Batch& batch : window.batches) {
    batch_ns.push_back(batch.to_ns - batch.from_ns);
    batch_cpu_ns.push_back(batch.cpu_ns);
    stages += batch.stages;
    hand_off_ns += batch.hand_off_ns;
    voluntary += batch.voluntary_switches;
    involuntary += batch.involuntary_switches;
    images += static_cast<std::int64_t>(batch.sample_ns.size());
  }
  // Evenly from all batches.
  const std::size_t stride = std::max<std::size_t>(1, static_cast<std::size_t>(images) / kMostSamples);
  std::size_t number = 0;
  for (const loader::Batch& batch : window.batches) {
    for (const std::int64_t sample : batch.sample_ns) {
      if (number++ % stride == 0 && sample_ns.size() < kMostSamples) {
        sample_ns.push_back(sample);
      }
    }
  }
  Json notes = {{"batches", window.step_ns.size()},
                {"step_ns", window.step_ns},
                {"compute_ns", window.compute_ns},
                {"wait_ns", window.wait_ns},
                {"copy_ns", window.copy_ns},
                {"batch_ns", batch_ns},
                {"batch_cpu_ns", batch_cpu_ns},
                {"sample_ns", sample_ns},
                {"stages_ns",
                 {{"read", stages.read},
                  {"decode", stages.decode},
                  {"augment", stages.augment},
                  {"collate", stages.collate},
                  {"hand_off", hand_off_ns}}},
                {"images", images},
                {"cpu_ns", window.cpu_ns},
                {"voluntary_switches", voluntary},
                {"involuntary_switches", involuntary},
                {"host_bytes", window.host_bytes},
                {"bad_files", window.bad_files},
                {"storage_bytes", window.storage_bytes}};
  if (!window.late_ns.empty()) {
    notes["late_ns"] = window.late_ns;
  }
  if (!window.late_unyielding_ns.empty()) {
    notes["late_unyielding_ns"] = window.late_unyielding_ns;
  }
  if (!window.stretches.empty()) {
    notes["timeline"] = time_line(window.stretches, window.step_ns);
  }
  return notes;
}

}  // namespace bench::sweeps
