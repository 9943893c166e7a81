#pragma once

#include <pybind11/pybind11.h>

/// Access to other libraries' arrays through DLPack, without a copy.
namespace equalux::python {

/// Defines the class DlpackFrame. It takes the capsule of `__dlpack__()`, gives address, shape,
/// strides and type of the array, and releases the array at its destruction. Throws Error(usage)
/// for any other object.
void define_dlpack_frame(pybind11::module_& module);

}  // namespace equalux::python
