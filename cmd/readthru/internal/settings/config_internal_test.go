package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/google/go-cmp/cmp"
)

const exampleFile = "../../../../config.example.yaml"

func TestExampleConfigurationIsTheDefaults(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	s := &Settings{Config: new(Config), Source: map[string]string{}}
	if err := s.readYAML(exampleFile, text); err != nil {
		t.Fatal(err)
	}
	for i, want := range Defaults().Leaves() {
		got := s.Leaves()[i]
		if diff := cmp.Diff(plain(want.value), plain(got.value)); diff != "" {
			t.Errorf("%s (-default +example):\n%s", want.Path, diff)
		}
		if s.Source[want.Path] == "" && want.Path != "proxy.allow_private" {
			t.Errorf("%s is not in the example", want.Path)
		}
	}
	if !strings.Contains(string(text), "allow_private: auto") {
		t.Error("proxy.allow_private is not in the example")
	}
}

func TestEveryKeyOfTheExampleIsExplained(t *testing.T) {
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		m, ok := n.(*ast.MappingNode)
		if !ok {
			return
		}
		for _, pair := range m.Values {
			if _, deeper := pair.Value.(*ast.MappingNode); deeper {
				walk(pair.Value)
				continue
			}
			at := pair.Key.GetToken().Position.Line
			if !strings.Contains(lines[at-1], "#") && !strings.HasPrefix(strings.TrimSpace(lines[at-2]), "#") {
				t.Errorf("line %d does not explain the key: %s", at, lines[at-1])
			}
		}
	}
	walk(file.Docs[0].Body)
}

func TestEveryDefaultIsValid(t *testing.T) {
	s := &Settings{Config: Defaults(), Source: map[string]string{}}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestFlagWinsOverEnvironmentOverFileOverDefault(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file,
		[]byte("proxy: {listen: 127.0.0.1:1}\nadmin: {listen: 127.0.0.1:1}\nfetch: {timeout: 1s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("READTHRU_PROXY_LISTEN", "127.0.0.1:2")
	t.Setenv("READTHRU_ADMIN_LISTEN", "127.0.0.1:2")
	s, err := Load(dir, file, Set{"admin.listen", "admin", "127.0.0.1:3"})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{
		s.Admin.Listen, s.Proxy.Listen, s.Fetch.Timeout.String(), s.Cache.PageTTL.String(),
		s.Source["admin.listen"], s.Source["proxy.listen"], s.Source["fetch.timeout"], s.Source["cache.page_ttl"],
	}
	want := []string{
		"127.0.0.1:3", "127.0.0.1:2", "1s", "24h0m0s", "flag --admin", "environment READTHRU_PROXY_LISTEN",
		"file " + file + ":3", "default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListsAndRulesFromTheEnvironment(t *testing.T) {
	t.Setenv("READTHRU_PROXY_CONNECT_PORTS", "443, 8443")
	t.Setenv("READTHRU_BLOCKED_DOMAINS", "")
	t.Setenv("READTHRU_RULES", `[{host: a.test, ttl: 90s, cascade: [local]}, {action: block}]`)
	t.Setenv("READTHRU_PROXY_ALLOW_PRIVATE", "false")
	s, err := Load(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{443, 8443}, s.Proxy.ConnectPorts); diff != "" {
		t.Error(diff)
	}
	if len(s.BlockedDomains) != 0 || s.AllowPrivate() {
		t.Errorf("blocked %v, private %v, want none and false", s.BlockedDomains, s.AllowPrivate())
	}
	want := []ruleConfig{{Host: "a.test", TTL: 90 * time.Second, Cascade: []string{"local"}}, {Action: "block"}}
	if diff := cmp.Diff(want, s.Rules); diff != "" {
		t.Error(diff)
	}
	for name, value := range map[string]string{
		"READTHRU_RULES": "[{host: a, colour: red}]", "READTHRU_PROXY_CONNECT_PORTS": "443,https",
		"READTHRU_FETCH_CASCADE":       "local,magic",
		"READTHRU_PROXY_ALLOW_PRIVATE": "yes", "READTHRU_CACHE_PAGE_TTL": "-1s", "READTHRU_PROXY_UPSTREAM": "proxy:3128",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := Load(t.TempDir(), ""); err == nil {
				t.Errorf("%s=%s was taken", name, value)
			}
		})
	}
}

func TestPrivateAddressesAreForLoopbackListeners(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:7887": true, "[::1]:0": true, "localhost:1": true,
		"0.0.0.0:7887": false, ":7887": false, "192.0.2.1:7887": false,
	} {
		s := &Settings{Config: Defaults()}
		s.Proxy.Listen = listen
		if got := s.AllowPrivate(); got != want {
			t.Errorf("listening on %s: private addresses %v, want %v", listen, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		text  string
		want  Size
		shown string
	}{
		{"2GiB", 2 << 30, "2GiB"},
		{"32 MiB", 32 << 20, "32MiB"},
		{"1.5KiB", 1536, "1536B"},
		{"10MB", 1e7, "10000000B"},
		{"7", 7, "7B"},
		{"0", 0, "0B"},
		{"1TiB", 1 << 40, "1TiB"},
	} {
		got, err := parseSize(tt.text)
		if err != nil || got != tt.want || got.String() != tt.shown {
			t.Errorf("parseSize(%q) = %d (%s), %v, want %d (%s)", tt.text, got, got, err, tt.want, tt.shown)
		}
	}
	for _, text := range []string{"", "much", "-1KiB", "1e300GiB", "NaN", "Inf", "1 2", "GiB", "8388608TiB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestDataDirectory(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	t.Setenv("XDG_DATA_HOME", "relative/ignored")
	t.Setenv("READTHRU_DATA_DIR", "")
	for _, tt := range []struct{ flag, env, xdg, want, source string }{
		{"/a", "/b", "/c", "/a", "flag --data-dir"},
		{"", "/b", "/c", "/b", "environment READTHRU_DATA_DIR"},
		{"", "", "/c", "/c/readthru", "environment XDG_DATA_HOME"},
		{"", "", "relative", "/home/ann/.local/share/readthru", "default"},
	} {
		t.Setenv("READTHRU_DATA_DIR", tt.env)
		t.Setenv("XDG_DATA_HOME", tt.xdg)
		if got, source, err := DataDir(tt.flag); err != nil || got != tt.want || source != tt.source {
			t.Errorf("dataDir(%q) with %q, %q = %q, %q, %v, want %q, %q", tt.flag, tt.env, tt.xdg, got, source, err, tt.want,
				tt.source)
		}
	}
}

// FuzzReadYAML looks for configurations that panic or are refused without a place.
func FuzzReadYAML(f *testing.F) {
	example, err := os.ReadFile(exampleFile)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		string(example), "a: &x 1\nb: *x", "rules: [{host: a}]", "proxy: [1,2", "? a\n: b",
		"<<: {a: 1}", "proxy:\n  <<: *x", "--- \n---\n", "proxy: !!str x", "proxy: {listen: |\n  a}",
		"cache: {page_ttl: null}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &Settings{Config: Defaults(), Source: map[string]string{}}
		if err := s.readYAML("file", []byte(text)); err != nil && !strings.HasPrefix(err.Error(), "file") {
			t.Errorf("%q: %v", text, err)
		}
		for _, l := range s.Leaves() {
			if l.value.Kind() == reflect.Invalid {
				t.Errorf("%s", l.Path)
			}
		}
	})
}
