#include "python/dlpack_frame.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/options/option_values.h"

namespace py = pybind11;

namespace equalux::python {
namespace {

// Structures of DLPack, version 0, to which a "dltensor" capsule points.
struct Tensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t dimensions;
  std::uint8_t type_code;  ///< 0 signed, 1 unsigned, 2 float
  std::uint8_t type_bits;
  std::uint16_t type_lanes;
  std::int64_t* shape;
  std::int64_t* strides;  ///< counted in elements; null = C order
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* owner;
  void (*release)(ManagedTensor*);
};

/// Array borrowed from its library.
class DlpackFrame {
 public:
  explicit DlpackFrame(const py::object& capsule) {
    if (!PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
      throw_usage("an array gave no DLPack capsule of version 0 that is unused");
    }
    managed_ = static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    // A renamed capsule does not release the tensor: from here this object does.
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  }
  ~DlpackFrame() {
    if (managed_->release != nullptr) managed_->release(managed_);
  }
  DlpackFrame(const DlpackFrame&) = delete;
  DlpackFrame& operator=(const DlpackFrame&) = delete;

  [[nodiscard]] const Tensor& tensor() const { return managed_->tensor; }
  [[nodiscard]] std::uintptr_t address() const {
    return reinterpret_cast<std::uintptr_t>(tensor().data) + tensor().byte_offset;
  }
  [[nodiscard]] py::tuple shape() const {
    py::tuple all(tensor().dimensions);
    for (std::int32_t i = 0; i < tensor().dimensions; ++i)
      all[static_cast<std::size_t>(i)] = tensor().shape[i];
    return all;
  }
  /// Returns the strides in bytes.
  [[nodiscard]] py::tuple strides() const {
    const std::int64_t item = tensor().type_bits / 8;
    py::tuple all(tensor().dimensions);
    std::int64_t tight = item;
    for (std::int32_t i = tensor().dimensions - 1; i >= 0; --i) {
      all[static_cast<std::size_t>(i)] =
          tensor().strides == nullptr ? tight : tensor().strides[i] * item;
      tight *= tensor().shape[i];
    }
    return all;
  }
  /// Returns the type in NumPy's spelling: "|u1", "<u2", "<f4".
  [[nodiscard]] std::string typestr() const {
    static constexpr char kKinds[] = {'i', 'u', 'f'};
    const bool known = tensor().type_code < sizeof kKinds && tensor().type_lanes == 1;
    const int bytes = tensor().type_bits / 8;
    return std::string(bytes == 1 ? "|" : "<") + (known ? kKinds[tensor().type_code] : 'V') +
           std::to_string(bytes);
  }

 private:
  ManagedTensor* managed_;
};

}  // namespace

void define_dlpack_frame(py::module_& module) {
  py::class_<DlpackFrame>(module, "DlpackFrame")
      .def(py::init<const py::object&>())
      .def_property_readonly("address", &DlpackFrame::address)
      .def_property_readonly("shape", &DlpackFrame::shape)
      .def_property_readonly("strides", &DlpackFrame::strides)
      .def_property_readonly("typestr", &DlpackFrame::typestr)
      .def_property_readonly("device", [](const DlpackFrame& frame) {
        return py::make_tuple(frame.tensor().device_type, frame.tensor().device_id);
      });
}

}  // namespace equalux::python
