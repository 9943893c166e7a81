#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "src/cli/stream/io_factory.h"

/// Cameras, their modes and their own controls, for `equalux devices`.
namespace equalux::cli {

/// An array of {"input","node","name","captures","trouble","chosen","why","modes","controls"}; the
/// last four where the camera captures. `wanted` holds the size and rate that a run would ask for.
[[nodiscard]] nlohmann::ordered_json camera_list(const InputOptions& wanted);

/// One of them as lines of text.
[[nodiscard]] std::string camera_lines(const nlohmann::ordered_json& camera);

}  // namespace equalux::cli
