// A GPU as its maker describes it: an entry of results/gpus.json, or of a file of the user's own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/dtype.h"
#include "bench/json.h"

namespace bench {

// What a card is made for, in the order of lists; a board shares its memory with the host.
inline constexpr std::array<std::string_view, 4> kGpuKinds{"desktop", "workstation", "server", "board"};

struct Gpu {
  struct Bus {  // PCI Express
    int generation = 0;
    int lanes = 0;
    bool peer_access = true;  // false: the driver lets no card reach another's memory over it
  };
  std::string id;                    // "t4"
  std::vector<std::string> aliases;  // other ids
  std::vector<std::string> names;    // that its driver reports
  std::string chip;                  // "TU104"; cards of one chip are a family
  std::string kind;                  // see kGpuKinds; empty: not said
  double process_nm = 0;
  int compute_capability = 0;  // 75 for 7.5
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;   // as sold
  std::int64_t visible_bytes = 0;  // of it that programs see, where error correction takes some; 0: not known
  std::string memory_kind;         // "gddr6"
  std::int64_t l2_bytes = 0;       // 0: not known
  double power_w = 0;
  double bytes_per_s = 0;               // of its memory
  std::map<Dtype, double> flops_per_s;  // dense products, summed in fp32; the dtypes that it has units for
  bool halves_sums = false;             // tensor cores sum in fp32 at half the rate of sums in fp16 (GeForce)
  std::optional<Bus> bus;               // none where its memory is the host's
  // The ids of links.json's NVLinks that join two such cards; nullopt: not known.
  std::optional<std::vector<std::string>> nvlink;
  std::string source;  // of these figures
};

// The name as a person reads it: the first name that its driver reports, without "NVIDIA"; else the id.
std::string display_name(const Gpu& gpu);

// What the driver leaves of its memory for programs and their contexts.
std::int64_t usable_bytes(const Gpu& gpu);

// Over PCI Express, by the names that a driver reports: GeForce cards have had none since the 20 series,
// whose compute capability is 7.5.
bool reaches_peers(const std::vector<std::string>& names, int compute_capability);

// Reads these fields of an entry; "kind", "aliases", "names", "visible_bytes", "l2_bytes", "pcie", "nvlink",
// "source" and "check" need not be there. Throws UsageError naming the field that is missing, of the wrong
// type, or out of the range that GPUs have. "check" holds clocks and units: a rate above their product is an
// error too.
Gpu gpu_from_json(const Json& entry);

// The same fields, for lists and as a result's data sheet.
Json written_value(const Gpu& gpu);

class GpuCatalogue {
 public:
  // The document of results/gpus.json. Throws UsageError.
  explicit GpuCatalogue(const Json& document);
  const std::vector<Gpu>& all() const { return gpus_; }
  // By id or alias, in capitals or not; nullptr where there is none.
  const Gpu* find(std::string_view id) const;
  // By these, or by a name that its driver reports, in any spelling and without the maker: "RTX 3060",
  // "orin nano".
  const Gpu* find_called(std::string_view words) const;
  // The same; throws UsageError naming the option, what was given and the closest ids.
  const Gpu& get(std::string_view option, std::string_view id) const;
  // At most five ids, the nearest first.
  std::vector<std::string> closest(std::string_view given) const;
  // By a name that its driver reports; nullptr where there is none.
  const Gpu* find_name(std::string_view name) const;

 private:
  std::vector<Gpu> gpus_;
};

}  // namespace bench
