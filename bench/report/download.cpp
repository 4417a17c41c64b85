#include "bench/report/download.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/result/result_json.h"

namespace bench::report {
namespace {

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

la_ssize_t append_bytes(archive* /*writer*/, void* text, const void* bytes, std::size_t count) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

// Timings one by one, and what was noted of each; the statistics of each point stay.
Json without_samples(Json json) {
  for (Json& point : json["benchmarks"]) {
    for (const char* const member : {"samples_ns", "rounds", "notes"}) {
      point.erase(member);
    }
  }
  return json;
}

struct EmbeddableResult {
  std::string name;
  std::string plain;  // as measured, JSON
  std::string whole;  // the same compressed
  std::string light;  // without samples, compressed
};

std::size_t size_of(const std::string& bytes) {
  return (bytes.size() + 2) / 3 * 4 + kAroundDownload;
}

// Indices by the size of a form, smallest first.
std::vector<std::size_t> by_size(const std::vector<EmbeddableResult>& all,
                                 std::string EmbeddableResult::*form) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return (all[i].*form).size(); });
  return order;
}

EmbeddableResult candidate_of(const ReportedResult& result, std::set<std::string>& names) {
  std::string name = file_name_of(result.document);
  const std::string stem = name.substr(0, name.size() - std::string_view(".json").size());
  for (int number = 2; !names.insert(name).second; ++number) {
    name = fmt::format("{}-{}.json", stem, number);
  }
  std::string plain = to_text(result.json);
  std::string whole = gzipped(plain);
  return {.name = std::move(name),
          .plain = std::move(plain),
          .whole = std::move(whole),
          .light = gzipped(to_text(without_samples(result.json)))};
}

}  // namespace

std::vector<Download> downloads_of(const std::vector<ReportedResult>& results, std::size_t budget) {
  std::vector<EmbeddableResult> all;
  std::set<std::string> names;
  for (const ReportedResult& result : results) {
    all.push_back(candidate_of(result, names));
  }
  std::vector<Download> downloads;
  for (const EmbeddableResult& candidate : all) {
    downloads.push_back(
        {.name = candidate.name, .href = "", .extent = "left out for its size: keep the file"});
  }
  // First every result without its samples, then the small ones better, as far as there is room.
  struct Form {
    std::string EmbeddableResult::*bytes;
    const char* type;
    const char* ending;
    const char* extent;
  };
  std::vector<std::size_t> taken(all.size(), kAroundDownload);
  std::size_t used = all.size() * kAroundDownload;
  for (const Form& form : {Form{&EmbeddableResult::light, "application/gzip", ".gz",
                                "compressed, and without single timings: bench cannot compare it"},
                           Form{&EmbeddableResult::whole, "application/gzip", ".gz", "compressed"},
                           Form{&EmbeddableResult::plain, "application/json", "", "as measured"}}) {
    for (const std::size_t i : by_size(all, form.bytes)) {
      const std::size_t needed = size_of(all[i].*form.bytes);
      const bool better = !downloads[i].href.empty() || form.bytes == &EmbeddableResult::light;
      if (!better || used - taken[i] + needed > budget) {
        continue;
      }
      used = used - taken[i] + needed;
      taken[i] = needed;
      downloads[i] = {.name = all[i].name + form.ending,
                      .href = fmt::format("data:{};base64,{}", form.type, base64(all[i].*form.bytes)),
                      .extent = form.extent};
    }
  }
  return downloads;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[word >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return text;
}

std::string gzipped(std::string_view bytes) {
  std::string compressed;
  const Archive writer(archive_write_new(), archive_write_free);
  if (!writer || archive_write_add_filter_gzip(writer.get()) != ARCHIVE_OK ||
      archive_write_set_filter_option(writer.get(), "gzip", "timestamp", nullptr) != ARCHIVE_OK ||
      archive_write_set_filter_option(writer.get(), "gzip", "compression-level", "9") != ARCHIVE_OK ||
      archive_write_set_format_raw(writer.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(writer.get(), 1) != ARCHIVE_OK ||
      archive_write_open(writer.get(), &compressed, nullptr, append_bytes, nullptr) != ARCHIVE_OK) {
    throw std::runtime_error("libarchive cannot compress");
  }
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  if (archive_write_header(writer.get(), entry.get()) != ARCHIVE_OK ||
      archive_write_data(writer.get(), bytes.data(), bytes.size()) != static_cast<la_ssize_t>(bytes.size()) ||
      archive_write_close(writer.get()) != ARCHIVE_OK) {
    throw std::runtime_error("libarchive cannot compress");
  }
  return compressed;
}

}  // namespace bench::report
