// The cards' and links' data sheets and the model's coefficients, which are compiled into the program, and
// cards of files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/json.h"
#include "bench/model/coefficients.h"
#include "bench/model/gpu.h"
#include "bench/model/links.h"

namespace bench {

// results/gpus.json, or the file in its place; results/calibration.json and results/links.json. Read when
// they are first asked for.
const Json& gpu_data_sheets();
const GpuCatalogue& gpu_catalogue();
std::vector<std::string> gpu_ids();  // of all its entries
const ModelCoefficients& model_coefficients();
// The cards that results/calibration.json names: those compiled in, also where a file is in their place.
const GpuCatalogue& calibration_gpus();
const LinkCatalogue& link_catalogue();

// The cards of a file, which has what results/gpus.json has, in place of those compiled in: before anything
// else asks for them. Throws UsageError naming the option and the file.
void use_gpu_catalogue(std::string_view option, const std::string& path);

// Whether the text names a card's own file: it ends in ".json".
bool is_gpu_file(std::string_view text);
// Whether gpu_named() would look for a card of this name: a file's, or an id or alias of the catalogue.
bool names_gpu(const std::string& id_or_file);
// One card as a JSON file describes it, with the fields of an entry of results/gpus.json. Throws UsageError
// naming the option and the file.
Gpu gpu_from_file(std::string_view option, const std::string& path);
// A card of the catalogue by id or alias, or of a file. Throws UsageError naming the option.
Gpu gpu_named(std::string_view option, const std::string& id_or_file);
// That card's id; the word itself where it names none.
std::string gpu_id_of(std::string_view option, const std::string& word);
// Of a list such as "t4,card.json", each once, or "all". Throws UsageError naming the option.
std::vector<Gpu> gpus_in_list(std::string_view option, const std::string& list);

}  // namespace bench
