#include "sweeps/workers/window.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace bench::sweeps {
namespace {

constexpr std::size_t kMostSampleTimes = 256;  // single samples' times that are kept

// The members of a note, in the file and in memory.
constexpr std::array<std::pair<const char*, std::vector<double> Window::*>, 7> kWindowTimes{
    {{"step_ns", &Window::step_ns},
     {"compute_ns", &Window::compute_ns},
     {"batch_ns", &Window::batch_ns},
     {"batch_cpu_ns", &Window::batch_cpu_ns},
     {"sample_ns", &Window::sample_ns},
     {"late_ns", &Window::late_ns},
     {"take_ns", &Window::take_ns}}};
constexpr std::array<std::pair<const char*, std::int64_t Window::*>, 9> kWindowNumbers{
    {{"wait_ns", &Window::wait_ns},
     {"copy_ns", &Window::copy_ns},
     {"images", &Window::images},
     {"cpu_ns", &Window::cpu_ns},
     {"voluntary_switches", &Window::voluntary_switches},
     {"involuntary_switches", &Window::involuntary_switches},
     {"host_bytes", &Window::host_bytes},
     {"bad_files", &Window::bad_files},
     {"storage_bytes", &Window::storage_bytes}}};

}  // namespace

const StageName& largest_stage(const loader::StageTimes& stages) {
  return *std::ranges::max_element(kStages, {}, [&](const StageName& stage) { return stages.*stage.time; });
}

Json to_json(const loader::StageTimes& stages) {
  Json json = Json::object();
  for (const StageName& stage : kStages) {
    if (stages.total() > 0) {
      json[stage.key] = stages.*stage.time;
    }
  }
  return json;
}

Json to_json(const std::vector<simulator::TimelineEntry>& timeline) {
  Json json = Json::array();
  for (const simulator::TimelineEntry& entry : timeline) {
    json.push_back({{"who", entry.who},
                    {"what", entry.what},
                    {"from_ns", std::llround(entry.from_ns)},
                    {"to_ns", std::llround(entry.to_ns)},
                    {"batch", entry.batch}});
  }
  return json;
}

Json rounded(const std::vector<double>& times) {
  Json json = Json::array();
  for (const double time : times) {
    json.push_back(std::llround(time));
  }
  return json;
}

void Window::add_batches(const std::vector<loader::Batch>& batches) {
  std::size_t made = 0;
  for (const loader::Batch& batch : batches) {
    batch_ns.push_back(static_cast<double>(batch.to_ns - batch.from_ns));
    batch_cpu_ns.push_back(static_cast<double>(batch.use.cpu_ns));
    stages_ns += batch.stages;
    voluntary_switches += batch.use.voluntary_switches;
    involuntary_switches += batch.use.involuntary_switches;
    made += batch.sample_ns.size();
  }
  images += static_cast<std::int64_t>(made);
  const std::size_t stride = std::max<std::size_t>(1, made / kMostSampleTimes);
  std::size_t number = 0;
  for (const loader::Batch& batch : batches) {
    for (const std::int64_t sample : batch.sample_ns) {
      if (number++ % stride == 0 && sample_ns.size() < kMostSampleTimes) {
        sample_ns.push_back(static_cast<double>(sample));
      }
    }
  }
}

void Window::append(const Window& other) {
  for (const auto& [key, times] : kWindowTimes) {
    const std::vector<double>& more = other.*times;
    (this->*times).insert((this->*times).end(), more.begin(), more.end());
  }
  stages_ns += other.stages_ns;
  copy_ns += other.copy_ns;
  images += other.images;
  cpu_ns += other.cpu_ns;
  host_bytes = std::max(host_bytes, other.host_bytes);
  bad_files = std::max(bad_files, other.bad_files);
}

Json Window::to_json() const {
  Json json = {{"batches", step_ns.size()}};
  for (const auto& [key, times] : kWindowTimes) {
    const bool is_rare = times == &Window::late_ns || times == &Window::take_ns;
    if (const auto& values = this->*times; !values.empty() || !is_rare) {
      json[key] = rounded(values);
    }
  }
  for (const auto& [key, number] : kWindowNumbers) {
    if (this->*number >= 0) {
      json[key] = this->*number;
    }
  }
  for (const StageName& stage : kStages) {
    json["stages_ns"][stage.key] = std::llround(stages_ns.*stage.time);
  }
  if (!timeline.is_null()) {
    json["timeline"] = timeline;
  }
  return json;
}

std::shared_ptr<const Window> read_window(const Json& note) {
  if (!note.is_object()) {
    return nullptr;
  }
  const auto usable = [](const Json& value) { return value.is_number() && value.get<double>() >= 0; };
  auto window = std::make_shared<Window>();
  for (const auto& [key, times] : kWindowTimes) {
    for (const Json& value : note.value(key, Json::array())) {
      if (usable(value)) {
        ((*window).*times).push_back(value.get<double>());
      }
    }
  }
  for (const auto& [key, number] : kWindowNumbers) {
    if (const Json value = note.value(key, Json()); usable(value)) {
      (*window).*number = value.get<std::int64_t>();
    }
  }
  const Json stages = note.value("stages_ns", Json());
  for (const StageName& stage : kStages) {
    if (const Json value = stages.is_object() ? stages.value(stage.key, Json()) : Json(); usable(value)) {
      window->stages_ns.*stage.time = value.get<double>();
    }
  }
  if (const Json timeline = note.value("timeline", Json()); timeline.is_array()) {
    window->timeline = timeline;
  }
  return window;
}

}  // namespace bench::sweeps
