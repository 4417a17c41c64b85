#include "sweeps/workers/options.h"

namespace bench::sweeps {

std::vector<CommandOption> workers_command_options() {
  return {
      {"data", "synthetic",
       "images: a folder tree of JPEG files, tar shards, or made once: synthetic, synthetic:heavy (sizes "
       "vary)"},
      {"workers", "auto", "loader threads: 0,1,2,4 or 1:32:x2, up to 1000; 0: the consumer's own thread"},
      {"prefetch", "2", "batches each worker holds ready, up to 64"},
      {"order", "in-order", "in-order (a worker makes a batch), any (workers share its samples), or both"},
      {"consumer", "workload",
       "who takes the batches: a network, a time a step (40ms), or a batch sweep's result"},
      {"element", "dtype", "what a sample is stored in: dtype (that of --dtype, normalised) or uint8"},
      {"layout", "nhwc", "of a batch: nhwc or nchw"},
      {"staging", "auto",
       "host memory of the batches: auto (pinned where a bus is crossed), pinned, pageable"},
      {"nice", "auto",
       "of the workers, 0 to 19: the nicer, the sooner the consumer's thread gets a core when a step ends; "
       "auto: 19, and 0 where the consumer or other programs want the same cores"},
      {.name = "cold",
       .default_value = "no",
       .help = "images read from storage, not from memory",
       .is_switch = true},
      {"storage", "none", "what-if: storage's rate and the latency of a read, such as 200MB/s,5ms"},
      {"demand", "none",
       "what-if: consumers elsewhere, such as t4=1128/s,h200=FILE (a batch sweep's result)"},
      {.name = "simulate",
       .default_value = "no",
       .help = "no measuring: from an earlier result's profile alone",
       .is_switch = true},
      {"profile", "none", "an earlier result file of this sweep, for --simulate"},
      {"cores", "auto", "of the host, for --simulate"},
      {"gpus", "1", "consumers that share the host, for --simulate, up to 64"},
  };
}

}  // namespace bench::sweeps
