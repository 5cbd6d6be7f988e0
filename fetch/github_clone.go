package fetch

import (
	"bytes"
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
	"unicode"
)

// killWait is how long a killed git may take to be gone.
const killWait = 5 * time.Second

// fromClone reads a repository that cannot be had as an archive: a bare clone without history, then an archive of that.
// No file is ever checked out, so that links, hooks, filters and submodules of a hostile repository stay text. git
// reaches nothing but the hub, through a private tunnel by the guarded way.
func (g *github) fromClone(ctx context.Context, t *target, about project) (*made, error) {
	way, ok := g.f.o.Direct.(interface {
		Dial(ctx context.Context, network, addr string) (net.Conn, error)
	})
	switch {
	case !ok:
		return nil, errors.New("there is no way for git")
	case t.base.Scheme != "https":
		return nil, errors.New("only https is cloned")
	}
	host := hostPort(t.base)
	dialCtx := OwnPolicy
	if t.operated[host] {
		dialCtx = func(ctx context.Context) context.Context { return Endpoint(ctx, t.base) }
	}
	tun, err := openTunnel(ctx, host, g.limits.compressed,
		func(ctx context.Context, network, addr string) (net.Conn, error) {
			return way.Dial(dialCtx(ctx), network, addr)
		})
	if err != nil {
		return nil, err
	}
	defer tun.Close() //nolint:errcheck // what matters went through it already
	dir, err := g.scratch()
	if err != nil {
		return nil, err
	}
	defer func() { // in every case
		if err := os.RemoveAll(dir); err != nil {
			g.f.o.Log.Warn("clone not removed", "dir", dir, "err", err)
		}
	}()
	r := &gitRun{
		program: g.f.o.GitHub.Git, dir: dir, caFile: g.f.o.GitHub.CAFile, proxy: tun.url(),
		maxFile: g.limits.compressed,
	}
	bare := filepath.Join(dir, "r.git")
	err = r.run(ctx, nil, "clone", "-q", "--bare", "--depth", "1", "--single-branch", "--no-tags",
		"--no-recurse-submodules", "--template=",
		"--", t.base.JoinPath(t.Owner, t.Repo+".git").String(), bare)
	if err != nil {
		if cause := tun.failure(); cause != nil {
			err = fmt.Errorf("%w (%w)", err, cause)
		}
		return nil, fmt.Errorf("clone: %w", err)
	}
	var id bytes.Buffer
	if err := r.run(ctx, &id, "--git-dir="+bare, "rev-parse", "-q", "--verify", "HEAD^{commit}"); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("clone: %w", context.Cause(ctx))
		}
		return &made{rendition: g.compose(t, about, &tree{empty: true}, nil), private: about.Private}, nil
	}
	m, err := g.fromBare(ctx, r, bare, t, about)
	if err == nil && m.rendition.Meta["commit"] == "" {
		if commit := strings.TrimSpace(id.String()); commitID(commit) {
			m.rendition.Meta["commit"] = commit
		}
	}
	return m, err
}

// fromBare reads the archive of a bare repository while git writes it.
func (g *github) fromBare(ctx context.Context, r *gitRun, bare string, t *target, about project) (*made, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	archived := make(chan struct{})
	go func() {
		defer close(archived)
		err := r.run(ctx, in, "--git-dir="+bare, "archive", "--format=tar", "--prefix=r/", "HEAD")
		_ = in.CloseWithError(err) // never fails
	}()
	rendition, err := g.readRepository(ctx, t, about, g.limits.unpackedFrom(out, nil))
	_ = out.Close() // so that git ends, where there is more than was read
	<-archived
	if err != nil {
		return nil, err
	}
	return &made{rendition: rendition, private: about.Private}, nil
}

// scratch makes a directory for one clone. What a process that was killed has left is cleared away first.
func (g *github) scratch() (string, error) {
	parent := g.f.o.GitHub.Dir
	if parent != "" {
		g.dir.Do(func() { _ = os.RemoveAll(parent) }) // the directory is ours alone
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

// gitRun runs git with nothing of its user's: no configuration, no credentials, no prompt, no protocol but https.
type gitRun struct {
	program, dir, caFile, proxy string
	maxFile                     int64
}

// gitSettings forbid what a repository or a host could make git do.
var gitSettings = []string{
	"protocol.allow=never", "protocol.https.allow=always", "core.symlinks=false", "core.hooksPath=" + os.DevNull,
	"core.fsmonitor=false",
	"credential.helper=", "core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "gc.auto=0",
	"maintenance.auto=false",
	"fetch.fsckObjects=true", "transfer.fsckObjects=true", "http.followRedirects=initial", "tar.umask=0022",
	"advice.detachedHead=false",
}

// run runs one command of git; out may be nil. The error holds the last line of what git said.
func (r *gitRun) run(ctx context.Context, out io.Writer, args ...string) error {
	var full []string
	for _, s := range gitSettings {
		full = append(full, "-c", s)
	}
	if r.caFile != "" {
		full = append(full, "-c", "http.sslCAInfo="+r.caFile)
	}
	program, err := exec.LookPath(r.program)
	if err != nil {
		return fmt.Errorf("find git: %w", err)
	}
	name, argv := confined(program, append(full, args...), r.maxFile)
	cmd := exec.CommandContext(ctx, name, argv...)
	cmd.Dir = r.dir
	cmd.Env = append(systemEnv(),
		"PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(r.dir, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_ALLOW_PROTOCOL=https", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ATTR_NOSYSTEM=1",
		"LC_ALL=C",
		"https_proxy="+r.proxy, "HTTPS_PROXY="+r.proxy, // not an argument, which every user of the machine can read
	)
	cmd.Stdout = out
	said := &tail{}
	cmd.Stderr = said
	ownGroup(cmd)
	cmd.WaitDelay = killWait
	err = cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case said.line() != "":
		return fmt.Errorf("git: %s", said.line())
	}
	return fmt.Errorf("git: %w", err)
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - tailSize; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// line returns the last line as text that can be shown: git hands on what a host says.
func (t *tail) line() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, lines[len(lines)-1])
	return shorten(line, 200)
}
