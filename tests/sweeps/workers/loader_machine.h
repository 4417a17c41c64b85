// A machine whose loader is known, and what a sweep would measure of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/result/result.h"
#include "bench/stats/random.h"
#include "bench/stats/statistics.h"
#include "sweeps/workers/record.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps::testing {

struct LoaderMachine {
  double image_ns = 5e6;  // of one worker alone
  double cv = 0.1;        // of a batch's time
  double cores = 4;
  double sigma = 0.04;
  double kappa = 0;
  double oversubscription = 0.02;
  double compute_ns = 36e6;
  double copy_ns = 1e6;
  double gap_ns = 0.1e6;
  std::int64_t batch = 16;
  std::int64_t prefetch = 2;
  bool any_order = false;
  std::vector<simulator::CoreSharing> shared_cores{};
  std::optional<loader::Storage> storage{};
  double encoded_bytes = 110e3;
  double size_cv = 0.3;  // of images; counts with storage
  std::vector<std::int64_t> workers{0, 1, 2, 3, 4, 6, 8};
  std::vector<std::int64_t> capacities{1, 2, 4, 8};
  double noise = 0.003;  // of a window
  // How late a thread gets a busy core, on average; half of the times not at all.
  double late_ns = 0;
  std::vector<RequiredThroughput> required{};
  int gpus = 1;

