package settings

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestEnvironmentDirectIsWhatNoProxyNames(t *testing.T) {
	t.Setenv("no_proxy", "")
	t.Setenv("NO_PROXY", "localhost,127.0.0.1, ::1,.intern.test,10.0.0.0/8,a.test:8443")
	want := []string{".intern.test", "10.0.0.0/8", "a.test:8443"}
	if got := EnvironmentDirect(); !slices.Equal(got, want) {
		t.Errorf("environmentDirect() = %q, want %q", got, want)
	}
}

// The environment's proxy is that of the network, never our own.
func TestEnvironmentProxyIsNotOurOwn(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ https, http, WGETRC, want string }{
		{"", "", "", ""},
		{"http://corp.test:3128", "http://other.test:3128", "", "http://corp.test:3128"},
		{"", "corp.test:3128", "", "http://corp.test:3128"},
		{"http://127.0.0.1:3128", "", "", "http://127.0.0.1:3128"},
		{"http://127.0.0.1:7887", "", "", ""},
		{"http://ann:secret@localhost:7887", "", "", ""},
		{"http://127.0.0.1:9999", "", "", ""}, // of the running daemon
		{"http://127.0.0.1:40123", "", filepath.Join(dir, "wgetrc"), ""},
		{"http://127.0.0.1:40123", "", "/etc/wgetrc", "http://127.0.0.1:40123"},
	} {
		for _, v := range []Variable{ // on Windows the first two are the next two
			{"https_proxy", ""},
			{"http_proxy", ""},
			{"HTTPS_PROXY", tt.https},
			{"HTTP_PROXY", tt.http},
			{"REQUEST_METHOD", ""},
			{"WGETRC", tt.WGETRC},
		} {
			t.Setenv(v.Name, v.Value)
		}
		s := &Settings{Config: Defaults(), DataDir: dir}
		if got := s.EnvironmentProxy("127.0.0.1:9999"); got != tt.want {
			t.Errorf("HTTPS_PROXY=%s HTTP_PROXY=%s WGETRC=%s: %q, want %q", tt.https, tt.http, tt.WGETRC, got, tt.want)
		}
	}
}
