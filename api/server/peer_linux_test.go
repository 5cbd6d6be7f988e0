package server_test

import (
	"net/http"
	"testing"
)

func TestWhatAProxyPassesOnIsNotFromOurUser(t *testing.T) {
	addr := newWorld(t, nil).listen(t)
	for _, tt := range []struct {
		fields []string
		want   int
	}{
		{nil, http.StatusOK},
		{[]string{"Via: 1.1 somewhere"}, http.StatusUnauthorized},
		{[]string{"Forwarded: for=192.0.2.1"}, http.StatusUnauthorized},
		{[]string{"X-Forwarded-For: 192.0.2.1"}, http.StatusUnauthorized},
		{[]string{"X-Real-IP: "}, http.StatusUnauthorized},
	} {
		if resp := ask(t, addr, "GET", "/stats", "", tt.fields...); resp.StatusCode != tt.want {
			t.Errorf("%q: status %d, want %d", tt.fields, resp.StatusCode, tt.want)
		}
	}
}
