#pragma once

#include <pybind11/pybind11.h>

/// Memory of results that nobody has given a place.
namespace equalux::python {

/// Defines the class Pool: take(bytes) gives memory as a buffer, which comes back when the last
/// array in it is gone. Fresh memory of a frame costs as much as filtering it does.
void define_result_memory(pybind11::module_& module);

}  // namespace equalux::python
