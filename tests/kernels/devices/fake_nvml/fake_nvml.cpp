// A library with NVML's interface, a card and a laptop's card that tells less, for the code that opens the
// real one.
#include <cstring>

namespace {
int started = 0;
int card = 0;
int laptop = 0;
int newer = 0;  // also tells its power of the moment
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
}  // namespace

extern "C" {

int fake_nvml_started() {
  return started;
}

int nvmlInit_v2() {
  ++started;
  return 0;
}
int nvmlShutdown() {
  --started;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (std::strcmp(id, "0000:01:00.0") == 0) {
    *device = &card;
    return 0;
  }
  if (std::strcmp(id, "0000:05:00.0") == 0) {
    *device = &laptop;
    return 0;
  }
  if (std::strcmp(id, "0000:07:00.0") == 0) {
    *device = &newer;
    return 0;
  }
  return kNotFound;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  if (type == 2) {
    *mhz = 7300;
    return device == &card ? 0 : kNotSupported;
  }
  *mhz = device == &card && type == 1 ? 1807 : 1;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void* /*device*/, int type, unsigned* mhz) {
  *mhz = type == 1 ? 2100 : type == 2 ? 7501 : 1;
  return 0;
}
int nvmlDeviceGetTemperature(void* /*device*/, int sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 61 : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (device == &laptop) {
    return kNotSupported;
  }
  *milliwatts = 151'250;
  return 0;
}
// nvmlFieldValue_t, and the field of the power of the moment.
struct FieldValue {
  unsigned id;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  int status;
  union {
    double real;
    unsigned number;
    long long bits;
  } value;
};
int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].status = device == &newer && values[i].id == 186 && values[i].scope == 0 ? 0 : kNotSupported;
    values[i].type = 1;
    values[i].value.bits = -1;
    values[i].value.number = 321'500;
  }
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void* /*device*/, unsigned* milliwatts) {
  *milliwatts = 170'000;
  return 0;
}
// The name that older drivers have.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* mask) {
  *mask = 0x1 | 0x4 | 0x40;
  return 0;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* /*device*/, unsigned* generation) {
  *generation = 3;
  return 0;
}
int nvmlDeviceGetCurrPcieLinkWidth(void* /*device*/, unsigned* width) {
  *width = 8;
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "535.161.08", length);
  return 0;
}
}
