package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/readthru/readthru/internal/eventually"
)

// DaemonOptions say what a daemon is started with. Binary, Home and Web must be set.
type DaemonOptions struct {
	Binary string
	Home   string // folder that stands in for the user's
	Data   string // data directory; if empty, the folder data in Home
	Log    string // file that its output is appended to; if empty, the file log in Home
	Web    *Web   // before which it stands: all hosts are there

	// Env are further variables of its environment, which has nothing of this process but PATH.
	Env []string
	// Prepare changes the command before it is started. It may be nil.
	Prepare func(*exec.Cmd) error
}

// Daemon is a running daemon of readthru, on Linux.
type Daemon struct {
	Cmd          *exec.Cmd
	Data         string // its data directory
	Proxy, Admin string // addresses
	Token        string
}

// StartDaemon starts "readthru serve" on free ports of loopback, without markdown.new and without a browser, and
// returns once the daemon has said where it is. It ends with this process, not with ctx. The error has what it said.
func StartDaemon(ctx context.Context, o *DaemonOptions) (*Daemon, error) {
	d := &Daemon{Data: o.Data}
	if d.Data == "" {
		d.Data = filepath.Join(o.Home, "data")
	}
	log := o.Log
	if log == "" {
		log = filepath.Join(o.Home, "log")
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the daemon has its own copy
	d.Cmd = exec.CommandContext(context.WithoutCancel(ctx), o.Binary, "serve", "--listen", "127.0.0.1:0", "--admin",
		"127.0.0.1:0")
	d.Cmd.Env = append([]string{
		"HOME=" + o.Home, "PATH=" + os.Getenv("PATH"), "READTHRU_DATA_DIR=" + d.Data, "READTHRU_MARKDOWN_NEW_MODE=off",
		"READTHRU_RENDER_MODE=never", "READTHRU_FETCH_ALLOW_PRIVATE=true", "READTHRU_LOG_LEVEL=warn",
		"READTHRU_UPSTREAM_RESOLVE=*:443=" + o.Web.HTTPS + ",*:80=" + o.Web.HTTP,
	}, o.Env...)
	d.Cmd.Stdout, d.Cmd.Stderr = out, out
	EndWithTests(d.Cmd)
	if o.Prepare != nil {
		if err := o.Prepare(d.Cmd); err != nil {
			return nil, err
		}
	}
	if err := d.Cmd.Start(); err != nil {
		return nil, fmt.Errorf("start readthru, which \"make build\" makes: %w", err)
	}
	if err := eventually.Holds(ctx, func() bool { return d.found() || d.exited() }); err == nil && d.found() {
		return d, nil
	}
	d.Kill()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	said, _ := os.ReadFile(log)
	return nil, fmt.Errorf("readthru does not serve: %s", said)
}

// found reads where the daemon is, once it has said so.
func (d *Daemon) found() bool {
	text, err := os.ReadFile(filepath.Join(d.Data, "daemon.json"))
	var where struct {
		PID                 int
		Proxy, Admin, Token string
	}
	if err != nil || json.Unmarshal(text, &where) != nil || where.PID != d.Cmd.Process.Pid {
		return false
	}
	d.Proxy, d.Admin, d.Token = where.Proxy, where.Admin, where.Token
	return true
}

// exited reports whether the daemon has ended and was not waited for yet.
func (d *Daemon) exited() bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.Cmd.Process.Pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(after, "Z")
}

// Ask asks the admin port, by POST if there is something to send, and decodes its JSON into v, unless v is nil.
func (d *Daemon) Ask(ctx context.Context, path, sent string, v any) (text string, err error) {
	method := http.MethodGet
	if sent != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+d.Admin+path, strings.NewReader(sent))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+d.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, resp.StatusCode, body)
	}
	if err == nil && v != nil {
		err = json.Unmarshal(body, v)
	}
	return string(body), err
}

// Kill ends the daemon without a word.
func (d *Daemon) Kill() {
	_ = d.Cmd.Process.Kill() // it may have ended
	_ = d.Cmd.Wait()         // it was killed
}