  // Log-normal of mean 1.
  static std::vector<double> parts(double cv, std::uint64_t seed, int count = 400) {
    std::mt19937_64 engine(seed);
    const double sigma = std::sqrt(std::log(1 + cv * cv));
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
      double normal = -6;
      for (int k = 0; k < 12; ++k) {
        normal += unit_draw(engine);
      }
      values.push_back(std::exp(sigma * normal));
    }
    const double mean = bench::mean(values);
    for (double& value : values) {
      value /= mean;
    }
    return values;
  }

  static std::vector<double> times(std::vector<double> parts, double mean) {
    for (double& part : parts) {
      part *= mean;
    }
    return parts;
  }

  simulator::Pipeline pipeline(std::int64_t count, bool consumes) const {
    simulator::Pipeline pipeline;
    pipeline.workers = count;
    pipeline.prefetch = prefetch;
    pipeline.order = any_order ? loader::Order::any : loader::Order::in_order;
    pipeline.batch = batch;
    pipeline.batch_work_ns = times(parts(cv, 11), image_ns * static_cast<double>(batch));
    pipeline.sample_work_ns = times(parts(cv * std::sqrt(static_cast<double>(batch)), 12), image_ns);
    pipeline.compute_ns = {consumes ? compute_ns : 1.0};
    pipeline.copy_ns = consumes ? copy_ns : 0;
    pipeline.gap_ns = consumes ? gap_ns : 0;
    pipeline.law = {.one = 1e9 / image_ns,
                    .sigma = sigma,
                    .kappa = kappa,
                    .oversubscription = oversubscription,
                    .cores = cores};
    pipeline.storage = storage;
    pipeline.sample_bytes_read = encoded_bytes;
    if (storage) {
      pipeline.sample_sizes = parts(size_cv, 13);
      pipeline.batch_work_ns = {image_ns * static_cast<double>(batch)};
      pipeline.sample_work_ns = {image_ns};
    }
    if (consumes) {
      pipeline.shared_cores = shared_cores;
    }
    if (late_ns > 0) {
      pipeline.scheduling_latency = {{.workers = 1, .late_ns = {0, 2 * late_ns}}};
    }
    pipeline.seed = 77 + static_cast<std::uint64_t>(count);
    return pipeline;
  }

  Point point(const std::string& loader, std::int64_t count, double fixed_compute,
              const std::vector<double>& steps, double batch_ns, double reading_ns, double busy_cores) const {
    Point point;
    point.name = loader == "ready" ? "workers/ready" : fmt::format("workers/{}/workers:{}", loader, count);
    point.params = {{"loader", loader},
                    {"workers", count},
                    {"prefetch", prefetch},
                    {"order", any_order ? "any" : "in-order"},
                    {"batch", batch},
                    {"dtype", "fp32"},
                    {"consumer", loader == "capacity" ? "none" : "40 ms"}};
    point.work.sample_bytes = static_cast<double>(602'112 * batch);
    std::mt19937_64 engine(stream_seed(5, static_cast<std::uint64_t>(count)));
    const std::size_t windows = 12;
    const std::size_t size = steps.size() / windows;
    const auto shape = parts(cv, 11);
    for (std::size_t window = 0; window < windows; ++window) {
      const double off = 1 + noise * (2 * unit_draw(engine) - 1);
      Json note = {{"batches", size}, {"step_ns", Json::array()}, {"compute_ns", Json::array()}};
      double sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double step = steps[window * size + i] * off;
        note["step_ns"].push_back(std::llround(step));
        note["compute_ns"].push_back(std::llround(loader == "capacity" ? 0 : fixed_compute * off));
        sum += step;
      }
      const double per_batch = static_cast<double>(batch);
      const auto of_all = static_cast<double>(size) * per_batch;
      note["copy_ns"] = std::llround(loader == "capacity" ? 0 : copy_ns * static_cast<double>(size));
      note["batch_ns"] = Json::array();
      note["batch_cpu_ns"] = Json::array();
      note["sample_ns"] = Json::array();
      if (loader != "ready") {
        for (std::size_t i = 0; i < 34; ++i) {
          note["batch_ns"].push_back(std::llround(batch_ns * shape[(i + window * 34) % shape.size()]));
          note["batch_cpu_ns"].push_back(
              std::llround(busy_cores * mean(steps) * shape[(i + window * 34) % shape.size()]));
        }
        for (const double sample : parts(storage ? size_cv : cv * std::sqrt(per_batch), 31 + window, 32)) {
          const double transfer = storage ? encoded_bytes / storage->bytes_per_s * 1e9 : 0;
          note["sample_ns"].push_back(
              std::llround(sample * (image_ns + transfer) + (storage ? storage->latency_ns : 0)));
        }
        const double making = batch_ns / per_batch - reading_ns;
        note["stages_ns"] = {{"read", std::llround((reading_ns + 0.02 * making) * of_all)},
                             {"decode", std::llround(0.70 * making * of_all)},
                             {"augment", std::llround(0.15 * making * of_all)},
                             {"collate", std::llround(0.12 * making * of_all)},
                             {"hand_off", std::llround(0.01 * making * of_all)}};
        note["images"] = size * static_cast<std::size_t>(batch);
      }
      for (std::size_t i = 8 * window; late_ns > 0 && (count > 0 || loader == "ready") && i < 8 * window + 8;
           ++i) {
        const bool busy = static_cast<double>(i) < 8 * windows * busy_cores / cores && i % 2 == 1;
        note["late_ns"].push_back(60'000 + std::llround(busy ? 2 * late_ns : 0));  // a timer's own 60 µs
      }
      note["cpu_ns"] = std::llround(image_ns * of_all);
      note["voluntary_switches"] = 3 * size;
      note["involuntary_switches"] = size;
      note["host_bytes"] = count * (prefetch * batch * 602'112 + 3'000'000);
      note["bad_files"] = 0;
      point.notes.push_back(read_window(note));
      point.samples_ns.push_back(std::llround(sum / static_cast<double>(size)));
    }
    point.rounds = rounds_of({4, 4, 4});
    point.items_per_step = static_cast<double>(batch);
    point.stats = summarize(point.samples_ns, round_sizes(point));
    return point;
  }

  LoaderSetup setup() const {
    LoaderSetup setup{
        .cores = static_cast<int>(cores),
        .data = "synthetic",
        .consumer_device = shared_cores.empty() ? "cuda:0" : "cpu",
        .consumer_on_cores = !shared_cores.empty(),
        .slot_bytes = batch * 602'112,
        .pinned = shared_cores.empty(),
        .required = required,
        .gpus = gpus,
        .found = DataFound{.images = 256, .mean_encoded_bytes = encoded_bytes, .from_storage = 0}};
    setup.storage = storage;
    return setup;
  }

  std::vector<Point> measured() const {
    std::vector<Point> all;
    const double ready = std::max(compute_ns, copy_ns) + gap_ns;
    all.push_back(point("ready", 0, compute_ns, std::vector<double>(360, ready), 0, 0, 0));
    const auto add = [&](const std::string& loader, std::int64_t count) {
      const auto simulated = simulate(pipeline(count, loader == "pool"));
      const double busy = simulated.computing_workers +
                          simulated.worker_reading * static_cast<double>(std::max<std::int64_t>(1, count));
      const double batch_ns = busy * static_cast<double>(batch) / simulated.samples_per_s * 1e9;
      const double reading = batch_ns / static_cast<double>(batch) * (1 - simulated.computing_workers / busy);
      all.push_back(point(loader, count, simulated.compute_ns, simulated.step_ns, batch_ns, reading,
                          std::min(simulated.computing_workers, cores)));
    };
    for (const std::int64_t count : capacities) {
      add("capacity", count);
    }
    for (const std::int64_t count : workers) {
      add("pool", count);
    }
    return all;
  }
};

// Changes the windows of the points that `chosen` accepts.
inline void change_windows(std::vector<Point>& points, const std::function<bool(const Point&)>& chosen,
                           const std::function<void(Window&)>& change) {
  for (Point& point : points) {
    if (!chosen(point)) {
      continue;
    }
    for (std::shared_ptr<const SampleNote>& note : point.notes) {
      const auto changed = std::const_pointer_cast<Window>(read_window(note->to_json()));
      change(*changed);
      note = changed;
    }
  }
}
inline std::function<bool(const Point&)> of_loader(const std::string& loader) {
  return [loader](const Point& point) { return point.params.at("loader") == loader; };
}

}  // namespace bench::sweeps::testing
