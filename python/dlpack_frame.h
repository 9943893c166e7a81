#pragma once

#include <pybind11/pybind11.h>

/// Arrays of other libraries by DLPack, without a copy.
namespace equalux::python {

/// Defines the class DlpackFrame: made of the capsule that `__dlpack__()` gives, it tells where the
/// array lies, and gives it back when it is gone. Throws Error(usage) for what is no such capsule.
void define_dlpack_frame(pybind11::module_& module);

}  // namespace equalux::python
