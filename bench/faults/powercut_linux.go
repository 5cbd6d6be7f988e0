package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// syncedWithin is how long an answer may wait to be on the disk: the store syncs once a second.
const syncedWithin = 3 * time.Second

// powercut cuts the power while pages are read: the daemon goes on with a data directory that holds what was synced,
// and in every second round some pages of what was not. Nothing older than a sync is lost, and nothing is wrong.
func powercut(ctx context.Context, s settings) (string, error) {
	w, err := newWeb(ctx, s.dir, http.HandlerFunc(tomes), nil)
	if err != nil {
		return "", err
	}
	defer w.Close()
	var t tally
	rnd := rand.New(rand.NewPCG(uint64(s.rounds), 1)) //nolint:gosec // only an order
	dir := filepath.Join(s.dir, "data")
	for round := range s.rounds {
		next := filepath.Join(s.dir, fmt.Sprint("after", round))
		if err := t.round(ctx, s, w, round, dir, next, rnd); err != nil {
			return t.String(), fmt.Errorf("round %d: %w", round, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return t.String(), err
		}
		dir = next
	}
	seen := fmt.Sprintf("%d power cuts, %v", s.rounds, &t)
	switch {
	case t.wrong > 0:
		return seen, errors.New("a body was wrong")
	case t.aside > 0:
		return seen, errors.New("a store was set aside")
	case s.timed && t.older > 0:
		return seen, fmt.Errorf("a page was lost that was read %v before", t.oldest)
	}
	return seen, nil
}

// tally is what powercut saw.
type tally struct {
	syncs, read, lost, older, wrong, aside int
	oldest                                 time.Duration
}

func (t *tally) String() string {
	return fmt.Sprintf("%d syncs, %d pages read, %d of them lost, the oldest %v before a cut, %d wrong bodies, %d "+
		"stores set aside",
		t.syncs, t.read, t.lost, t.oldest.Round(time.Millisecond), t.wrong, t.aside)
}

// round reads pages in a data directory, cuts the power, and looks at what is left of them, in a new one.
func (t *tally) round(ctx context.Context, s settings, w *web, round int, dir, next string, rnd *rand.Rand) error {
	if round == 0 { // makes the directory
		d, err := serveUnder(ctx, s, dir, w, nil)
		if err != nil {
			return err
		}
		if err := d.stop(); err != nil {
			return err
		}
	}
	p, err := newDisk(dir, filepath.Join(s.dir, fmt.Sprint("synced", round)))
	if err != nil {
		return err
	}
	done := func() {}
	d, err := serveUnder(ctx, s, dir, w, func(cmd *exec.Cmd) error {
		self, err := os.Executable()
		cmd.Args = append([]string{self, launched}, cmd.Args...)
		cmd.Path = self
		if err == nil {
			done, err = p.supervise(cmd)
		}
		return err
	})
	if err != nil {
		return err
	}
	answers, bad, cut := readUntilKilled(ctx, d, s, round, syncedWithin+time.Duration(rnd.IntN(3000))*time.Millisecond)
	done()
	t.wrong += int(bad)
	t.syncs += p.syncs
	if err := p.after(next, round%2 == 1, rnd); err != nil {
		return err
	}
	d, err = serveUnder(ctx, s, next, w, nil)
	if err != nil {
		return fmt.Errorf("after the cut: %w", err)
	}
	defer d.kill()
	entries, err := os.ReadDir(next)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "store") && e.Name() != "store" {
			t.aside++
		}
	}
	return t.check(ctx, d, answers, cut)
}

// check asks for what was read before a cut, from the store alone.
func (t *tally) check(ctx context.Context, d *daemon, answers []answered, cut time.Time) error {
	c := d.client(false)
	for _, a := range answers {
		t.read++
		for _, accept := range []string{"text/html", "*/*"} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url, http.NoBody)
			if err != nil {
				return err
			}
			req.Header.Set("Accept", accept)
			req.Header.Set("Cache-Control", "only-if-cached")
			resp, err := c.Do(req)
			if err != nil {
				return err
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			path := strings.TrimPrefix(a.url, "http://h.faults.test")
			switch {
			case err != nil || resp.StatusCode == http.StatusOK && !isTome(string(body), path, accept):
				t.wrong++
			case resp.StatusCode == http.StatusOK:
			case accept == "text/html":
				t.lost++
				before := cut.Sub(a.at)
				t.oldest = max(t.oldest, before)
				if before > syncedWithin {
					t.older++
				}
			}
		}
	}
	return nil
}
