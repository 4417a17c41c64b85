#include "bench/commands/gpu_list.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/page/csv.h"
#include "bench/page/page.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"
#include "bench/run/gpu_files.h"

namespace bench {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kGibibyte = 1 << 30;

Cell tera(const Gpu& gpu, Dtype dtype) {
  const auto rate = gpu.flops_per_s.find(dtype);
  return rate == gpu.flops_per_s.end() ? Cell() : Cell::number(rate->second / kTera);
}

Cell whole_number(double value) {
  return static_cast<std::int64_t>(std::nearbyint(value));
}

// The steps that were measured on cards of its chip: "fp32, 16-bit".
std::string measured_on(const Gpu& gpu, const ModelCoefficients& coefficients) {
  const bool fp32 = coefficients.fp32.measured_chip(gpu.chip);
  const bool bits16 = coefficients.bits16.measured_chip(gpu.chip);
  return fp32 && bits16 ? "fp32, 16-bit" : fp32 ? "fp32" : bits16 ? "16-bit" : "";
}

using GpuFilter = std::function<bool(const Gpu&)>;

std::vector<Cells> gpu_rows(const std::vector<Gpu>& gpus, const GpuFilter& is_shown) {
  std::vector<Cells> rows{{"id", "name", "GiB", "GB/s", "fp32", "fp16", "W", "chip", "measured on it"}};
  for (const Gpu& gpu : gpus) {
    if (!is_shown(gpu)) {
      continue;
    }
    rows.push_back({gpu.id, gpu.names.empty() ? "" : display_name(gpu),
                    whole_number(static_cast<double>(gpu.memory_bytes) / kGibibyte),
                    whole_number(gpu.bytes_per_s / kGiga), tera(gpu, Dtype::fp32), tera(gpu, Dtype::fp16),
                    whole_number(gpu.power_w), gpu.chip, measured_on(gpu, model_coefficients())});
  }
  return rows;
}

// By Gpu::kind.
constexpr std::array<std::pair<std::string_view, std::string_view>, kGpuKinds.size() + 1> kTitles{
    {{"", ""},
     {"desktop", "Desktops and laptops"},
     {"workstation", "Workstations"},
     {"server", "Servers"},
     {"board", "Boards: the memory is the host's too"}}};

Page gpu_page(const std::vector<Gpu>& gpus) {
  Page page{.title = "GPUs (bench predict --gpu ID, bench --sweep NAME --device ID)"};
  for (const auto& [kind, title] : kTitles) {
    page.table({.title = std::string(title),
                .rows = gpu_rows(gpus, [of = kind](const Gpu& gpu) { return gpu.kind == of; })});
  }
  page.say(
      "fp32, fp16: TFLOP/s of dense products summed in fp32. Measured: the model's coefficients rest on "
      "steps of cards with this chip. A card of your own: --gpu card.json, a file with the fields of an "
      "entry that --list --gpus --format json prints. A catalogue of your own: --gpus FILE.");
  return page;
}

}  // namespace

void print_gpus(std::ostream& out, const std::string& format, std::size_t width) {
  const std::vector<Gpu>& gpus = gpu_catalogue().all();
  out << formatted(format,
                   {.page = [&] { return gpu_page(gpus); },
                    .csv = [&] { return csv_table(gpu_rows(gpus, [](const Gpu&) { return true; })); },
                    .json =
                        [&] {
                          JsonWriter io;
                          io("gpus", gpus);
                          return to_indented_text(io.take());
                        }},
                   width);
}

}  // namespace bench
