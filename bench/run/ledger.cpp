#include "bench/run/ledger.h"

#include <algorithm>
#include <map>

namespace bench {

void PointLedger::changed() {
  document_.findings = sweep_.findings(document_);
  observer_.changed(document_);
}

MeasuredPoint* PointLedger::measured(const std::string& name) {
  const auto at = std::ranges::find(document_.benchmarks, name, &MeasuredPoint::name);
  return at == document_.benchmarks.end() ? nullptr : &*at;
}

bool PointLedger::in_error(const SweepPoint& point) const {
  return std::ranges::any_of(document_.unmeasured, [&](const UnmeasuredPoint& other) {
    return other.name == point.name && other.status == "error";
  });
}

MeasuredPoint& PointLedger::insert(const SweepPoint& point, const MeasuredPoint& entry) {
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < plan_.points.size(); ++i) {
    position[plan_.points[i].name] = i;
  }
  auto& entries = document_.benchmarks;
  const auto at = std::ranges::find_if(
      entries, [&](const MeasuredPoint& other) { return position[other.name] > position[point.name]; });
  std::erase_if(document_.unmeasured, [&](const auto& other) { return other.name == point.name; });
  return *entries.insert(at, entry);
}

void PointLedger::set_unmeasured(const SweepPoint& point, const std::string& status,
                                 const std::string& reason) {
  std::erase_if(document_.unmeasured, [&](const auto& other) { return other.name == point.name; });
  document_.unmeasured.push_back({point.name, point.params, status, reason});
  changed();
}

void PointLedger::lose(const SweepPoint& point, const std::string& reason) {
  std::erase_if(document_.benchmarks, [&](const auto& other) { return other.name == point.name; });
  set_unmeasured(point, "error", reason);
}

}  // namespace bench
