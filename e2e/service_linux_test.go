package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"readthru/needs"
)

// underSystemd starts a user manager of systemd in a mount namespace that looks as if systemd had started this machine,
// and runs a script in it, with the program as $R and curl's options in $C.
const underSystemd = `
mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/system || exit 77
/lib/systemd/systemd --user >"$HOME/systemd.log" 2>&1 &
tries=0
until systemctl --user is-active --quiet default.target; do
	kill -0 $! 2>/dev/null && [ $((tries += 1)) -lt 600 ] || { echo "systemd does not run here"; exit 77; }
	sleep .1
done
trap 'systemctl --user exit; wait' EXIT
set -ex
`

// The service is installed, survives kill -9 and restarts with no client turned away, and goes without a trace.
func TestSystemdKeepsTheDaemonRunning(t *testing.T) {
	needs.Program(t, "systemd-analyze") // of Debian's package systemd
	unshare := needs.Program(t, "unshare")
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	ports := "proxy: {listen: \"" + freeAddr(t) + "\"}\nadmin: {listen: \"" + freeAddr(t) + "\"}\n"
	if err := os.WriteFile(config, []byte(ports), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := strings.Trim(strings.Fields(ports)[5], `"}`)
	cmd := exec.CommandContext(t.Context(), unshare, "--mount", "sh", "-c", underSystemd+`
R="$0 --config $HOME/config.yaml --data-dir $HOME/data"
healthy() { curl -sf --max-time 60 http://$1/healthz | grep -q '"ok"'; }
$R service status | grep -q 'not installed'
$R service install --yes | grep -q 'ListenStream='
$R service status | grep -q 'systemd, installed, active'
healthy $1
pid=$($R service status --json | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
kill -9 $pid
healthy $1 # the socket waits for the next one
systemctl --user stop readthru.service
healthy $1
$R service restart
healthy $1
$R service install --yes >$HOME/again
grep -q 'stop readthru.socket' $HOME/again
healthy $1
$R service uninstall --yes
$R service status | grep -q 'not installed'
! curl -s http://$1/healthz
test ! -e $HOME/.config/systemd
`, binary, admin)
	cmd.Env = []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "SYSTEMD_LOG_TARGET=console",
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && (cmd.ProcessState.ExitCode() == 77 || strings.HasPrefix(string(out), "unshare:")) {
		t.Skipf("this system lets nobody start systemd in a namespace: %s", out)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// freeAddr returns an address on loopback at which nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it only listened
	return l.Addr().String()
}
