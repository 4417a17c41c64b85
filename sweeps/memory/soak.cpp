#include "sweeps/memory/soak.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "sweeps/memory/answer.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kMostMemorySamples = 400;
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::int64_t kFewestSteps = 25;

void keep_every(std::int64_t stride, std::vector<MemorySample>& samples) {
  std::erase_if(samples, [&](const MemorySample& sample) { return sample.step % stride != 0; });
}

// Fills `soak` as it goes on: an error that ends it leaves what there is.
void run_steps(SweepStudy& study, const StudiedSeries& series, double share_ns, Soak& soak) {
  if (study.left_ns() <= series.cost.again_ns) {
    soak.ended_by = "the time budget leaves less than making it takes";
    return;
  }
  const auto start = study.request.clock.now();
  const auto sample = [&] {
    soak.seen.push_back({soak.done_steps, study.device.driver_used()});
    soak.tracked.push_back({soak.done_steps, study.device.memory().live().total()});
  };
  const auto workload = series.largest_point->workload->make(study.device);
  workload->step();
  study.device.synchronize();
  sample();
  std::int64_t stride = 1;  // grows, since the number of steps that there is time for is not known
  while (soak.done_steps < soak.wanted_steps && study.request.clock.since_ns(start) < share_ns &&
         !study.interrupted()) {
    study.device.time([&] { workload->step(); });
    if (++soak.done_steps % stride != 0) {
      continue;
    }
    sample();
    study.report(fmt::format("step {} of {}: {}", soak.done_steps, soak.wanted_steps, series.label));
    if (soak.seen.size() > kMostMemorySamples) {
      stride *= 2;
      keep_every(stride, soak.seen);
      keep_every(stride, soak.tracked);
    }
  }
}

std::string signed_bytes(double bytes) {
  return fmt::format("{}{}", bytes < 0 ? "-" : "", format_bytes(std::llround(std::abs(bytes))));
}

std::string steps_in_words(const Soak& soak) {
  return soak.done_steps >= soak.wanted_steps
             ? fmt::format("{} steps", soak.done_steps)
             : fmt::format("{} steps (of {} wanted: {})", soak.done_steps, soak.wanted_steps,
                           soak.ended_by.value_or("the time budget ended, or the run was interrupted"));
}

}  // namespace

void members(auto& io, Of<Soak> auto& soak) {
  io("label", soak.label);
  io("point", soak.point);
  io("batch", soak.batch);
  io("wanted_steps", soak.wanted_steps);
  io("done_steps", soak.done_steps);
  io.optional("ended_by", soak.ended_by);
}

Json written_value(const Soak& soak) {
  Json json = write_struct(soak);
  json["samples"] = Json::array();
  for (std::size_t i = 0; i < soak.seen.size(); ++i) {
    json["samples"].push_back({soak.seen[i].step, soak.seen[i].bytes, soak.tracked[i].bytes});
  }
  return json;
}

void read_value(const Field& field, Soak& soak) {
  JsonReader io(field);
  members(io, soak);
  const Field samples = field.at("samples");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Field sample = samples.at(i);
    soak.seen.push_back({sample.at(0).integer(), sample.at(1).integer()});
    soak.tracked.push_back({sample.at(0).integer(), sample.at(2).integer()});
  }
}

std::int64_t soak_steps(const SweepRequest& request) {
  const auto given = request.sweep_options.find("soak");
  if (given == request.sweep_options.end()) {
    return 0;
  }
  const std::string& text = given->second;
  std::int64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc{} || end != text.data() + text.size() || steps < 0 || steps > kMostSteps ||
      (steps > 0 && steps < kFewestSteps)) {
    throw UsageError(
        fmt::format("--soak: {} is not a number of steps; accepted are 0 and {} to {}: in fewer steps growth "
                    "does not stand out from noise",
                    quote(text), kFewestSteps, kMostSteps));
  }
  return steps;
}

void soak_all(SweepStudy& study, const std::vector<StudiedSeries>& all, std::int64_t steps,
              const std::vector<Soak>& before, std::vector<Soak>& soaks) {
  std::size_t left = all.size();
  for (const StudiedSeries& series : all) {
    const double share_ns = study.left_ns() / static_cast<double>(left--);
    if (series.largest == nullptr || study.interrupted()) {
      continue;
    }
    const auto done = std::ranges::find(before, series.largest->name, &Soak::point);
    if (done != before.end()) {
      soaks.push_back(*done);
      study.save();
      continue;
    }
    Soak& soak = soaks.emplace_back(Soak{.label = series.label,
                                         .point = series.largest->name,
                                         .batch = series.largest_point->spec.batch,
                                         .wanted_steps = steps});
    try {
      run_steps(study, series, share_ns, soak);
    } catch (const DeviceLost& error) {
      soak.ended_by = fmt::format("the device was lost ({})", error.what());
      study.lost["soak of " + soak.point] = error.what();
      study.save();
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      soak.ended_by = error.what();
    }
    study.save();
  }
}

Finding claim_growth(const SoakAnswer& answer, const ResultDocument& document) {
  const Soak& soak = answer.soak;
  const std::optional<MemoryGrowth>& growth = answer.growth;
  Finding finding = finding_of("memory_growth/" + soak.label, "bytes/step", {soak.point});
  const std::string what = fmt::format("Memory of {} at batch {}", soak.label, soak.batch);
  const std::string steps = steps_in_words(soak);
  if (!growth) {
    finding.claim = fmt::format("{}: {} are too few to tell growth from noise.", what, steps);
    return finding;
  }
  finding.set(growth->bytes_per_step, kOfFit);
  finding.details = {{"steps", soak.done_steps},
                     {"grows", growth->grows},
                     {"first_step", growth->first_step},
                     {"last_step", growth->last_step}};
  const std::string range =
      fmt::format("{} to {}", signed_bytes(finding.ci95->low), signed_bytes(finding.ci95->high));
  if (!growth->grows) {
    finding.claim = fmt::format("{} is steady over {}: growth is {} a step.", what, steps,
                                finding.ci95->high <= 0 ? "0 B" : range);
    return finding;
  }
  const auto tracked = find_growth(soak.tracked);
  finding.claim =
      fmt::format("{} grows by {} ({}) a step over {}, {} the device memory that the program asked for", what,
                  signed_bytes(*finding.value), range, steps, tracked && tracked->grows ? "in" : "outside");
  const std::int64_t cap = document.sweep.memory_cap_bytes.value_or(0);
  const auto point = std::ranges::find(measured_points(document), soak.point, &Point::name);
  if (cap > 0 && point != measured_points(document).end()) {
    const std::int64_t grown = soak.seen.back().bytes - soak.seen.front().bytes;
    const double left = growth->steps_until(cap - point->memory.peak_measured - grown).value_or(0);
    finding.details["steps_until_out_of_memory"] = left;
    finding.claim += fmt::format("; out of memory within {} after about {} more", format_bytes(cap),
                                 left < 1e6 ? fmt::format("{:.0f}", left) : fmt::format("{:.2g}", left));
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
