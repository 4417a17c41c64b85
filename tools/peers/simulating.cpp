// Simulates a workers sweep that another loader was measured by: a result file on standard
// input; on standard output, for each worker count, AU as measured and as simulated.
#include <exception>
#include <iostream>

#include "bench/result/result.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/record.h"
#include "sweeps/workers/simulated.h"

int main() {
  using namespace bench;
  try {
    const Json file = Json::parse(std::cin);
    ResultDocument document = document_from_json(file);
    sweeps::restore_points(document);
    const Json& loader = file.at("sweep").at("loader");
    const sweeps::LoaderSetup setup{.cores = loader.at("cores"), .lookahead = loader.at("lookahead")};
    const sweeps::LoaderPoints points = sweeps::loader_points(measured_points(document), setup);
    const auto profile = sweeps::measure_profile(points, setup);
    if (!profile) {
      std::cerr << "too little was measured to simulate from\n";
      return 1;
    }
    Json rows = Json::array();
    for (const sweeps::SimulatedPoint& point : sweeps::simulate_measured(points, setup, *profile).points) {
      const sweeps::LoaderPoint* const measured = points.at(point.workers);
      if (measured != nullptr && measured->au) {
        rows.push_back({{"workers", point.workers},
                        {"measured_au", measured->au->value},
                        {"measured_au_ci95", {measured->au->low(), measured->au->high()}},
                        {"simulated_au", point.au}});
      }
    }
    std::cout << Json{{"law", sweeps::to_json(*profile).at("law")}, {"au", rows}}.dump(1) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
