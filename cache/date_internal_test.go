package cache

import (
	"net/http"
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	aug := time.Date(2050, 8, 18, 2, 1, 18, 0, time.UTC)
	for _, tt := range []struct {
		in   string
		want time.Time // zero: refused
	}{
		{"Thu, 18 Aug 2050 02:01:18 GMT", aug},
		{"THU, 18 AUG 2050 02:01:18 gMT", aug},
		{"Thursday, 18-Aug-50 02:01:18 GMT", aug},
		{"Friday, 18-Aug-94 02:01:18 GMT", time.Date(1994, 8, 18, 2, 1, 18, 0, time.UTC)}, // over 50 years ahead is the past
		{"Mon Aug  8 02:01:18 2050", aug.AddDate(0, 0, -10)},
		{"Thu Aug 18 02:01:18 2050", aug},
		{"Sat, 31 Dec 2016 23:59:60 GMT", time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"Thu, 18 Aug 2050 02:01:18 UTC", time.Time{}},
		{"Thu, 18 Aug 2050 02:01:18 AEST", time.Time{}},
		{"Thu, 18 Aug 50 02:01:18 GMT", time.Time{}},
		{"Thu 18 Aug 2050 02:01:18 GMT", time.Time{}},
		{"Thu, 18  Aug  2050 02:01:18 GMT", time.Time{}},
		{"Thu, 18-Aug-2050 02:01:18 GMT", time.Time{}},
		{"Thu, 18 Aug 2050 02.01.18 GMT", time.Time{}},
		{"Thu, 18 Aug 2050 2:01:18 GMT", time.Time{}},
		{"Thu, 31 Feb 2050 02:01:18 GMT", time.Time{}},
		{"Thu, 18 Aug 2050 24:01:18 GMT", time.Time{}},
		{"Xyz, 18 Aug 2050 02:01:18 GMT", time.Time{}},
		{"Thu, 18 Aug 2050 02:01:18 GMT ", time.Time{}},
		{"0", time.Time{}},
		{"-1", time.Time{}},
		{"", time.Time{}},
	} {
		got, ok := parseDate(tt.in, now)
		if ok == tt.want.IsZero() || !got.Equal(tt.want) {
			t.Errorf("parseDate(%q) = %v, %v; want %v", tt.in, got, ok, tt.want)
		}
	}
}

// What net/http takes and we take, too, must be the same moment.
func FuzzDate(f *testing.F) {
	f.Add("Thu, 18 Aug 2050 02:01:18 GMT")
	f.Add("Thursday, 18-Aug-50 02:01:18 GMT")
	f.Add("Thu Aug  8 02:01:18 2050")
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseDate(s, now)
		want, err := http.ParseTime(s)
		if ok && err == nil && !got.Equal(want) && got.Year()%100 != want.Year()%100 {
			t.Fatalf("parseDate(%q) = %v, http.ParseTime says %v", s, got, want)
		}
	})
}
