package clip

import (
	"strings"
	"time"
)

// Duration writes a duration as [time.ParseDuration] reads it, without the units at its end that are zero: 1h, not
// 1h0m0s.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
