#include "tools/peers/contestant.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::peers {
namespace {

// A line of /proc/self/status such as "VmHWM:   12345 kB", in bytes.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) {
      return std::stoll(line.substr(key.size() + 1)) * 1024;
    }
  }
  throw std::runtime_error("/proc/self/status has no " + key);
}

}  // namespace

Memory::Memory() {
  std::ofstream("/proc/self/clear_refs") << "5\n";
  before_ = status_bytes("VmRSS");
}

std::int64_t Memory::growth() const {
  return status_bytes("VmHWM") - before_;
}

void serve_turns(const Memory& memory, const nlohmann::json& about,
                 const std::function<std::vector<std::int64_t>(std::size_t steps)>& turn) {
  std::cout << nlohmann::json{{"ready", true}, {"built_bytes", memory.growth()}, {"about", about}}
            << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    std::size_t count = 0;
    if (!(words >> verb >> count) || verb != "go") {
      throw std::invalid_argument("expected 'go N', got '" + line + "'");
    }
    const std::vector<std::int64_t> samples = turn(count);
    std::cout << nlohmann::json{{"ns", samples}, {"peak_bytes", memory.growth()}} << std::endl;
  }
}

void serve(const Memory& memory, const nlohmann::json& about, int warm_up,
           const std::function<std::int64_t()>& step) {
  for (int i = 0; i < warm_up; ++i) {
    step();
  }
  serve_turns(memory, about, [&](std::size_t steps) {
    // Others ran in between: the first step finds cold caches and sleeping threads.
    step();
    std::vector<std::int64_t> samples(steps);
    for (std::int64_t& sample : samples) {
      sample = step();
    }
    return samples;
  });
}

}  // namespace bench::peers
