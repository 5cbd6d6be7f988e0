package clip_test

import (
	"testing"
	"time"

	"github.com/readthru/readthru/internal/clip"
)

func TestDurationsEndWithAUnitThatCounts(t *testing.T) {
	for text, want := range map[string]string{
		"0s": "0s", "20s": "20s", "1m": "1m", "10m": "10m", "1h": "1h", "20h": "20h", "1h0m5s": "1h0m5s", "1h30m": "1h30m",
		"100h": "100h", "-1h": "-1h", "1500ms": "1.5s", "1m30s": "1m30s",
	} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := clip.Duration(d); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
