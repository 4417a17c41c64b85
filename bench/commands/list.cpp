#include "bench/commands/list.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/setup.h"
#include "bench/device.h"
#include "bench/dtype.h"
#include "bench/generate/catalogue.h"
#include "bench/host/compiled_plans_folder.h"
#include "bench/modelled.h"
#include "bench/page/csv.h"
#include "bench/page/page.h"
#include "bench/registry.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"
#include "bench/run/gpu_files.h"
#include "bench/run/history.h"
#include "bench/sweep.h"
#include "bench/text/lines.h"
#include "bench/text/quote.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

constexpr const char* kLanguageModel = "llama3.1_8b";  // one of them, for an example

struct Listed {
  std::string kind;  // "sweep", "workload", "workload file", "device"
  std::string name;
  std::string text;
};

// "fp32, bf16": those that the device computes in.
std::string dtypes_of(const Device& device) {
  std::vector<std::string_view> dtypes;
  for (const Dtype dtype : kAllDtypes) {
    if (!device.unsupported(dtype)) {
      dtypes.push_back(name_of(dtype));
    }
  }
  return fmt::format("{}", fmt::join(dtypes, ", "));
}

std::string device_in_words(const DeviceKind& kind, const DeviceKind::Listing& listing) {
  if (!listing.missing.empty()) {
    return fmt::format("not usable: {}", listing.missing);
  }
  try {
    return fmt::format("{}; {}", listing.description, dtypes_of(*kind.open(listing.id)));
  } catch (const std::exception& error) {  // such as a card that another process has to itself
    return fmt::format("{}; not usable: {}", listing.description, error.what());
  }
}

std::vector<Listed> all_listed() {
  std::vector<Listed> all;
  for (const auto& sweep : registry<SweepType>().entries()) {
    all.push_back({"sweep", sweep->name, sweep->question});
  }
  for (const auto& type : registry<WorkloadType>().entries()) {
    all.push_back({"workload", type->name, type->description});
  }
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    all.push_back({"workload file", fmt::format("--{} FILE", reader->name), reader->description});
  }
  for (const auto& kind : registry<DeviceKind>().entries()) {
    for (const DeviceKind::Listing& listing : kind->list()) {
      all.push_back({"device", listing.id, device_in_words(*kind, listing)});
    }
  }
  for (const auto& kind : registry<ModelledDevices>().entries()) {
    all.push_back({"device", "t4, …", kind->description()});
  }
  return all;
}

std::optional<std::filesystem::path> plans_folder(const std::optional<std::filesystem::path>& choices) {
  return choices ? std::optional(compiled_plans_folder(*choices)) : std::nullopt;
}

void print_place(std::ostream& out, std::string_view what, const std::optional<std::filesystem::path>& file,
                 std::size_t width) {
  if (!file) {
    out << wrap(
        fmt::format("{} not kept; neither XDG_CACHE_HOME nor HOME names a folder that can be written", what),
        width, 2);
    return;
  }
  out << wrap_with_whole(what, printable_path(*file), "", width);
}

Page list_page() {
  TextTable sweeps{.title = "Sweeps (--sweep NAME; bench --sweep NAME --help)",
                   .rows = {{"name", "question"}}};
  TextTable workloads{.title = "Workloads (--workload NAME; bench --workload NAME --help)",
                      .rows = {{"name", "what it is"}}};
  TextTable devices{.title = "Devices (--device ID)", .rows = {{"id", "what it is"}}};
  for (const Listed& one : all_listed()) {
    TextTable& table = one.kind == "sweep" ? sweeps : one.kind == "device" ? devices : workloads;
    table.rows.push_back({one.name, one.text});
  }
  workloads.rows.push_back({fmt::format("{}, …", kLanguageModel),
                            fmt::format("{} language models, predicted: bench predict --workload {} --help",
                                        language_models().ids().size(), kLanguageModel)});
  Page page;
  for (TextTable* const table : {&sweeps, &workloads, &devices}) {
    page.table(std::move(*table));
  }
  return page;
}

// Paths stay whole, to be copied.
void print_places(std::ostream& out, const std::optional<std::filesystem::path>& choices, std::size_t width) {
  out << "\n";
  print_place(out, "Autotuned choices (--no-cache):", choices, width);
  print_place(out, "Compiled plans (--no-cache):", plans_folder(choices), width);
  print_place(out, "History of runs (--no-cache):", history_file(), width);
}

std::vector<Cells> list_rows() {
  std::vector<Cells> rows{{"kind", "name", "description"}};
  for (const Listed& one : all_listed()) {
    rows.push_back({one.kind, one.name, one.text});
  }
  return rows;
}

std::vector<Gpu> gpus_not_here() {
  return registry<ModelledDevices>().entries().empty() ? std::vector<Gpu>{} : gpu_catalogue().all();
}

std::string list_json(const std::optional<std::filesystem::path>& choices) {
  std::vector<DeviceKind::Listing> devices;
  for (const auto& kind : registry<DeviceKind>().entries()) {
    std::ranges::move(kind->list(), std::back_inserter(devices));
  }
  JsonWriter io;
  io.list("sweeps", registry<SweepType>().entries(), [](JsonWriter& one, const auto& sweep) {
    one("name", sweep->name);
    one("question", sweep->question);
  });
  io.list("workloads", registry<WorkloadType>().entries(), [](JsonWriter& one, const auto& type) {
    one("name", type->name);
    one("description", type->description);
    one("modes", type->modes);
  });
  io.list("workload_files", registry<WorkloadReader>().entries(), [](JsonWriter& one, const auto& reader) {
    one("option", reader->name);
    one("description", reader->description);
  });
  io.list("devices", devices, [](JsonWriter& one, const DeviceKind::Listing& listing) {
    one("id", listing.id);
    one("description", listing.description);
    one.null_if_empty("missing", listing.missing);
  });
  io.list("modelled_devices", gpus_not_here(), [](JsonWriter& one, const Gpu& gpu) {
    one("id", gpu.id);
    one("name", display_name(gpu));
  });
  io("autotuned_choices", choices);
  io("compiled_plans", plans_folder(choices));
  io("history", history_file());
  return to_indented_text(io.take());
}

}  // namespace

void print_list(std::ostream& out, const std::string& format, std::size_t width) {
  const auto choices = choices_file();
  out << formatted(format,
                   {.page = list_page,
                    .csv = [] { return csv_table(list_rows()); },
                    .json = [&] { return list_json(choices); }},
                   width);
  if (format.empty() || format == "text") {
    print_places(out, choices, width);
  }
}

}  // namespace bench
