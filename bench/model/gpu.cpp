#include "bench/model/gpu.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"
#include "bench/text/letters.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

// Cards and their successors lie within; a slip of a unit is a thousandfold.
struct Range {
  double low;
  double high;
  std::string_view unit;
};
constexpr Range kProcess{2, 100, "nm"};
constexpr Range kMemory{1LL << 28, 1LL << 42, "bytes"};
constexpr Range kCache{1 << 16, 1LL << 32, "bytes"};
constexpr Range kPower{5, 5000, "W"};
constexpr Range kBandwidth{1e10, 1e14, "bytes a second"};
constexpr Range kRate{1e11, 1e17, "FLOP a second"};
constexpr Range kCapability{20, 400, "86 for 8.6"};
constexpr Range kMultiprocessors{1, 2000, "multiprocessors"};
constexpr Range kPcieGeneration{1, 9, "a generation"};
constexpr Range kPcieLanes{1, 32, "lanes"};
constexpr Range kPerClock{1, 1e6, "FLOP a clock and multiprocessor"};
constexpr Range kClock{1e8, 1e10, "Hz"};
constexpr Range kBits{32, 65536, "bits"};
constexpr Range kPin{1e8, 1e12, "bits a second and pin"};

// Published figures are rounded to two or three digits.
constexpr double kRounding = 1.02;

double number_in(const Range& range, const Field& field) {
  const double value = field.number();
  if (!(value >= range.low && value <= range.high)) {
    throw UsageError(fmt::format("{} is {}; accepted: {:g} to {:g} ({})", field.path(), field.json().dump(),
                                 range.low, range.high, range.unit));
  }
  return value;
}

template <const Range* range>
void in(const Field& field) {
  number_in(*range, field);
}

void is_text(const Field& field) {
  constexpr std::size_t kLongest = 100;
  const std::string text = field.string();
  if (text.empty()) {
    throw UsageError(fmt::format("{} is empty; a text is expected", field.path()));
  }
  if (printable(text, kLongest) != text) {
    throw UsageError(fmt::format("{} is {}; accepted: one printable line of up to {} characters",
                                 field.path(), quote(text), kLongest));
  }
}

void are_texts(const Field& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    is_text(list.at(i));
  }
}

// Part of files' names and of the value of --price.
void is_id(const Field& field) {
  constexpr std::size_t kLongest = 40;
  is_text(field);
  const std::string id = field.string();
  const bool is_plain = std::ranges::all_of(
      id, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
  if (!is_plain || id.size() > kLongest) {
    throw UsageError(fmt::format("{} is {}; accepted: up to {} letters, digits, '-', '_' and '.'",
                                 field.path(), quote(id), kLongest));
  }
}

Dtype dtype_named(const Field& field, const std::string& name) {
  const std::optional<Dtype> dtype = parse_dtype(name);
  if (!dtype) {
    throw UsageError(fmt::format("{} is no dtype; accepted: fp32, tf32, fp16, bf16", field.path()));
  }
  return *dtype;
}

std::map<Dtype, double> rates_in(const Field& field) {
  std::map<Dtype, double> rates;
  field.for_each([&](const std::string& name, const Field& rate) {
    rates[dtype_named(rate, name)] = number_in(kRate, rate);
  });
  return rates;
}

void has_fp32(const Field& rates) {
  if (!rates.has(name_of(Dtype::fp32))) {
    throw UsageError(fmt::format("{} has no fp32; every GPU computes it", rates.path()));
  }
}

void is_memory_kind(const Field& field) {
  const std::string kind = field.string();
  constexpr std::array<std::string_view, 4> kKinds{"hbm", "gddr", "lpddr", "ddr"};
  if (std::ranges::none_of(kKinds, [&](std::string_view known) { return kind.starts_with(known); })) {
    throw UsageError(fmt::format("{} is {}; accepted: hbm2, gddr6, lpddr5 and others of these kinds",
                                 field.path(), quote(kind)));
  }
}

void is_kind(const Field& field) {
  const std::string kind = field.string();
  if (std::ranges::find(kGpuKinds, kind) == kGpuKinds.end()) {
    throw UsageError(
        fmt::format("{} is {}; accepted: {}", field.path(), quote(kind), fmt::join(kGpuKinds, ", ")));
  }
}

// Of products summed in 16 bits.
constexpr const char* kNarrowSums = "flops_per_s_16bit_sum";

// Rates that exceed clocks times units.
void check_rates(const Gpu& gpu, const Field& entry, const Field& check) {
  const double clock = number_in(kClock, check.at("hz"));
  const auto tensor = check.find("tensor_hz");
  const double tensor_clock = tensor ? number_in(kClock, *tensor) : clock;
  const auto check_against = [&](const Field& rates, const Field& per_clock) {
    for (const auto& [dtype, rate] : rates_in(rates)) {
      const double units = number_in(kPerClock, per_clock.at(name_of(dtype)));
      const double most = gpu.multiprocessors * units * (dtype == Dtype::fp32 ? clock : tensor_clock);
      if (rate > most * kRounding) {
        throw UsageError(fmt::format(
            "{} is {:.3g}, above what its clock and units allow: {} multiprocessors · {} · {:.4g} Hz = "
            "{:.3g} FLOP/s",
            rates.at(name_of(dtype)).path(), rate, gpu.multiprocessors, units,
            dtype == Dtype::fp32 ? clock : tensor_clock, most));
      }
    }
  };
  check_against(entry.at("flops_per_s"), check.at("flops_per_clock"));
  if (const auto narrow = entry.find(kNarrowSums)) {
    check_against(*narrow, check.at("flops_per_clock_16bit_sum"));
  }
  if (const auto bits = check.find("bus_bits")) {
    const double most = number_in(kBits, *bits) * number_in(kPin, check.at("bits_per_s_per_pin")) / 8;
    if (gpu.bytes_per_s > most * kRounding) {
      throw UsageError(fmt::format("{} is {:.3g}, above what its bus allows: {:.3g} bytes a second",
                                   entry.at("bytes_per_s").path(), gpu.bytes_per_s, most));
    }
  }
}

}  // namespace

