package command

import (
	"testing"

	"github.com/urfave/cli/v2"
)

func TestNearestCommand(t *testing.T) {
	var known []*cli.Command
	for _, name := range []string{"fetch", "serve", "stats", "doctor", "search", "setup"} {
		known = append(known, &cli.Command{Name: name})
	}
	for name, want := range map[string]string{
		"fetsh": "fetch", "fecth": "fetch", "serv": "serve", "sattus": "stats",
		"doctr": "doctor", "xyzzy": "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%s) = %q, want %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"ab", "ba", 1}, {"kitten", "sitting", 3}} {
		if got := edits(tt.a, tt.b); got != tt.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
