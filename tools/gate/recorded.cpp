#include <fstream>

#include "bench/json.h"
#include "bench/result/result.h"
#include "bench/stats/statistics.h"
#include "noise.h"

namespace bench::gate {

RecordedRounds read_recorded(const std::string& file) {
  constexpr std::size_t kFewestRounds = 4;
  std::ifstream stream(file);
  const ResultDocument document = document_from_json(Json::parse(stream));
  RecordedRounds recorded;
  for (const Point& point : measured_points(document)) {
    std::vector<double> rounds = round_medians(point);
    if (rounds.size() >= kFewestRounds) {
      const double center = median(rounds);
      for (double& round : rounds) {
        round /= center;
      }
      recorded.points.push_back(rounds);
    }
  }
  return recorded;
}

}  // namespace bench::gate
