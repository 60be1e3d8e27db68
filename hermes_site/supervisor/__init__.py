"""One command that starts, watches and stops every process of an installation.

The supervisor does not import Django, nor what of our apps needs it, so that it starts at once,
stays small and cannot be taken down by what it watches. The processes it runs are the same four
commands that run apart, on many hosts, in production; around them it puts the embedded data plane.
"""
