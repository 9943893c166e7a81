#include "pipelines/plugin/cuda_backend.h"

#include <utility>
#include <vector>

#include <equalux/device.h>

#include "pipelines/cuda/copy_planes.h"
#include "pipelines/cuda/cuda_processor.h"

namespace equalux::gst {

namespace {

void copy_on_device(const ConstImageView& from, const ImageView& to, void* stream) {
  copy_planes(from, to, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream));
}

void clear_on_device(const ImageView& to, void* stream) {
  clear_planes(to, static_cast<cudaStream_t>(stream));
}

}  // namespace

AreaProcessor make_device_processor(const RecipePtr& recipe, int device, std::size_t depth) {
  const CudaDevice chosen = choose_cuda_device(device);
  // The application may use the same device through its own copy of the library.
  const CudaOptions options{chosen.number, Launches::separate};
  auto area = std::make_unique<AreaFilter>(
      recipe, [options](const FilterRecipe& each) { return each.make(options); },
      LeaveFrame{copy_on_device, clear_on_device});
  AreaProcessor made;
  made.filter = area.get();
  std::vector<std::unique_ptr<Filter>> filters;
  filters.push_back(std::move(area));
  made.processor = make_cuda_processor(std::move(filters), chosen, depth);
  return made;
}

}  // namespace equalux::gst
