package page_test

import (
	"testing"

	"github.com/readthru/readthru/page"
)

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.9.0.1": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "[::1]": false, "127.0.0.1:80": false, "10.0.0.1": false,
		"localhost.example.com": false, "127.0.0.1.example.com": false, "127.1": false, "2130706433": false,
	} {
		if got := page.Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %t, want %t", host, got, want)
		}
	}
}
