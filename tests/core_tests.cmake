# Tests of src/.
equalux_test(params LABELS core)
equalux_test(image LABELS core)
equalux_test(tone_curve LABELS core)
equalux_test(cdf_scan LABELS core)
equalux_test(stages LABELS core)
equalux_test(staged_chain LABELS core tsan)
equalux_test(fused_chain LABELS core tsan)
equalux_test(parallel LABELS core tsan)
