package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/page"
)

// credential is what a host is asked with for what it does not show to everybody. It must not be logged.
type credential struct {
	user   string // empty for a token that is enough by itself
	secret string
}

// parseCredential reads a credential of the configuration: a token, or user:password. It is nil for an empty one.
func parseCredential(token string) *credential {
	if token == "" {
		return nil
	}
	if user, secret, ok := strings.Cut(token, ":"); ok {
		return &credential{user, secret}
	}
	return &credential{secret: token}
}

// authorise gives access: it adds the credential to the fields of a request to a forge or its API, in the scheme that
// hosts of this kind take. A nil credential adds nothing.
func (h *host) authorise(fields http.Header, c *credential) {
	switch {
	case c == nil:
	case c.user != "" && h.kind != page.GitHub && h.kind != page.GitLab: // these take a password in the place of a token
		fields.Set("Authorization", basicAuth(c.user, c.secret))
	case h.kind == page.Gitea:
		fields.Set("Authorization", "token "+c.secret)
	default:
		fields.Set("Authorization", "Bearer "+c.secret)
	}
}

// forGit returns, for access by git, the value of Authorization for git and for git's list of branches, which take a
// user and a password; empty without a credential.
func (h *host) forGit(c *credential) string {
	if c == nil {
		return ""
	}
	if c.user != "" {
		return basicAuth(c.user, c.secret)
	}
	return basicAuth(h.forge().gitUser(), c.secret)
}

// basicAuth returns, for access to a forge, the value of Authorization for a user and a password (RFC 7617).
func basicAuth(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

const (
	helperTimeout  = 10 * time.Second
	helperLifetime = 5 * time.Minute // how long an answer of git's credential helpers is used, also that there is none
)

// A wallet holds the credential of one forge: the configured one, or what git's credential helpers know, which are
// asked when it is first needed.
type wallet struct {
	configured *credential
	ask        func(ctx context.Context) *credential // git's credential helpers; nil: they are not asked

	mu    sync.Mutex
	known *credential
	asked time.Time
}

// open returns the forge's credential for access; nil if there is none. It may run a program and wait for it,
// helperTimeout at most.
func (w *wallet) open(ctx context.Context) *credential {
	if w.configured != nil || w.ask == nil {
		return w.configured
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// An answer that was cut off by the end of the caller's context says nothing, and is not kept.
	if w.asked.IsZero() || time.Since(w.asked) > helperLifetime {
		if c := w.ask(ctx); c != nil || ctx.Err() == nil {
			w.known, w.asked = c, time.Now()
		}
	}
	return w.known
}

// mayHave reports whether there may be a credential for access, without asking for it.
func (w *wallet) mayHave() bool { return w.configured != nil || w.ask != nil }

// fromHelper returns the access that git's credential helpers know for a forge, as the user has configured them; nil if
// they know nothing. They are not let ask the user, by a prompt or a window: nobody may be there. Unlike other runs of
// git this one has the user's configuration and environment.
func (r *Reader) fromHelper(ctx context.Context, h *host) *credential {
	program, err := exec.LookPath(r.o.Git)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-c", "core.askPass=", "credential", "fill")
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never")
	cmd.Stdin = strings.NewReader(fmt.Sprintf("protocol=%s\nhost=%s\n\n", h.base.Scheme, h.name))
	out := &bytes.Buffer{}
	cmd.Stdout = &limited{out, 16 << 10} // standard error may say what nobody must read
	ownGroup(cmd)
	cmd.WaitDelay = killWait
	if err := cmd.Run(); err != nil {
		r.o.Log.Debug("git's credential helpers have nothing", "host", h.name)
		return nil
	}
	c := &credential{}
	for line := range strings.Lines(out.String()) {
		switch key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "="); key {
		case "username":
			c.user = value
		case "password":
			c.secret = value
		}
	}
	if c.secret == "" || strings.ContainsAny(c.user+c.secret, "\r\n\x00") {
		return nil
	}
	return c
}

// limited passes on the first bytes of a helper's output, and fails beyond.
type limited struct {
	to   io.Writer
	left int
}

// Write implements [io.Writer]: it takes no more than the answer of a credential helper may have.
func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, io.ErrShortWrite
	}
	return l.to.Write(p)
}

// refusedError is an answer by which a host may hide what it shows with a credential.
type refusedError struct{ error }

// Unwrap returns the error that says how access was refused.
func (e *refusedError) Unwrap() error { return e.error }

// private reports whether the target's repository is known to need a credential for access, since less than
// projectLifetime ago.
func (r *Reader) private(t *Target) bool {
	known, ok := r.projects.Get(t.forge().repository(t).String())
	return ok && known.Private && time.Since(known.asked) < projectLifetime
}

// markPrivate remembers that the target's repository needs a credential for access, so that the next request to it is
// sent with one at once.
func (r *Reader) markPrivate(t *Target) {
	key := t.forge().repository(t).String()
	p := project{asked: time.Now()}
	if known, ok := r.projects.Get(key); ok {
		p = known
		if time.Since(p.asked) >= projectLifetime {
			p.asked = time.Now()
		}
	}
	p.Private = true
	r.projects.Add(key, p)
}

// shown gives access to what is shown: it calls ask, which requests something of a forge, without a credential, so that
// what everybody may read is known to be public, and again with one if the host refuses. It does without the first call
// if the repository is known to be private. It reports whether the credential was needed.
func (r *Reader) shown(ctx context.Context, t *Target, ask func(*credential) error) (private bool, err error) {
	if !r.private(t) {
		if err = ask(nil); err == nil || ctx.Err() != nil {
			return false, err
		}
		if _, ok := errors.AsType[*refusedError](err); !ok || !t.wallet.mayHave() {
			return false, err
		}
	}
	c := t.wallet.open(ctx)
	if c == nil {
		// The repository was private a while ago, and the credential has gone since.
		if err == nil {
			err = ask(nil)
		}
		return false, err
	}
	if err := ask(c); err != nil {
		return true, err
	}
	r.markPrivate(t)
	return true, nil
}

// wallet returns the wallet of a host with a token, which may be empty.
func (r *Reader) wallet(h *host, token string) *wallet {
	w := &wallet{configured: parseCredential(token)}
	if r.o.CredentialHelper && r.o.Git != "" {
		w.ask = func(ctx context.Context) *credential { return r.fromHelper(ctx, h) }
	}
	return w
}
