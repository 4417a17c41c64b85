// Every network's plan as it was recorded: operations, layouts, offsets and bytes. A change of a plan is a
// change of speed or memory, and wants a reason. To record again: BENCH_RECORD_PLANS=yes; with
// BENCH_PLAN_TEXTS the whole texts are written to that folder, to see where two plans part.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <dnnl.hpp>

#include "bench/error.h"
#include "bench/registry.h"
#include "modelled_card.h"
#include "planned_record.h"

namespace bench::kernels {
namespace {

// FNV-1a, 64 bits.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

using Options = std::map<std::string, std::string>;

std::string record_of(const NetworkType& network, const WorkloadSpec& spec, Device& device,
                      const std::string& label) {
  const std::string head =
      fmt::format("{} {} {} batch {}{}", network.name, spec.mode, name_of(spec.dtype), spec.batch, label);
  try {
    const PlannedRecord record = planned_record(network, spec, device);
    if (const char* const folder = std::getenv("BENCH_PLAN_TEXTS")) {
      std::ofstream(fmt::format("{}/{} {}.txt", folder, device.info().name.substr(0, 4), head))
          << record.operations << '\n'
          << record.offsets << '\n'
          << record.moments << '\n'
          << record.memory << '\n';
    }
    return fmt::format("{}: {} instructions {:016x}, offsets {:016x}, moments {:016x} | {}", head,
                       record.instructions, hash_of(record.operations), hash_of(record.offsets),
                       hash_of(record.moments), record.memory);
  } catch (const Unsupported& error) {
    return fmt::format("{}: {}", head, error.what());
  }
}

WorkloadSpec spec_of(const char* mode, Dtype dtype, std::int64_t batch) {
  WorkloadSpec spec;
  spec.mode = mode;
  spec.dtype = dtype;
  spec.batch = batch;
  return spec;
}

std::vector<std::string> records_on(Device& device, const std::vector<Dtype>& dtypes) {
  std::vector<std::string> lines;
  const auto add = [&](const NetworkType& network, WorkloadSpec spec, const Options& options) {
    std::string label;
    for (const auto& [name, value] : options) {
      spec.options[name] = value;
      label += fmt::format(" {} {}", name, value);
    }
    lines.push_back(record_of(network, spec, device, label));
  };
  for (const auto& network : registry<NetworkType>().entries()) {
    for (const Dtype dtype : dtypes) {
      for (const std::int64_t batch : {1, 64}) {
        add(*network, spec_of("infer", dtype, batch), {});
        add(*network, spec_of("train", dtype, batch), {});
      }
      const WorkloadSpec train = spec_of("train", dtype, 8);
      add(*network, train, {{"optimizer", "adam"}, {"accumulate", "2"}});
      add(*network, train, {{"recompute", "yes"}, {"in-place", "no"}});
      add(*network, train, {{"recompute", "yes"}, {"optimizer", "momentum"}});
    }
  }
  return lines;
}

void compare(const std::string& name, const std::string& setting, const std::vector<std::string>& now) {
  const std::string path = BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/records/" + name + ".txt";
  if (std::getenv("BENCH_RECORD_PLANS") != nullptr) {
    std::ofstream file(path);
    file << setting << '\n';
    for (const std::string& line : now) {
      file << line << '\n';
    }
    return;
  }
  std::ifstream file(path);
  std::string line;
  ASSERT_TRUE(std::getline(file, line)) << path << " cannot be read";
  if (line != setting) {
    GTEST_SKIP() << "recorded with " << line << ", here is " << setting;
  }
  for (const std::string& wanted : now) {
    ASSERT_TRUE(std::getline(file, line)) << wanted;
    EXPECT_EQ(line, wanted);
  }
  EXPECT_FALSE(std::getline(file, line)) << "recorded, and not planned any more: " << line;
}

TEST(PlanRecord, Cpu) {
  dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);  // fails where oneDNN was asked something already
  const auto device = registry<DeviceKind>().find("cpu")->open("cpu");
  const int threads = device->limit_threads(2);
  // oneDNN's choices depend on the caches too.
  const std::string setting =
      fmt::format("oneDNN {}, {}, {} threads, caches of {}, {} and {} B", device->info().details.at("onednn"),
                  device->info().details.at("isa"), threads, sysconf(_SC_LEVEL1_DCACHE_SIZE),
                  sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
  compare("cpu", setting, records_on(*device, {Dtype::fp32}));
}

TEST(PlanRecord, T4) {
  ModelledCard card = t4();
  compare("t4", "modelled", records_on(card, {Dtype::fp32, Dtype::fp16}));
}

TEST(PlanRecord, H200) {
  ModelledCard card = h200();
  compare("h200", "modelled", records_on(card, {Dtype::bf16}));
}

}  // namespace
}  // namespace bench::kernels
