package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/readthru/readthru/internal/webtest"
)

// slower is the share by which a hit may cost more than at another commit before that counts.
const slower = .05

// compare builds another commit and measures the cost of its hits beside those of the binary under test. It returns an
// error if one of ours costs more by over 5 % and by more than the noise.
func compare(ctx context.Context, s settings, commit string) error {
	old := s
	var err error
	if old.readthru, err = build(ctx, s.dir, commit); err != nil {
		return err
	}
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	before, err := oursIn(ctx, old, o, filepath.Join(s.dir, "data-before"))
	if err != nil {
		return err
	}
	defer before.process.stop()
	after, err := oursIn(ctx, s, o, filepath.Join(s.dir, "data-after"))
	if err != nil {
		return err
	}
	defer after.process.stop()
	var rows []*row // pairs
	for _, size := range s.sizes {
		for _, kind := range []string{textKind, htmlKind} {
			pages := min(s.pages, max(hosts, maxHot/max(size, 1)))
			was := ways([]*peer{before}, kind, size, inTurn(kind, size, pages))
			is := ways([]*peer{after}, kind, size, inTurn(kind, size, pages))
			for i := range was {
				rows = append(rows, was[i], is[i])
			}
		}
	}
	if err := fill(ctx, s, rows); err != nil {
		return err
	}
	if err := measure(ctx, s, rows); err != nil {
		return err
	}
	fmt.Printf("CPU µs of a cached hit at %s and now, medians of %d rounds of %s\n\n", commit, s.rounds, s.round)
	fmt.Println("| bytes | content | way | before | now | now/before | noise |")
	fmt.Println("|---|---|---|---|---|---|---|")
	worse := false
	for i := 0; i < len(rows); i += 2 {
		was, noiseBefore := median(rows[i].cost)
		is, noiseNow := median(rows[i+1].cost)
		noise := max(noiseBefore, noiseNow)
		fmt.Printf("| %d | %s | %s | %.1f | %.1f | %.2f | ±%.0f %% |\n", rows[i].size, rows[i].kind, rows[i].way, was, is,
			is/was, noise*100)
		worse = worse || is > was*(1+slower) && is > was*(1+noise)
	}
	if worse {
		return errors.New("a hit costs more than 5 % more than it did")
	}
	return nil
}

// build builds the program as of a commit of this repository, in a folder, and returns the path of the binary.
func build(ctx context.Context, dir, commit string) (string, error) {
	tree := filepath.Join(dir, "tree")
	if err := git(ctx, "worktree", "add", "--detach", tree, commit); err != nil {
		return "", err
	}
	binary, err := webtest.Build(ctx, dir, "-C", tree)
	return binary, errors.Join(err, git(ctx, "worktree", "remove", "--force", tree))
}

func git(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w: %s", args, err, out)
	}
	return nil
}
