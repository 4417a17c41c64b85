// A library with the driver's interface, as far as cuDNN 9.19 asks for it: without a card it compiles kernels
// for one, and hands them to this library, which loads nothing and remembers the last kernel's name.
#include <array>
#include <cstdio>

namespace {
int loaded = 0;
std::array<char, 256> last_kernel{};
constexpr int kNotSupported = 801;
}  // namespace

extern "C" {

const char* made_up_driver_last_kernel() {
  return last_kernel.data();
}

int cuGetErrorName(int /*error*/, const char** name) {
  *name = "made up";
  return 0;
}
int cuGetErrorString(int /*error*/, const char** text) {
  *text = "made up";
  return 0;
}
int cuLibraryLoadData(void** library, const void* /*code*/) {
  *library = &loaded;
  return 0;
}
int cuLibraryUnload(void* /*library*/) {
  return 0;
}
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  std::snprintf(last_kernel.data(), last_kernel.size(), "%s", name);
  *kernel = library;
  return 0;
}
int cuKernelSetAttribute(int /*attribute*/, int /*value*/, void* /*kernel*/, int /*device*/) {
  return 0;
}

#define REFUSED(function) \
  int function() {        \
    return kNotSupported; \
  }
REFUSED(cuInit)  // else nvrtc would ask for more
REFUSED(cuDeviceGetCount)
REFUSED(cuDriverGetVersion)
REFUSED(cuCtxGetCurrent)
REFUSED(cuCtxGetLimit)
REFUSED(cuCtxPopCurrent)
REFUSED(cuCtxPushCurrent)
REFUSED(cuDeviceGet)
REFUSED(cuKernelGetAttribute)
REFUSED(cuLaunchCooperativeKernel)
REFUSED(cuLaunchKernel)
REFUSED(cuLaunchKernelEx)
REFUSED(cuLibraryLoadFromFile)
REFUSED(cuLinkAddData)
REFUSED(cuLinkComplete)
REFUSED(cuLinkCreate)
REFUSED(cuLinkDestroy)
REFUSED(cuOccupancyMaxPotentialClusterSize)
REFUSED(cuStreamGetCtx)

}  // extern "C"
