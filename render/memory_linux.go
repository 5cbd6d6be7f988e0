package render

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// killLargeRenderers kills the renderer processes of a browser that use more than limit bytes of resident memory, and
// returns their number. browser is the id of its main process, of which they are descendants. Their pages fail; other
// pages go on. Processes that are no renderers are left alone.
func killLargeRenderers(browser int, limit int64) int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	type proc struct {
		parent int
		bytes  int64
	}
	all := map[int]proc{}
	page := int64(os.Getpagesize())
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third field on (proc(5))
		if len(fields) < 22 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		all[pid] = proc{parent, pages * page}
	}
	killed := 0
	for pid, p := range all {
		if p.bytes <= limit || pid == browser {
			continue
		}
		for up := p.parent; up > 1; up = all[up].parent {
			if up != browser {
				continue
			}
			// The command line is read last, and only of a process that is too large.
			if cmd, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil &&
				bytes.Contains(cmd, []byte("--type=renderer")) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
				killed++
			}
			break
		}
	}
	return killed
}
