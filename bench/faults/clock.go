package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/webtest"
)

// jumps are how far off the daemon's clock is, in turn.
var jumps = []time.Duration{
	10 * 365 * 24 * time.Hour, 0, -10 * 365 * 24 * time.Hour, 0, 36 * time.Hour, -time.Hour, 2 * time.Hour, 0,
}

// clock sets the wall clock of a daemon far forwards and back while others read. What was fresh for a second is asked
// for again when it has passed, whatever the clock says; visits go on being written, sessions and MCP answer,
// certificates are valid by the daemon's clock, and no answer is wrong.
func clock(ctx context.Context, s settings) (string, error) {
	if !s.builds {
		return "not tried: it builds Go's packages anew", nil
	}
	var err error
	if s.readthru, err = buildShifted(ctx, s.dir); err != nil {
		return "", err
	}
	file := filepath.Join(s.dir, "clock")
	set := func(off time.Duration) error {
		next := file + ".next"
		if err := os.WriteFile(next, fmt.Append(nil, int64(off/time.Second)), 0o600); err != nil {
			return err
		}
		return os.Rename(next, file)
	}
	var asked sync.Map // by path: *atomic.Int64
	times := func(path string) *atomic.Int64 {
		n, _ := asked.LoadOrStore(path, new(atomic.Int64))
		return n.(*atomic.Int64)
	}
	d, end, err := start(ctx, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		times(r.URL.Path).Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=1")
		if strings.HasPrefix(r.URL.Path, "/visit/") {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, article(r.URL.Path, 0, 5))
			return
		}
		io.WriteString(w, "what "+r.URL.Path+" says")
	}), nil, "READTHRU_FAULTS_CLOCK="+file)
	if err != nil {
		return "", err
	}
	defer end()
	read := func(c *http.Client, path string) error {
		resp, body, err := get(ctx, c, "http://h.faults.test"+path, "*/*") //nolint:bodyclose // get closes it
		said := strings.Contains(strings.ToLower(body), "what "+path+" says")
		if err == nil && (resp.StatusCode != http.StatusOK || !said) {
			err = fmt.Errorf("%s: %s: %.200q", path, resp.Status, body)
		}
		return err
	}
	var done, wrong atomic.Int64
	var beside sync.WaitGroup
	loading, stop := context.WithCancel(ctx)
	for i := range s.clients {
		beside.Go(func() {
			c := d.client(false)
			for n := 0; loading.Err() == nil; n++ {
				done.Add(1)
				if read(c, fmt.Sprintf("/load/%d", (n+i)%50)) != nil {
					wrong.Add(1)
				}
			}
		})
	}
	jumped := 0
	err = func() error {
		c := d.client(false)
		for round := range max(1, s.rounds/10) {
			for i, off := range jumps {
				path := fmt.Sprintf("/kept/%d/%d", round, i)
				for range 3 { // the third is given again
					if err := read(c, path); err != nil {
						return err
					}
				}
				known := times(path).Load()
				if err := errors.Join(set(off), d.awaitClock(ctx, off)); err != nil {
					return err
				}
				jumped++
				time.Sleep(3 * time.Second)
				if err := read(c, path); err != nil {
					return err
				}
				if times(path).Load() == known {
					return fmt.Errorf("%s was fresh for three seconds after a jump to %v", path, off)
				}
				visit := fmt.Sprintf("/visit/%d/%d", round, i)
				err := errors.Join(read(c, visit), d.awaitVisit(ctx, visit), d.securedAt(ctx, off),
					d.keepsSession(ctx, fmt.Sprintf("s%d-%d", round, i)), d.answersMCP(ctx))
				if err != nil {
					return fmt.Errorf("after a jump to %v: %w", off, err)
				}
			}
		}
		return nil
	}()
	stop()
	beside.Wait()
	seen := fmt.Sprintf("%d jumps, %d requests beside, %d of them wrong", jumped, done.Load(), wrong.Load())
	if err != nil {
		return seen, err
	}
	if wrong.Load() > 0 {
		return seen, errors.New("an answer was wrong")
	}
	return seen, d.stop()
}

