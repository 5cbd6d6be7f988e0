package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/fault"
)

// killWait is how long to wait for the end of a git that was killed: its children may hold its output open.
const killWait = 5 * time.Second

// fromClone reads a repository that has no archive: it makes a bare clone without history, then an archive of that. No
// file is checked out, so links, hooks, filters and submodules of a hostile repository have no effect. git reaches
// nothing but the host, through a tunnel of its own, and the clone is removed before fromClone returns.
//
// The error is a refusedError if git could not clone: it does not say why.
func (r *read) fromClone(ctx context.Context, about project, c *credential) (*Page, error) {
	base := r.t.base
	switch {
	case r.o.Dial == nil:
		return nil, errors.New("git has no way to the host")
	case base.Scheme != "https":
		return nil, errors.New("only https URLs are cloned")
	}
	host := net.JoinHostPort(strings.ToLower(base.Hostname()), cmp.Or(base.Port(), "443"))
	tun, err := openTunnel(ctx, host, r.limits.compressed,
		func(ctx context.Context, network, addr string) (net.Conn, error) {
			return r.o.Dial(ctx, base, network, addr)
		})
	if err != nil {
		return nil, err
	}
	defer tun.Close() //nolint:errcheck // all that matters has gone through it
	dir, err := r.cloneDir()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			r.o.Log.Warn("clone not removed", "dir", dir, "err", err)
		}
	}()
	git := &gitCommand{
		program: r.o.Git, dir: dir, caFile: r.o.CAFile, proxy: tun.url(), maxFile: r.limits.compressed,
		base: base.String(), authorization: r.t.forGit(c),
	}
	bare := filepath.Join(dir, "r.git")
	clone := []string{
		"clone", "-q", "--bare", "--depth", "1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=",
	}
	if branch := r.t.branch(); branch != "" {
		clone = append(clone, "--branch="+branch)
	}
	err = git.run(ctx, nil, append(clone, "--", below(base, r.t.place()+".git", "").String(), bare)...)
	if err != nil {
		if cause := tun.failure(); cause != nil {
			err = fmt.Errorf("%w (%w)", err, cause)
		}
		return nil, &refusedError{fmt.Errorf("clone: %w", err)}
	}
	var id bytes.Buffer
	// A repository without a commit is no error.
	if err := git.run(ctx, &id, "--git-dir="+bare, "rev-parse", "-q", "--verify", "HEAD^{commit}"); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("clone: %w", context.Cause(ctx))
		}
		return r.t.repositoryPage(about, &archive{empty: true}, nil, r.limits.file), nil
	}
	p, err := r.fromBare(ctx, git, bare, about)
	if err == nil && p.Meta["commit"] == "" {
		if commit := strings.TrimSpace(id.String()); commitID(commit) {
			p.Meta["commit"] = commit
		}
	}
	return p, err
}

// fromBare reads the archive of a bare clone while git writes it, through the same code as an archive of a host.
func (r *read) fromBare(ctx context.Context, git *gitCommand, bare string, about project) (*Page, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	archived := make(chan struct{})
	go fault.Contain("github: end an archive", func() {
		defer close(archived)
		err := fault.Catch("github: archive a clone", func() error {
			return git.run(ctx, in, "--git-dir="+bare, "archive", "--format=tar", "--prefix=r/", "HEAD")
		})
		_ = in.CloseWithError(err) // never fails
	})()
	p, err := r.archivePage(ctx, about, r.limits.unpackedFrom(out, nil))
	_ = out.Close() // ends git when there is more than was read
	<-archived
	return p, err
}

// cloneDir makes a directory for one clone, below Options.Dir. The first call clears what a killed process has left.
func (r *Reader) cloneDir() (string, error) {
	parent := r.o.Dir
	if parent != "" {
		r.clearDir.Do(func() { _ = os.RemoveAll(parent) }) // nothing else is in it
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return "", fmt.Errorf("make a directory for a clone: %w", err)
		}
	}
	dir, err := os.MkdirTemp(parent, "readthru-git-")
	if err != nil {
		return "", fmt.Errorf("make a directory for a clone: %w", err)
	}
	return dir, nil
}

// gitCommand runs git without the user's configuration and credentials, without prompts, and over https only.
// authorization is sent to base and nowhere else. maxFile bounds each file that git writes.
type gitCommand struct {
	program, dir, caFile, proxy string
	base, authorization         string
	maxFile                     int64
}

// gitSettings turns off what a repository or a host could make git do: other protocols, links, hooks, helpers, work in
// the background; and turns on its checks of objects.
var gitSettings = []string{
	"protocol.allow=never", "protocol.https.allow=always", "core.symlinks=false", "core.hooksPath=" + os.DevNull,
	"core.fsmonitor=false",
	"credential.helper=", "core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "gc.auto=0",
	"maintenance.auto=false",
	"fetch.fsckObjects=true", "transfer.fsckObjects=true", "http.followRedirects=initial", "tar.umask=0022",
	"advice.detachedHead=false",
}

// run runs one git command, such as clone, in a process group with limits; out may be nil. The error holds the last
// line that git wrote to standard error, or is the cause of the context's end.
func (g *gitCommand) run(ctx context.Context, out io.Writer, args ...string) error {
	var full []string
	for _, s := range gitSettings {
		full = append(full, "-c", s)
	}
	if g.caFile != "" {
		full = append(full, "-c", "http.sslCAInfo="+g.caFile)
	}
	program, err := exec.LookPath(g.program)
	if err != nil {
		return fmt.Errorf("find git: %w", err)
	}
	name, argv := confined(program, append(full, args...), g.maxFile)
	cmd := exec.CommandContext(ctx, name, argv...)
	cmd.Dir = g.dir
	cmd.Env = append(systemEnv(),
		"PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(g.dir, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_ALLOW_PROTOCOL=https", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ATTR_NOSYSTEM=1",
		"LC_ALL=C",
		"https_proxy="+g.proxy, "HTTPS_PROXY="+g.proxy, // not an argument, which every user of the machine can read
	)
	if g.authorization != "" { // in the environment too, for the same reason
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http."+g.base+".extraHeader",
			"GIT_CONFIG_VALUE_0=Authorization: "+g.authorization)
	}
	cmd.Stdout = out
	stderr := &tail{}
	cmd.Stderr = stderr
	ownGroup(cmd)
	cmd.WaitDelay = killWait
	err = cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case stderr.line() != "":
		return fmt.Errorf("git: %s", stderr.line())
	}
	return fmt.Errorf("git: %w", err)
}

// tail keeps the last tailSize bytes of what git writes to standard error, where the reason of a failure stands.
type tail struct{ text []byte }

// tailSize is how much of what git writes to standard error is kept, in bytes.
const tailSize = 2 << 10

// Write implements [io.Writer]: it keeps the end of what git, as it clones, writes to standard error.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// line returns the last line that git, as it cloned, wrote to standard error, cut to 200 characters; empty if it wrote
// none.
func (t *tail) line() string { return clip.LastLine(string(t.text), 200) }
