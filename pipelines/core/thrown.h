#pragma once

#include <exception>
#include <functional>
#include <string>

#include <equalux/error.h>

/// What a thread threw, on its way to where it is reported. The memory that a message needs may be
/// what is short: then that comes back instead.
namespace equalux {

/// Anything thrown, as an Error: other exceptions get `code` and a name. Memory that is short stays
/// what it is.
[[nodiscard]] std::exception_ptr as_error(std::exception_ptr thrown, ExitCode code,
                                          const std::function<std::string()>& name) noexcept;

/// A failure of a processor before its first result: ProcessorFailed where its device failed.
[[nodiscard]] std::exception_ptr as_processor_failure(std::exception_ptr thrown) noexcept;

/// In words.
[[nodiscard]] std::string message_of(const std::exception_ptr& thrown);

}  // namespace equalux
