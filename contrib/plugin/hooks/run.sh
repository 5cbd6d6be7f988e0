#!/bin/sh
# Pass an event to readthru. If readthru is not installed, drop the event, so that the hook never disturbs the agent.
command -v readthru >/dev/null 2>&1 || exit 0
exec readthru hook claude
