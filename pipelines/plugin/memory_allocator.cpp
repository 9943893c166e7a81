#include "pipelines/plugin/memory_allocator.h"

namespace equalux::gst {

namespace {

struct ImageMemoryAllocator {
  GstAllocator parent;
  const ImageMemory* memory;
};
struct ImageMemoryAllocatorClass {
  GstAllocatorClass parent_class;
};

G_DEFINE_TYPE(ImageMemoryAllocator, image_memory_allocator, GST_TYPE_ALLOCATOR)

/// Data to release a memory when its last user drops it.
struct Block {
  void* start;
  const ImageMemory* memory;
};

void release_block(gpointer data) {
  const auto* block = static_cast<Block*>(data);
  block->memory->release(block->start);
  delete block;
}

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const ImageMemory* memory = reinterpret_cast<ImageMemoryAllocator*>(allocator)->memory;
  // Alignment of ImageMemory, 64 bytes; GStreamer's own allocator serves requests for more.
  constexpr gsize kAlignment = 63;
  const gsize maxsize = size + params->prefix + params->padding;
  void* start = params->align <= kAlignment ? memory->allocate(maxsize) : nullptr;
  if (start == nullptr) return gst_allocator_alloc(nullptr, size, params);
  // A wrapped memory belongs to GStreamer's own allocator, which maps it as any other.
  return gst_memory_new_wrapped(params->flags, start, maxsize, params->prefix, size,
                                new Block{start, memory}, release_block);
}

void image_memory_allocator_class_init(ImageMemoryAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = allocate;
}

void image_memory_allocator_init(ImageMemoryAllocator* self) {
  self->parent.mem_type = "EqualuxImageMemory";
}

}  // namespace

AllocatorPtr make_allocator(const ImageMemory& memory) {
  gpointer object = g_object_new(image_memory_allocator_get_type(), nullptr);
  gst_object_ref_sink(object);
  static_cast<ImageMemoryAllocator*>(object)->memory = &memory;
  return AllocatorPtr(GST_ALLOCATOR(object));
}

}  // namespace equalux::gst
