# Tests of how frames move.
equalux_test(bounded_queue LABELS core tsan LIBRARIES equalux_pipelines)
equalux_test(frame_pool LABELS core tsan LIBRARIES equalux_pipelines)
equalux_test(processor LABELS core tsan LIBRARIES equalux_pipelines)
equalux_test(engine LABELS core tsan LIBRARIES equalux_pipelines)