void read_value(const Field& field, std::map<Dtype, double>& rates) {
  rates = rates_in(field);
}

void members(auto& io, Of<Gpu::Bus> auto& bus) {
  io("generation", bus.generation);
  io("lanes", bus.lanes);
  io.unless(true, "peer_access", bus.peer_access);
}

void members(auto& io, Of<Gpu> auto& gpu) {
  io("id", gpu.id);
  io.maybe("aliases", gpu.aliases);
  io.maybe("names", gpu.names);
  io("chip", gpu.chip);
  io("process_nm", gpu.process_nm);
  io("compute_capability", gpu.compute_capability);
  io("multiprocessors", gpu.multiprocessors);
  io("memory_bytes", gpu.memory_bytes);
  io("memory_kind", gpu.memory_kind);
  io("power_w", gpu.power_w);
  io("bytes_per_s", gpu.bytes_per_s);
  io("flops_per_s", gpu.flops_per_s);
  io.unless_empty("kind", gpu.kind);
  io.optional("nvlink", gpu.nvlink);
  io.unless_empty("visible_bytes", gpu.visible_bytes);
  io.unless_empty("l2_bytes", gpu.l2_bytes);
  io.optional("pcie", gpu.bus);
  io.maybe("source", gpu.source);
}

namespace {

// Of members that may be missing, too.
constexpr std::array<std::pair<std::string_view, void (*)(const Field&)>, 15> kChecks{
    {{"id", is_id},
     {"aliases", are_texts},
     {"names", are_texts},
     {"chip", is_text},
     {"process_nm", in<&kProcess>},
     {"compute_capability", in<&kCapability>},
     {"multiprocessors", in<&kMultiprocessors>},
     {"memory_bytes", in<&kMemory>},
     {"memory_kind", is_memory_kind},
     {"power_w", in<&kPower>},
     {"bytes_per_s", in<&kBandwidth>},
     {"flops_per_s", has_fp32},
     {"kind", is_kind},
     {"nvlink", are_texts},
     {"l2_bytes", in<&kCache>}}};

Gpu read_gpu(const Field& entry) {
  auto gpu = read_struct<Gpu>(entry);
  for (const auto& [key, check] : kChecks) {
    if (const auto field = entry.find(key)) {
      check(*field);
    }
  }
  if (const auto bus = entry.find("pcie")) {
    number_in(kPcieGeneration, bus->at("generation"));
    number_in(kPcieLanes, bus->at("lanes"));
  }
  if (const auto narrow = entry.find(kNarrowSums)) {
    constexpr double kClearlyMore = 1.5;
    const std::map<Dtype, double> rates = rates_in(*narrow);
    const auto summed_narrow = rates.find(Dtype::fp16);
    const auto summed_wide = gpu.flops_per_s.find(Dtype::fp16);
    gpu.halves_sums = summed_narrow != rates.end() && summed_wide != gpu.flops_per_s.end() &&
                      summed_narrow->second > kClearlyMore * summed_wide->second;
  }
  if (const auto visible = entry.find("visible_bytes")) {
    number_in(Range{kMemory.low, static_cast<double>(gpu.memory_bytes), kMemory.unit}, *visible);
  }
  if (const auto bus = entry.find("pcie"); bus && !bus->has("peer_access")) {
    gpu.bus->peer_access = reaches_peers(gpu.names, gpu.compute_capability);
  }
  if (const auto check = entry.find("check")) {
    check_rates(gpu, entry, *check);
  }
  return gpu;
}

std::string lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// Letters and digits alone: "RTX 3060 Ti" is "rtx3060ti".
// Without its maker and line: "NVIDIA GeForce RTX 3060" is "3060".
std::string bare_name(std::string_view name) {
  std::string bare = letters(name);
  for (const std::string_view word : {"nvidia", "geforce", "tesla", "rtx", "gtx"}) {
    if (bare.starts_with(word)) {
      bare.erase(0, word.size());
    }
  }
  return bare;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Drivers write the socket's generation, people do not: "A100-SXM4-40GB" is "a100-sxm-40gb".
std::string without_socket_generation(std::string_view name) {
  constexpr std::string_view kSocket = "sxm";
  std::string text = lower(name);
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  if (const std::size_t at = text.find(kSocket); at != std::string::npos) {
    const std::size_t generation = at + kSocket.size();
    if (is_digit(generation) && !is_digit(generation + 1)) {
      text.erase(generation, 1);
    }
  }
  return text;
}

// What comes before memory and form: "h100" of "h100-80gb", "3060" of "GeForce RTX 3060 24GB".
std::string model_name(std::string_view name) {
  constexpr std::string_view kBetween = " -_";
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of(kBetween), name.size());
    if (std::string model = bare_name(name.substr(0, end)); !model.empty()) {
      return model;
    }
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return {};
}

}  // namespace

