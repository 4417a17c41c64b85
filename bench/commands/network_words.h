// The network that a command's words name, and the options of networks among them: shared by the commands
// that take a network.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/command.h"
#include "bench/device.h"
#include "bench/dtype.h"
#include "bench/page/page.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {

bool is_network(const WorkloadType& type);
std::vector<std::string> network_names();
// Ids of --gpu, and "all".
std::vector<std::string> gpus_to_predict();

// Of every network, each once; without a default where theirs differ.
std::vector<CommandOption> network_options();
// The same, and before them those of reading files, as a command's.
std::vector<Option> network_arguments();

// The words' options of reading a file. Throws UsageError from refuse_reading_options() if there are any.
std::map<std::string, std::string> reading_options(const CommandWords& words, const WorkloadReader& reader);
void refuse_reading_options(const CommandWords& words, const std::string& network);

// Throws UsageError for an option that the network does not have, or of a mode that is not among these.
void check_network_options(const CommandWords& words, const WorkloadType& type,
                           const std::vector<std::string>& modes);
// With the mode's options: those given, and defaults.
WorkloadSpec network_spec(const CommandWords& words, const WorkloadType& type, const std::string& mode,
                          Dtype dtype, std::int64_t batch);

// Of the memory of training a file whose exporter may have folded its batch norms: whether it counts them.
// Empty for other workloads.
std::string folded_norms_in_words(const ConfiguredWorkload& workload, const std::string& mode,
                                  const Device& device);

// Whether plans of this device count the driver's context, as those of PyTorch on a GPU that is not here do.
bool counts_context(const Device& device);
// Of a table of such plans by category.
void name_context(TextTable& table);

}  // namespace bench
