package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
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
trap '[ $? = 0 ] || cat "$HOME/systemd.log"; systemctl --user exit; wait' EXIT
set -ex
`

// The service is installed, survives kill -9 and restarts with no client turned away, and goes without a trace.
func TestSystemdKeepsTheDaemonRunning(t *testing.T) {
	needs.Program(t, "systemd-analyze") // of Debian's package systemd
	unshare := needs.Program(t, "unshare")
	home := t.TempDir()
	config := filepath.Join(home, "config.yaml")
	// No client of another test gets a port of an address that is not 127.0.0.1.
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	admin := host + ":17718"
	listen := fmt.Sprintf("proxy: {listen: %q}\nadmin: {listen: %q}\n", host+":17717", admin)
	if err := os.WriteFile(config, []byte(listen), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), unshare, "--mount", "sh", "-c", underSystemd+`
R="$0 --config $HOME/config.yaml --data-dir $HOME/data"
healthy() { curl -sf --max-time 60 http://$1/healthz | grep -q '"ok"'; }
$R service status | grep -q 'not installed'
$R service install --yes >$HOME/first 2>&1 || { cat $HOME/first; exit 1; }
grep -q 'ListenStream=' $HOME/first
$R service status | tee /dev/stderr | grep -q 'systemd, installed, active'
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
