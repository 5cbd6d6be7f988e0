package service_test

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/service"
)

// daemon has names that need quoting in units, lists and shells.
var daemon = service.Daemon{
	Command: []string{"/opt/read thru/readthru", "--data-dir", `/home/ann/50% "$HOME"`, "serve"},
	Listen:  []string{"127.0.0.1:7887", "[::1]:7888", "localhost:7889", "127.0.0.1:0"},
	Log:     "/home/ann/a&b/daemon.log",
}

func text(steps []service.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.String())
	}
	return b.String()
}

func TestStepsAreShownAsTheyAreTaken(t *testing.T) {
	dir := filepath.FromSlash("/home/ann/dir")
	for _, tt := range []struct {
		name   string
		m      service.Manager
		before bool // it was installed
		want   []string
		not    string
	}{
		{
			"systemd",
			service.Systemd{Dir: dir},
			false,
			[]string{
				"ListenStream=127.0.0.1:7887\n", "ListenStream=[::1]:7888\n",
				`ExecStart="/opt/read thru/readthru" --data-dir "/home/ann/50%% \"$$HOME\"" serve` + "\n",
				"Requires=readthru.socket\n",
				"run systemctl --user enable --now readthru.socket readthru.service\n",
			},
			"localhost",
		},
		{
			"systemd again",
			service.Systemd{Dir: dir},
			true,
			[]string{"run systemctl --user stop readthru.socket readthru.service\nwrite "},
			":0\n",
		},
		{
			"launchd",
			service.Launchd{Dir: dir, UID: 501},
			false,
			[]string{
				"<string>/opt/read thru/readthru</string>", "<string>/home/ann/50% &#34;$HOME&#34;</string>",
				"<string>/home/ann/a&amp;b/daemon.log</string>", "run launchctl bootstrap gui/501 ",
			},
			"bootout",
		},
		{
			"launchd again",
			service.Launchd{Dir: dir, UID: 501},
			true,
			[]string{"run launchctl bootout gui/501/readthru\nwrite "},
			"7887",
		},
		{
			"tasks",
			service.Tasks{Dir: dir, User: `PC\ann`},
			false,
			[]string{
				`--headless cmd /c &#34;&#34;/opt/read thru/readthru&#34; &#34;--data-dir&#34;`, `<UserId>PC\ann</UserId>`,
				"run schtasks /Run /TN readthru\n",
			},
			"7887",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps := tt.m.Install(daemon, tt.before)
			got := text(steps)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("the steps lack %q:\n%s", want, got)
				}
			}
			if strings.Contains(got, tt.not) {
				t.Errorf("the steps have %q:\n%s", tt.not, got)
			}
			for _, s := range steps {
				if strings.HasPrefix(s.Text, "<?xml") {
					if err := xml.Unmarshal([]byte(s.Text), new(struct{})); err != nil {
						t.Errorf("%s: %v", s.Write, err)
					}
				}
			}
			back := text(tt.m.Uninstall())
			for _, name := range tt.m.Files() {
				if !strings.Contains(back, "remove "+name+"\n") {
					t.Errorf("%s is not removed:\n%s", name, back)
				}
			}
		})
	}
}

// A daemon whose addresses nobody can hold in advance listens itself; the socket of an earlier installation goes.
func TestSystemdHoldsNoAddressThatIsNotFixed(t *testing.T) {
	d := daemon
	d.Listen = []string{"127.0.0.1:0", "localhost:7887"}
	got := text(service.Systemd{Dir: "/x"}.Install(d, true))
	if strings.Contains(got, "Requires=") || !strings.Contains(got, "remove "+filepath.Join("/x", "readthru.socket")) {
		t.Error(got)
	}
}

func TestWhatOthersUseStays(t *testing.T) {
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "user", "readthru.service"), filepath.Join(dir, "user", "other.service")
	if err := (service.Step{Write: ours, Text: "x"}).Do(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(theirs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ours, filepath.Dir(ours), ours} { // the last is gone already
		if err := (service.Step{Remove: name}).Do(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(ours); err == nil {
		t.Error("our file stays")
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}

func TestACommandThatFailsIsNamed(t *testing.T) {
	fails := service.Step{Run: []string{"sh", "-c", "echo no bus >&2; exit 3"}}
	if err := fails.Do(); err == nil || !strings.Contains(err.Error(), "no bus") ||
		!strings.HasPrefix(err.Error(), `sh -c 'echo no bus >&2; exit 3': exit status 3`) {
		t.Error(err)
	}
	fails.Tries = true
	if err := fails.Do(); err != nil {
		t.Error(err)
	}
}

// systemd itself finds nothing wrong with the units.
func TestUnitsAreValid(t *testing.T) {
	analyze := needs.Program(t, "systemd-analyze")
	dir := t.TempDir()
	d := daemon
	d.Command = []string{"/bin/true", "--data-dir", `/home/ann/50% "$HOME"`}
	var units []string
	for _, s := range (service.Systemd{Dir: dir}).Install(d, false) {
		if s.Write != "" {
			if err := s.Do(); err != nil {
				t.Fatal(err)
			}
			units = append(units, s.Write)
		}
	}
	cmd := exec.CommandContext(t.Context(), analyze, append([]string{"--user", "--man=no", "verify"}, units...)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), dir) {
		t.Errorf("%v: %s", err, out)
	}
}

// What a person writes into a unit is not lost by another installation.
func TestAnEditedUnitIsKnown(t *testing.T) {
	m := service.Systemd{Dir: t.TempDir()}
	write := func() {
		for _, step := range m.Install(daemon, false) {
			if step.Write != "" {
				if err := step.Do(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := service.CheckUnchanged(m); err != nil {
		t.Errorf("before an installation: %v", err)
	}
	for _, name := range m.Files() {
		write()
		if err := service.CheckUnchanged(m); err != nil {
			t.Errorf("as it was written: %v", err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(text), "[Install]", "Environment=HTTPS_PROXY=http://proxy.corp.test\n[Install]", 1)
		if err := os.WriteFile(name, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := service.CheckUnchanged(m); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("after a change of %s: %v", name, err)
		}
		if err := os.WriteFile(name, []byte("[Unit]\nDescription=of an earlier version\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := service.CheckUnchanged(m); err != nil {
			t.Errorf("a unit without a sum: %v", err)
		}
	}
}