// awaitClock waits until the daemon's clock is off by a time.
func (d *daemon) awaitClock(ctx context.Context, off time.Duration) error {
	for range 1000 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.Admin+"/healthz", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		now, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			return err
		}
		if now.Sub(time.Now().Add(off)).Abs() < time.Minute {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("the daemon's clock is not off by %v", off)
}

// awaitVisit waits until a visit is told.
func (d *daemon) awaitVisit(ctx context.Context, path string) error {
	for range 1000 {
		text, err := d.Ask(ctx, "/api/v1/visits?limit=500", "", nil)
		if err != nil {
			return err
		}
		if strings.Contains(text, path+`"`) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the visit of %s is not told", path)
}

// securedAt asks for a page in a tunnel to a host whose certificate was signed under an earlier clock, and judges it by
// the daemon's clock. Years away, neither the authority nor the origin's certificate is valid: a certificate is signed
// then, for the next clock to find, and nothing is judged.
func (d *daemon) securedAt(ctx context.Context, off time.Duration) error {
	near := off.Abs() < 3*24*time.Hour
	tr := &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: d.Proxy}),
		TLSClientConfig: &tls.Config{
			RootCAs: d.roots, MinVersion: tls.VersionTLS12, InsecureSkipVerify: !near, //nolint:gosec // see above
			Time: func() time.Time { return time.Now().Add(off) },
		},
		DisableKeepAlives: true,
	}
	c := &http.Client{Transport: tr}
	resp, body, err := get(ctx, c, "https://h.faults.test/secured", "*/*") //nolint:bodyclose // get closes it
	if near && (err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(body, "what /secured says")) {
		return fmt.Errorf("in a tunnel: %w %.200q", err, body)
	}
	return nil
}

// keepsSession reads a page in a session and reports an error if the session does not have it.
func (d *daemon) keepsSession(ctx context.Context, session string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://h.faults.test/visit/"+session, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("X-Readthru-Session", session)
	resp, err := d.client(false).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil {
		return err
	}
	text, err := d.Ask(ctx, "/api/v1/context?session="+session, "", nil)
	if err == nil && !strings.Contains(text, "/visit/"+session) {
		err = fmt.Errorf("session %s lacks its page: %.300s", session, text)
	}
	return err
}

// answersMCP reports an error if the daemon does not list its tools.
func (d *daemon) answersMCP(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.Admin+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+d.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && !strings.Contains(string(text), `"search_knowledge_base"`) {
		err = fmt.Errorf("MCP: %s %.300s", resp.Status, text)
	}
	return err
}

// buildShifted builds the program with a clock that is off by as many seconds as a file says, which the environment
// names. Go asks the kernel for the time without a system call, so that no supervisor can answer in its place.
func buildShifted(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find Go: %w", err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return "", err
	}
	const reads = "\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), reads) != 1 {
		return "", errors.New("time.Now is not as it was")
	}
	replaced := map[string]string{}
	for name, content := range map[string]string{
		"time.go":  strings.Replace(string(text), reads, reads+"\tsec += shift.Load()\n", 1),
		"shift.go": shiftSource,
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(source, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	return webtest.Build(ctx, dir, "-overlay", file)
}

// shiftSource is a file of package time.
const shiftSource = `package time

import (
	"sync/atomic"
	"syscall"
)

var shift atomic.Int64 // seconds

func init() {
	path, ok := syscall.Getenv("READTHRU_FAULTS_CLOCK")
	if !ok {
		return
	}
	go func() {
		for ; ; Sleep(5 * Millisecond) {
			fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
			if err != nil {
				continue
			}
			var text [32]byte
			n, _ := syscall.Read(fd, text[:])
			syscall.Close(fd)
			seconds, sign := int64(0), int64(1)
			for _, c := range text[:max(n, 0)] {
				if c == '-' {
					sign = -1
				} else {
					seconds = seconds*10 + int64(c-'0')
				}
			}
			shift.Store(sign * seconds)
		}
	}()
}
`
