// What the simulator makes of a workers sweep that something else measured: a result file on standard input;
// on standard output, for each worker count, AU as measured and as simulated.
#include <exception>
#include <iostream>

#include "bench/measure/result.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/what_if.h"

int main() {
  using namespace bench;
  try {
    ResultDocument document = document_from_json(Json::parse(std::cin));
    sweeps::note_simulation(document);
    const auto simulated = sweeps::simulated_of(document);
    if (!simulated) {
      std::cerr << "too little was measured to simulate from\n";
      return 1;
    }
    Json rows = Json::array();
    const sweeps::LoaderPoints points = sweeps::loader_points(document);
    for (const sweeps::SimulatedPoint& point : simulated->points) {
      const sweeps::LoaderPoint* const measured = points.at(point.workers);
      if (measured != nullptr && measured->au) {
        rows.push_back({{"workers", point.workers},
                        {"measured_au", measured->au->value},
                        {"measured_au_ci95", {measured->au->ci95.low, measured->au->ci95.high}},
                        {"simulated_au", point.au}});
      }
    }
    const auto& law = document.sweep["profile"]["law"];
    std::cout << Json{{"law", law}, {"au", rows}}.dump(1) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
