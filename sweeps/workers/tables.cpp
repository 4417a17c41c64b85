#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "sweeps/workers/findings.h"

namespace bench::sweeps {
namespace {

Cell estimate_cell(const Estimate& estimate) {
  return Cell::number(estimate.value, estimate.ci95);
}

Cell au_cell(double au) {
  return Cell::figure(fmt::format("{:.2f}", au));
}

Cell simulated_au_cell(const SimulatedPoint& point) {
  const Estimate au = point.printed_au();
  return au.ci95 ? estimate_cell(au) : au_cell(au.value);
}

Cell stall_cell(std::optional<double> ns) {
  // Noise of the step with ready data may exceed the stall.
  return !ns ? Cell::none() : *ns < 1000 ? Cell(0) : Cell::time(*ns);
}

// "2 cores; data: synthetic, 256 images of 111 KiB, page cache warm".
std::string conditions(const LoaderSetup& setup) {
  std::string text = fmt::format("{} core{}; data: {}", setup.cores, setup.cores == 1 ? "" : "s", setup.data);
  if (setup.found) {
    text += fmt::format(", {} images of {}", setup.found->images,
                        format_bytes(std::llround(setup.found->mean_encoded_bytes)));
  }
  text += fmt::format(", page cache {}", setup.page_cache());
  if (setup.found && setup.found->still_cached > 0) {
    text += fmt::format(", but {} of {} reads found their image in it: {}", setup.found->still_cached,
                        setup.found->evicted, printable(setup.found->still_cached_reason));
  } else if (setup.found && setup.page_cache() == std::string("as found") && setup.found->from_storage) {
    text += fmt::format(" ({} of the images' bytes came from storage)",
                        format_percent(std::min(1.0, *setup.found->from_storage)));
  }
  return text;
}

TextTable points_table(const Evidence& evidence) {
  std::vector<const LoaderPoint*> points;
  for (const auto* list : {&evidence.points.pool, &evidence.points.other_order}) {
    for (const LoaderPoint& point : *list) {
      points.push_back(&point);
    }
  }
  const bool orders = !evidence.points.other_order.empty();
  TextTable table;
  table.rows.push_back(
      {"workers", "samples/s", "AU", "stall p99", "CPU/sample", "host memory", "simulated AU"});
  if (const auto& ready = evidence.points.ready) {  // AU is computing over total time, divided by this row's
    table.rows.push_back({fmt::format("ready data{}{}", ready->mark.empty() ? "" : " ", ready->mark),
                          estimate_cell(ready->samples_per_s), 1, Cell::none(), Cell::none(), Cell::none(),
                          Cell::none()});
  }
  for (const LoaderPoint* const point : points) {
    const SimulatedPoint* const simulated =
        point->order == evidence.points.pool.front().order ? evidence.simulated_at(point->workers) : nullptr;
    table.rows.push_back(
        {Cell::figure(fmt::format("{}{}{}{}", orders ? point->order + " " : "", point->workers,
                                  point->mark.empty() ? "" : " ", point->mark)),
         estimate_cell(point->samples_per_s), point->au ? estimate_cell(*point->au) : Cell::none(),
         stall_cell(point->stall_p99_ns), Cell::time(point->cpu_ns), Cell::bytes(point->windows->host_bytes),
         simulated != nullptr && simulated->held_out_au ? au_cell(*simulated->held_out_au) : Cell::none()});
  }
  table.title =
      conditions(evidence.setup) + (evidence.simulated ? "; each count is simulated from the others" : "");
  table.lists_points = true;
  return table;
}

// "; counts beyond 4 are extrapolated", of the user's own loader.
std::string extrapolated_text(const Simulated& simulated, const Profile& own) {
  const std::int64_t most = std::ranges::max(own.law.workers);
  const bool any = own.law.workers.size() > 1 &&
                   std::ranges::any_of(simulated.points,
                                       [&](const SimulatedPoint& point) { return point.workers > most; });
  return any ? fmt::format("; counts beyond {} are extrapolated", most) : "";
}

// Where nothing was measured.
TextTable simulated_table(const Evidence& evidence) {
  const Simulated& simulated = *evidence.simulated;
  const std::string consumer = evidence.profile ? evidence.profile->consumer : "";
  const Profile* const own = evidence.of_own_loader() ? &*evidence.profile : nullptr;
  TextTable table;
  table.title =
      fmt::format("Simulated{}: {:g} cores, prefetch {}, {}{}{}{}",
                  own != nullptr ? fmt::format(" from the load times of {}", printable(own->loader)) : "",
                  simulated.cores, simulated.prefetch,
                  simulated.order == loader::Order::any ? "out-of-order" : "in-order",
                  simulated.gpus > 1 ? fmt::format(", {} GPUs on one host", simulated.gpus) : "",
                  consumer.empty() ? "" : fmt::format("; consumer: {}", printable(consumer)),
                  own != nullptr ? extrapolated_text(simulated, *own) : "");
  table.rows.push_back({simulated.gpus > 1 ? "workers a GPU" : "workers", "samples/s", "AU", "stall p99",
                        "workers busy", "host memory", "limited by"});
  for (const SimulatedPoint& point : simulated.points) {
    const double bytes =
        own == nullptr ? 0 : own->host_bytes(point.workers, simulated.prefetch) * simulated.gpus;
    table.rows.push_back({point.workers, Cell::number(point.samples_per_s), simulated_au_cell(point),
                          stall_cell(point.stall_p99_ns), Cell::share(point.worker_busy),
                          bytes > 0 ? Cell::bytes(std::llround(bytes)) : Cell(), point.limited_by});
  }
  table.lists_points = true;
  return table;
}

TextTable requirements_table(const Simulated& simulated) {
  TextTable table;
  table.title = "Required throughput (simulated): workers for 95 % of it";
  table.rows.push_back({"GPU", "samples/s", "GPUs", "workers a GPU", "AU", "host's best", "limited by"});
  for (const SimulatedRequirement& answer : simulated.requirements) {
    table.rows.push_back({answer.required.name, Cell::number(answer.required.samples_per_s), answer.gpus,
                          answer.workers ? Cell(*answer.workers) : "cannot be fed", au_cell(answer.au),
                          Cell::figure(rate_text(answer.max_samples_per_s)), answer.limited_by});
  }
  return table;
}

}  // namespace

std::vector<TextTable> workers_tables(const Evidence& evidence) {
  std::vector<TextTable> tables;
  if (!evidence.points.pool.empty()) {
    tables.push_back(points_table(evidence));
  } else if (evidence.simulated) {
    tables.push_back(simulated_table(evidence));
  }
  if (evidence.simulated && !evidence.simulated->requirements.empty()) {
    tables.push_back(requirements_table(*evidence.simulated));
  }
  return tables;
}

}  // namespace bench::sweeps