std::string display_name(const Gpu& gpu) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (gpu.names.empty()) {
    return gpu.id;
  }
  const std::string& name = gpu.names.front();
  return name.starts_with(kMaker) ? name.substr(kMaker.size()) : name;
}

bool reaches_peers(const std::vector<std::string>& names, int compute_capability) {
  constexpr int kTuring = 75;
  return compute_capability < kTuring ||
         std::ranges::none_of(names, [](const std::string& name) { return contains(name, "GeForce"); });
}

Gpu gpu_from_json(const Json& entry) {
  return read_gpu(Field(entry));
}

std::int64_t usable_bytes(const Gpu& gpu) {
  constexpr std::int64_t kReserved = std::int64_t{308} << 20;  // by the driver, of the 24 GiB of an RTX 3090
  return gpu.visible_bytes > 0 ? gpu.visible_bytes : std::max<std::int64_t>(gpu.memory_bytes - kReserved, 0);
}

Json written_value(const Gpu& gpu) {
  return write_struct(gpu);
}

GpuCatalogue::GpuCatalogue(const Json& document) {
  const Field root(document);
  const Field gpus = root.at("gpus");
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Field entry = gpus.at(i);
    Gpu gpu = read_gpu(entry);
    if (find(gpu.id) != nullptr) {
      throw UsageError(fmt::format("{}.id is {}, which another card has", entry.path(), gpu.id));
    }
    gpus_.push_back(std::move(gpu));
  }
  if (gpus_.empty()) {
    throw UsageError("gpus is empty");
  }
}

const Gpu* GpuCatalogue::find(std::string_view id) const {
  const std::string wanted = lower(id);
  const auto found = std::ranges::find_if(gpus_, [&](const Gpu& gpu) {
    return lower(gpu.id) == wanted || std::ranges::find(gpu.aliases, wanted) != gpu.aliases.end();
  });
  return found == gpus_.end() ? nullptr : &*found;
}

const Gpu* GpuCatalogue::find_called(std::string_view words) const {
  if (const Gpu* const gpu = find(words)) {
    return gpu;
  }
  const std::string wanted = bare_name(words);
  const std::string wanted_socket = bare_name(without_socket_generation(words));
  const auto is_wanted = [&](const std::string& name) {
    return bare_name(name) == wanted || bare_name(without_socket_generation(name)) == wanted_socket;
  };
  const auto found = std::ranges::find_if(gpus_, [&](const Gpu& gpu) {
    return is_wanted(gpu.id) || std::ranges::any_of(gpu.aliases, is_wanted) ||
           std::ranges::any_of(gpu.names, is_wanted);
  });
  return found == gpus_.end() ? nullptr : &*found;
}

// Those that begin with what was given, those that hold it or are of its model, those that differ by slips.
std::vector<std::string> GpuCatalogue::closest(std::string_view given) const {
  constexpr std::size_t kMost = 5;
  constexpr std::size_t kLongest = 60;
  constexpr std::size_t kNext = 100;  // more than any distance
  const std::string wanted = bare_name(given.substr(0, kLongest));
  const std::string model = model_name(given.substr(0, kLongest));
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const Gpu& gpu : gpus_) {
    const std::string id = bare_name(gpu.id);
    const bool is_part =
        !wanted.empty() && (contains(id, wanted) || contains(wanted, id) || model_name(gpu.id) == model);
    const bool begins = is_part && id.starts_with(wanted);
    ranked.emplace_back(edit_distance(wanted, id) + kNext * (begins ? 0 : is_part ? 1 : 2), gpu.id);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < std::min(kMost, ranked.size()); ++i) {
    ids.push_back(ranked[i].second);
  }
  return ids;
}

const Gpu& GpuCatalogue::get(std::string_view option, std::string_view id) const {
  const Gpu* const found = find_called(id);
  if (found == nullptr) {
    const std::vector<std::string> ids = closest(id);
    throw UsageError(fmt::format("{}: there is no card {}; the closest {} {} (all: bench --list --gpus)",
                                 option, quote(id), ids.size() == 1 ? "is" : "are", fmt::join(ids, ", ")));
  }
  return *found;
}

const Gpu* GpuCatalogue::find_name(std::string_view name) const {
  const auto found = std::ranges::find_if(
      gpus_, [&](const Gpu& gpu) { return std::ranges::find(gpu.names, name) != gpu.names.end(); });
  return found == gpus_.end() ? nullptr : &*found;
}

}  // namespace bench
