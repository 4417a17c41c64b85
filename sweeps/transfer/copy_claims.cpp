#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"
#include "sweeps/transfer/pcie.h"

namespace bench::sweeps {
namespace {

std::string rate(double bytes_per_s) {
  return format_rate(bytes_per_s, "B/s");
}

bool crosses_bus(const ResultDocument& document) {
  const Json transfer = document.sweep.is_object() ? document.sweep.value("transfer", Json()) : Json();
  return transfer.is_object() && transfer.value("crosses_bus", false);
}

std::optional<PcieLink> link_of(const ResultDocument& document) {
  const Json device = document.context.is_object() ? document.context.value("device", Json()) : Json();
  return device.is_object() ? pcie_link(device.value("pcie", "")) : std::nullopt;
}

std::string way(const std::string& direction) {
  return direction == "h2d" ? "to the device" : direction == "d2h" ? "to the host" : "both ways at once";
}

std::vector<std::string> names_of(const TransferSeries& series) {
  std::vector<std::string> names;
  for (const TransferPoint& point : series.points) {
    names.push_back(point.name);
  }
  return names;
}

const TransferPoint* fastest(const std::vector<TransferSeries>& all) {
  const TransferPoint* best = nullptr;
  for (const TransferSeries& series : all) {
    for (const TransferPoint& point : series.points) {
      if (series.direction != "both" && (best == nullptr || point.bytes_per_s() > best->bytes_per_s())) {
        best = &point;
      }
    }
  }
  return best;
}

}  // namespace

std::string percent_range(const Interval& shares) {
  return fmt::format("{} to {}", format_percent(shares.low), format_percent(shares.high));
}

std::string size_text(double bytes) {
  return format_bytes(static_cast<std::int64_t>(std::llround(bytes)));
}

Finding claim_bus(const ResultDocument& document, const std::vector<TransferSeries>& all) {
  Finding finding = finding_of("bus", "B/s");
  const auto link = link_of(document);
  if (!crosses_bus(document)) {
    finding.claim =
        "No bus was crossed: the device's memory is the host's, so these are copies within memory by the "
        "processor, and say nothing about a card.";
  } else if (!link || link->bytes_per_s() <= 0) {
    finding.claim = "What the bus could carry is not known: nothing tells its generation and width.";
  } else {
    finding.value = link->bytes_per_s();
    finding.claim = fmt::format("The bus, PCIe generation {} with {} lanes, can carry {} each way",
                                link->generation, link->width, rate(*finding.value));
    if (const TransferPoint* const best = fastest(all)) {
      finding.evidence = {best->name};
      finding.claim +=
          fmt::format(", headers of its packets counted; the fastest copy reaches {} of that ({}).",
                      format_percent(best->bytes_per_s() / *finding.value), best->name);
    } else {
      finding.claim += ", headers of its packets counted.";
    }
  }
  return finding;
}

std::vector<Finding> claim_models(const ResultDocument& document, const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  const auto link = crosses_bus(document) ? link_of(document) : std::nullopt;
  for (const TransferSeries& series : all) {
    if (!series.plain() || series.points.size() < 3) {
      continue;
    }
    const auto times = series.times();
    const auto model = fit_transfer(times);
    if (!model) {
      continue;
    }
    // Both ways at once a step moves a copy's bytes twice.
    const double each_way = series.points.front().moved / series.points.front().bytes;
    Finding finding = finding_of("model/" + series.label(), "B/s", names_of(series));
    finding.value = each_way * model->bytes_per_s.value;
    if (model->bytes_per_s.ci95) {
      finding.ci95 =
          Interval{each_way * model->bytes_per_s.ci95->low, each_way * model->bytes_per_s.ci95->high};
    }
    finding.details = {{"latency_ns", model->latency_ns.value},
                       {"bytes_per_s", model->bytes_per_s.value},
                       {"moved_per_byte", each_way},
                       {"r_squared", model->r_squared}};
    if (model->latency_ns.ci95) {
      finding.details["latency_ci95_ns"] = {model->latency_ns.ci95->low, model->latency_ns.ci95->high};
    }
    finding.claim =
        fmt::format("A copy {} of {} memory takes {} + bytes / {}", way(series.direction), series.kind,
                    format_duration(std::max(0.0, model->latency_ns.value)), rate(model->bytes_per_s.value));
    if (each_way > 1) {
      finding.claim += fmt::format(" with its bytes going each way, {} in all", rate(*finding.value));
    }
    if (link && link->bytes_per_s() > 0) {
      finding.claim += fmt::format(" ({} of what the bus can carry each way)",
                                   format_percent(model->bytes_per_s.value / link->bytes_per_s()));
    }
    if (model->half_bytes) {
      finding.details["half_bytes"] = model->half_bytes->value;
      if (model->half_bytes->ci95) {
        finding.details["half_bytes_ci95"] = {model->half_bytes->ci95->low, model->half_bytes->ci95->high};
      }
      finding.claim += fmt::format("; {} reach half of that rate", size_text(model->half_bytes->value));
    }
    finding.claim += fmt::format(" (fitted to {} sizes).", model->points);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<Finding> claim_model_error(const std::vector<TransferSeries>& all) {
  std::vector<double> one_way;
  std::vector<double> both_ways;
  std::vector<std::string> asked;
  Json each = Json::object();
  for (const TransferSeries& series : all) {
    if (!series.plain()) {
      continue;
    }
    std::vector<double> own;
    for (const HeldOut& held_out : held_out_errors(series.times())) {
      own.push_back(held_out.error);
      if (series.direction != "both") {
        asked.push_back(series.at(held_out.bytes)->name);
      }
    }
    if (const auto middle = median_of(own)) {
      each[series.label()] = *middle;
      auto& errors = series.direction == "both" ? both_ways : one_way;
      errors.insert(errors.end(), own.begin(), own.end());
    }
  }
  const auto middle = median_of(one_way);
  if (!middle) {
    return std::nullopt;
  }
  Finding finding = finding_of("model_error", "1", std::move(asked));
  finding.value = middle;
  finding.ci95 = median_interval(one_way);
  finding.details = {{"median_by_series", each}, {"held_out", one_way.size()}};
  finding.claim = fmt::format(
      "Fitted on every second size, the models of copies one way predict the {} others within {} "
      "(median{})",
      one_way.size(), format_percent(*middle),
      finding.ci95 ? fmt::format("; {}", percent_range(*finding.ci95)) : std::string());
  if (const auto both = median_of(both_ways)) {
    finding.details["both_ways"] = *both;
    finding.claim += fmt::format("; those of copies both ways at once {} within {}", both_ways.size(),
                                 format_percent(*both));
  }
  finding.claim += '.';
  return finding;
}

std::vector<Finding> claim_crossovers(const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  for (const std::string direction : {"h2d", "d2h"}) {
    const TransferSeries* const pageable = find_series(all, fmt::format("{}/pageable", direction));
    for (const std::string kind : {"pinned", "staged"}) {
      const TransferSeries* const other = find_series(all, fmt::format("{}/{}", direction, kind));
      if (pageable == nullptr || other == nullptr) {
        continue;
      }
      const auto fast = other->times();
      const auto slow = pageable->times();
      const auto from = faster_from(fast, slow);
      const auto back = faster_from(slow, fast);
      Finding finding = finding_of(fmt::format("crossover/{}/{}", direction, kind), "B");
      const TransferPoint* const largest = &other->points.back();
      const TransferPoint* const beside = pageable->at(largest->bytes);
      if (beside != nullptr) {
        finding.evidence = {largest->name, beside->name};
      }
      const std::string both = beside == nullptr
                                   ? std::string()
                                   : fmt::format(" ({} against {} at {})", rate(largest->bytes_per_s()),
                                                 rate(beside->bytes_per_s()), size_text(largest->bytes));
      if (from) {
        finding.value = from;
        finding.claim =
            fmt::format("Copies {} are faster {} memory than pageable from {} on{}.", way(direction),
                        kind == "staged" ? "staged through pinned" : "with pinned", size_text(*from), both);
      } else if (back) {
        finding.details["pageable_faster_from"] = *back;
        finding.claim = fmt::format("Copies {} of {} memory are slower than pageable ones from {} on{}.",
                                    way(direction), kind, size_text(*back), both);
      } else {
        finding.claim = fmt::format("Copies {} of {} memory are not reliably faster than pageable ones{}.",
                                    way(direction), kind, both);
      }
      const auto models = std::pair{fit_transfer(fast), fit_transfer(slow)};
      if (models.first && models.second) {
        if (const auto crossed = crossing(*models.first, *models.second)) {
          finding.details["models_cross_at_bytes"] = *crossed;
        }
      }
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<Finding> claim_at_once(const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  for (const TransferSeries& series : all) {
    const bool both = series.direction == "both" && series.plain();
    if ((!both && series.at_once == 1) || (series.at_once > 1 && series.direction == "both")) {
      continue;
    }
    const TransferSeries* const one =
        find_series(all, fmt::format("{}/{}", both ? "h2d" : series.direction, series.kind));
    const TransferPoint& largest = series.points.back();
    const TransferPoint* const single = one == nullptr ? nullptr : one->at(largest.bytes);
    if (single == nullptr) {
      continue;
    }
    Finding finding = finding_of("at_once/" + series.label(), "1", {largest.name, single->name});
    finding.value = largest.bytes_per_s() / single->bytes_per_s();
    finding.claim = fmt::format("{} of {} move {} in all, {} times what one copy {} does.",
                                both ? fmt::format("Copies both ways at once ({} memory)", series.kind)
                                     : fmt::format("{} copies at once {} ({} memory)", series.at_once,
                                                   way(series.direction), series.kind),
                                size_text(largest.bytes), rate(largest.bytes_per_s()),
                                format_number(*finding.value), both ? "to the device" : "alone");
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> claim_cold_pages(const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  for (const TransferSeries& series : all) {
    const TransferSeries* const touched =
        series.cold_pages ? find_series(all, fmt::format("{}/{}", series.direction, series.kind)) : nullptr;
    const TransferPoint& largest = series.points.back();
    const TransferPoint* const usual = touched == nullptr ? nullptr : touched->at(largest.bytes);
    if (usual == nullptr) {
      continue;
    }
    Finding finding = finding_of("cold_pages/" + series.label(), "1", {largest.name, usual->name});
    finding.value = largest.ns / usual->ns;
    finding.claim = fmt::format(
        "Into pages fresh from the system a copy {} of {} takes {:.2f} times as long as into pages in use "
        "({} "
        "against {}).",
        way(series.direction), size_text(largest.bytes), *finding.value, format_duration(largest.ns),
        format_duration(usual->ns));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
