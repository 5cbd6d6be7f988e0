package httpfield_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
		ok          bool
	}{
		{"absent", "", 0, false},
		{"seconds", "7", 7 * time.Second, true},
		{"zero", "0", 0, true},
		{"over the limit", "7200", time.Hour, true},
		{"more than 31 bits", "4294967296", time.Hour, true},
		{"more than 64 bits", "99999999999999999999", time.Hour, true},
		{"negative", "-1", 0, false},
		{"signed", "+1", 0, false},
		{"fraction", "1.5", 0, false},
		{"date", now.Add(time.Minute).Format(http.TimeFormat), time.Minute, true},
		{"date in the past", now.Add(-time.Minute).Format(http.TimeFormat), 0, true},
		{"date over the limit", now.Add(48 * time.Hour).Format(http.TimeFormat), time.Hour, true},
		{"words", "soon", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.value != "" {
				h.Set("Retry-After", tt.value)
			}
			wait, ok := httpfield.RetryAfter(h, now, time.Hour)
			if wait != tt.want || ok != tt.ok {
				t.Errorf("RetryAfter(%q) = %v, %t, want %v, %t", tt.value, wait, ok, tt.want, tt.ok)
			}
		})
	}
}
