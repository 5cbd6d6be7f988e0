package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

func TestFlagsMayStandAfterArguments(t *testing.T) {
	app := newProgram(terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}).app()
	for _, tt := range []struct{ in, want string }{
		{"fetch URL --json", "fetch --json -- URL"},
		{"fetch URL --max-chars 5 URL2", "fetch --max-chars 5 -- URL URL2"},
		{"fetch --max-chars=5 URL", "fetch --max-chars=5 -- URL"},
		{"--data-dir D fetch URL --config C", "--data-dir D fetch --config C -- URL"},
		{"pages diff URL A B --json", "pages diff --json -- URL A B"},
		{"pages --host H", "pages --host H"},
		{"convert - --url U", "convert --url U -- -"},
		{"fetch -- --json", "fetch -- --json"},
		{"run -- curl --json URL", "run -- curl --json URL"},
		{"run curl --json URL", "run curl --json URL"},
		{"run --offline -- ls -l", "run --offline -- ls -l"},
		{"fetch URL --max-chars", "fetch --max-chars -- URL"},
		{"nonsense --json x", "nonsense --json x"},
		{"", ""},
	} {
		got := hoist(app, append([]string{"readthru"}, strings.Fields(tt.in)...))
		if want := append([]string{"readthru"}, strings.Fields(tt.want)...); !slices.Equal(got, want) {
			t.Errorf("hoist(%s) = %s, want %s", tt.in, got, want)
		}
	}
}
