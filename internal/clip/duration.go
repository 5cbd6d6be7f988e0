package clip

import (
	"strings"
	"time"
)

// Duration writes a duration as [time.ParseDuration] reads it, without the units at its end that are zero: 1h, not
// 1h0m0s.
func Duration(d time.Duration) string {
	text := strings.Replace(d.String()+" ", "m0s ", "m ", 1)
	return strings.TrimSpace(strings.Replace(text, "h0m ", "h ", 1))
}
