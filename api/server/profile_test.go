package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/api/server"
)

func TestProfilesAreForOurUser(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "sesame" })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.server.ServeProfiles(ctx, l) }()
	for _, tt := range []struct {
		name   string
		path   string
		fields []string
		status int
	}{
		{"with the token", "/debug/pprof/goroutine?debug=1", []string{"Authorization: Bearer sesame"}, http.StatusOK},
		{"through a proxy, without it", "/debug/pprof/heap", []string{"Via: 1.1 proxy"}, http.StatusUnauthorized},
		{"a page of another site", "/debug/pprof/heap", []string{"Origin: https://evil.test"}, http.StatusForbidden},
		{"what is no profile", "/stats", []string{"Authorization: Bearer sesame"}, http.StatusNotFound},
	} {
		resp := ask(t, l.Addr().String(), http.MethodGet, tt.path, "", tt.fields...)
		said, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d: %.200s", tt.name, resp.StatusCode, tt.status, said)
		}
		if tt.status == http.StatusOK && !strings.Contains(string(said), "goroutine profile: total") {
			t.Errorf("%s: %.200s", tt.name, said)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("ServeProfiles: %v, want none when its context ends", err)
	}
}
