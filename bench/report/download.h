// Results within a page, as data: links to download: whole where they fit, else compressed, else without
// their samples.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report/report.h"

namespace bench::report {

struct Download {
  std::string name;    // of the file: "batch-resnet50-cpu.json", and with ".gz" where it is compressed
  std::string href;    // "data:…;base64,…"; empty where there was no room
  std::string extent;  // "as measured", "without its samples: …", "left out: …"
};

// Bytes of the page that a download takes besides its data.
inline constexpr std::size_t kAroundDownload = 400;

// One for each result, of at most `budget` bytes in all.
std::vector<Download> downloads_of(const std::vector<ReportedResult>& results, std::size_t budget);

std::string base64(std::string_view bytes);
// By gzip, without a date. Throws std::runtime_error.
std::string gzipped(std::string_view bytes);

}  // namespace bench::report
