package page_test

import (
	"testing"

	"readthru/page"
)

func TestSameSite(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a.test", "a.test", true},
		{"app.a.test", "api.a.test", true},
		{"a.test", "api.a.test", true},
		{"api.v2.a.test", "a.test", true},
		{"a.test", "b.test", false},
		{"app.a.test", "app.b.test", false},
		{"a.test", "aa.test", false},
		{"localhost", "a.test", false},
	} {
		if page.SameSite(tt.a, tt.b) != tt.want || page.SameSite(tt.b, tt.a) != tt.want {
			t.Errorf("SameSite(%s, %s) = %t", tt.a, tt.b, !tt.want)
		}
	}
}
