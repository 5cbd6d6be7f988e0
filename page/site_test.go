package page_test

import (
	"testing"

	"github.com/readthru/readthru/page"
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
		{"localhost", "localhost", true},
		{"WWW.a.test", "m.A.test", true},
		{"docs.example.co.uk", "example.co.uk", true},
		{"a.co.uk", "b.co.uk", false},
		{"ann.github.io", "bob.github.io", false},
		{"10.0.0.1", "20.0.0.1", false},
		{"10.0.0.1", "10.0.0.1", true},
		{"[2001:db8::1]", "[2001:db8::2]", false},
	} {
		if page.SameSite(tt.a, tt.b) != tt.want || page.SameSite(tt.b, tt.a) != tt.want {
			t.Errorf("SameSite(%s, %s) = %t", tt.a, tt.b, !tt.want)
		}
	}
}
