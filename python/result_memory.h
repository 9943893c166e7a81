#pragma once

#include <pybind11/pybind11.h>

/// Memory of results for which the caller gave no array.
namespace equalux::python {

/// Defines the class Pool: take(bytes) returns a buffer, whose memory returns to the pool when the
/// last array in it is gone. Reuse pays: page faults of a new frame cost as much as filtering it.
void define_result_memory(pybind11::module_& module);

}  // namespace equalux::python
