#include "pipelines/core/run.h"

#include "pipelines/core/engine.h"

namespace equalux {

RunResult run(Source& source, Processor& processor, Sink& sink, const RunOptions& options,
              const StopToken& stop) {
  return Engine(source, processor, sink, options, stop).run();
}

}  // namespace equalux
