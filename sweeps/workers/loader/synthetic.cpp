#include "sweeps/workers/loader/synthetic.h"

#include <sys/file.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <numbers>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/file_descriptor.h"
#include "bench/host/host_info.h"
#include "bench/host/left_over.h"
#include "bench/host/private_folder.h"
#include "bench/host/temporary_file.h"
#include "bench/host/user_folders.h"
#include "bench/stats/random.h"
#include "bench/stats/rounds.h"
#include "bench/text/quote.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;

constexpr int kImages = 256;
constexpr int kVersion = 1;  // counts up when the pictures change: old sets stay what they are
constexpr std::uint64_t kSeed = 20'240'517;
constexpr int kQuality = 95;
constexpr double kHeavyDeviation = 1;  // of the logarithm of the pixels: their cv is 1.3

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw UsageError(
      fmt::format("--data: {} cannot be written ({}); give synthetic images another folder by XDG_CACHE_HOME",
                  quote(path.string()), why));
}

// Held by one process at a time, also where one is killed. Its file goes with it.
class Lock {
 public:
  // Asks again and again, so that `progress` can end the wait.
  Lock(fs::path path, const ProgressCallback& progress, const Clock& clock) : path_(std::move(path)) {
    while (!file_.is_open()) {
      FileDescriptor file = open_lock(path_);
      if (file.is_open() && flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
        // The holder before may have removed it meanwhile.
        if (still_names(path_.c_str(), file.get())) {
          file_ = std::move(file);
        }
        continue;
      }
      if (!file.is_open() || (errno != EWOULDBLOCK && errno != EINTR)) {
        refuse(path_, std::generic_category().message(errno));
      }
      if (progress) {
        progress("waiting for another process that makes the synthetic images", 0);
      }
      clock.sleep_until(clock.now() + std::chrono::milliseconds(100));
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
  FileDescriptor file_{-1};
};

bool complete(const fs::path& folder, int images) {
  std::error_code error;
  int found = 0;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    found += entry->path().extension() == ".jpg" ? 1 : 0;
  }
  return found == images;
}

// Of images that are being made, by the process that has the lock.
constexpr const char* kPartial = ".partial";

// Removed at the end, unless it was renamed: the disk may be full.
class PartialFolder {
 public:
  explicit PartialFolder(fs::path path) : path_(std::move(path)) { fs::create_directory(path_); }
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;
  ~PartialFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// What processes left that were killed, of whatever size and version.
void remove_partial(const fs::path& cache) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(cache)) {
    const fs::path& path = entry.path();
    if (path.extension() == kPartial && path.filename().string().starts_with("synthetic-")) {
      found.push_back(path);
    }
  }
  for (const fs::path& path : found) {
    fs::remove_all(path);
  }
}

// The standard normal distribution's: from how many deviations on less than that part lies below.
double normal_quantile(double part) {
  double low = -9;
  double high = 9;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < part ? low : high) = middle;
  }
  return low;
}

void make_image(const fs::path& folder, int image, int images, SyntheticSizes sizes) {
  const double area = sizes == SyntheticSizes::heavy ? heavy_area(image, images) : 1;
  const auto encoded =
      encoded_jpeg(synthetic_image(stream_seed(kSeed, static_cast<std::uint64_t>(image)), area), kQuality);
  const fs::path path = folder / fmt::format("{:04}.jpg", image);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(encoded.data()), static_cast<std::streamsize>(encoded.size()));
  file.close();
  if (!file) {
    refuse(path, "the disk may be full");
  }
}

// A thread a core; the calling one tells the progress, and where that throws the others stop as well.
void make(const fs::path& folder, int images, const ProgressCallback& progress, SyntheticSizes sizes) {
  std::atomic<int> next = 0;
  const auto make_next = [&] {
    const int image = next++;
    if (image < images) {
      make_image(folder, image, images, sizes);
    }
    return image < images;
  };
  std::vector<std::future<void>> helpers;
  for (int i = 1; i < std::min(images, host_info().usable_cores); ++i) {
    helpers.push_back(std::async(std::launch::async, [&] {
      while (make_next()) {
      }
    }));
  }
  const auto tell = [&](int made) {
    if (progress) {
      progress("making synthetic images", static_cast<double>(made) / images);
    }
  };
  try {
    for (int at = next; at < images; at = next) {
      tell(at);
      make_next();
    }
  } catch (...) {
    next = images;
    throw;
  }
  for (std::future<void>& helper : helpers) {
    helper.get();
  }
  tell(images);
}

}  // namespace

double heavy_area(int image, int images) {
  const auto places = shuffled_round(static_cast<std::size_t>(images), kSeed, 0x4EA71);
  const double part = (static_cast<double>(places.at(static_cast<std::size_t>(image))) + 0.5) / images;
  return std::exp(kHeavyDeviation * (normal_quantile(part) - kHeavyDeviation / 2));
}

fs::path synthetic_folder(const fs::path& cache, int images, const ProgressCallback& progress,
                          SyntheticSizes sizes, const Clock& clock) {
  const fs::path folder =
      cache /
      fmt::format("synthetic-{}v{}-{}", sizes == SyntheticSizes::heavy ? "heavy-" : "", kVersion, images);
  if (complete(folder, images)) {
    return folder;
  }
  try {
    fs::create_directories(cache);
    const Lock lock(cache / "synthetic.lock", progress, clock);
    if (complete(folder, images)) {
      return folder;  // made while this process waited
    }
    remove_partial(cache);
    fs::remove_all(folder);
    const PartialFolder partial(fs::path(folder) += kPartial);
    make(partial.path(), images, progress, sizes);
    fs::rename(partial.path(), folder);
  } catch (const fs::filesystem_error& error) {
    refuse(error.path1(), error.code().message());
  }
  return folder;
}

fs::path synthetic_folder(const ProgressCallback& progress, SyntheticSizes sizes, const Clock& clock) {
  if (const std::optional<fs::path> cache = cache_folder()) {
    return synthetic_folder(*cache, kImages, progress, sizes, clock);
  }
  try {
    static const PrivateFolder of_this_run;
    return synthetic_folder(of_this_run.path(), kImages, progress, sizes, clock);
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format(
        "--data: there is no folder for synthetic images ({}); set XDG_CACHE_HOME, HOME or TMPDIR to one "
        "that can be written",
        error.code().message()));
  }
}

}  // namespace bench::loader
