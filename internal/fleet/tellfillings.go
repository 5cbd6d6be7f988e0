package fleet

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// A round that is told has at most so many members, and so many bytes of steps unless it has one step.
const (
	batchMembers = 500
	batchSteps   = 1 << 20
)

// readTold reads what others know of the newest filling of a base, before it tells of it, unless that is known.
func (f *Fleet) readTold(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease) error {
	newest := b.NewestFilling()
	if h.toldPages != nil && h.filling == newest.Number {
		return nil
	}
	pages, steps := map[page.Key]bool{}, 0
	err := f.eachRounds(ctx, r, newest.Number, 0, newest.Rounds, func(rounds []knowledge.Round) error {
		for i := range rounds {
			for _, m := range rounds[i].Members {
				pages[page.KeyOf(m.URL)] = true
			}
			steps += len(rounds[i].Steps)
		}
		return nil
	})
	if err == nil {
		h.filling, h.toldPages, h.toldSteps = newest.Number, pages, steps
	}
	return err
}

// tellFilling tells how far this node has filled a base, and in the end what came of it.
func (f *Fleet) tellFilling(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease) error {
	k := f.o.Knowledge
	if newest := b.NewestFilling(); b.Newest != 0 && r.filling != 0 && newest.Rounds < r.rounds &&
		(newest.Number == 0 || newest.Number == r.filling) { // this node told that, and the answer was lost
		told := knowledge.Filling{Number: r.filling, Rounds: r.rounds}
		if err := k.ToldFilling(b, told); err != nil {
			return err
		}
		if b.Building {
			b.Filling = told
		} else {
			b.Filled = told
		}
		h.toldPages = nil
	}
	if err := f.readTold(ctx, b, r, h); errors.Is(err, errMalformed) {
		return f.giveBack(ctx, b.ID, h.epoch)
	} else if err != nil {
		return err
	}
	round, keys, err := k.Progress(b, h.toldPages, h.toldSteps)
	if err != nil {
		return err
	}
	if now, _ := k.SharedBase(b.Name); now.Newest != b.Newest || now.Building != b.Building {
		return nil // it was filled or given up while it was read
	}
	if !b.Busy && time.Since(h.since) < unusedTime && b.ID == h.given.ID && b.Newest == h.given.Newest &&
		b.Building == h.given.Building {
		return nil // the filling that was asked for has not begun
	}
	filled := hasFilled(b, r)
	if !b.Building && !filled { // it was given up, or has not begun
		return f.tellAborted(ctx, b, r, h)
	}
	if len(keys)+len(round.Steps) > 0 || filled && b.Filled.Number == 0 {
		for more := true; more; { // their pages come first
			if more, err = f.publish(ctx); err != nil {
				return err
			}
			if err := f.keepLeases(ctx); err != nil {
				return err
			}
		}
		if err := f.tellRounds(ctx, b, r, h, round); err != nil {
			return err
		}
		for _, key := range keys {
			h.toldPages[key] = true
		}
		h.toldSteps += len(round.Steps)
	}
	switch {
	case b.Busy:
		h.since = time.Now()
	case filled:
		return f.tellFilled(ctx, b, r, h)
	case b.Paused:
		return f.pauseFilling(ctx, b, r, h)
	default:
		return f.goOn(ctx, b, h)
	}
	return nil
}

func (f *Fleet) mayFill(b knowledge.SharedBase) bool {
	return f.o.MayFill == nil || f.o.MayFill(b.Base)
}

// goOn begins the filling of a base that nobody fills. If that is not possible, another node may try.
func (f *Fleet) goOn(ctx context.Context, b knowledge.SharedBase, h *heldLease) error {
	if !f.mayFill(b) { // all that this node has of it was told
		if err := f.o.Knowledge.SetSharing(b, func(s *knowledge.Sharing) { s.Here = false }); err != nil {
			return err
		}
		return f.giveBack(ctx, b.ID, h.epoch)
	}
	calls := func(is bool) {
		f.bases.mu.Lock()
		h.calls = is
		f.bases.mu.Unlock()
	}
	calls(true)
	err := f.o.Fill(b.Name)
	calls(false)
	if err == nil {
		return nil
	}
	f.log.Warn("knowledge base of the fleet not filled", "kb", b.Name, "err", err)
	return f.giveBack(ctx, b.ID, h.epoch)
}

// tellRounds tells what a filling has beyond what others know. Members come before the steps that led to them: a
// node that goes on does not read a page again that the steps have.
func (f *Fleet) tellRounds(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease,
	all knowledge.Round,
) error {
	var rounds []knowledge.Round
	shared := all.Members[:0]
	for _, m := range all.Members {
		if u, err := page.Parse(m.URL); err == nil && page.Normalize(u) == m.URL && shareableURL(u) {
			shared = append(shared, m)
		}
	}
	for len(shared) > 0 {
		n := min(batchMembers, len(shared))
		rounds, shared = append(rounds, knowledge.Round{Members: shared[:n]}), shared[n:]
	}
	size := 0
	for _, step := range all.Steps {
		if last := len(rounds) - 1; last < 0 || size+len(step) > batchSteps || len(rounds[last].Steps) == maxMembers {
			rounds, size = append(rounds, knowledge.Round{}), 0
		}
		last := &rounds[len(rounds)-1]
		last.Steps = append(last.Steps, step)
		size += len(step)
	}
	if len(rounds) == 0 {
		rounds = append(rounds, knowledge.Round{})
	}
	filling := b.NewestFilling()
	err := f.underLease(ctx, leaseOf(b.ID), h.epoch, false, func(ctx context.Context, tx *sql.Tx) error {
		if filling.Number == 0 {
			err := tx.QueryRowContext(ctx, `UPDATE bases SET last = last + 1, filling = last + 1, rounds = 0
				WHERE id = $1 AND gone_at IS NULL AND filling = 0 RETURNING filling`, b.ID).Scan(&filling.Number)
			if errors.Is(err, sql.ErrNoRows) {
				return errLeaseLost
			}
			if err != nil {
				return err
			}
		}
		for _, round := range rounds {
			text, err := json.Marshal(round)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO rounds (base, filling, n, content) VALUES ($1, $2, $3, $4)", b.ID,
				filling.Number, filling.Rounds, textOf(string(text))); err != nil {
				return err
			}
			filling.Rounds++
		}
		return changesOne(tx.ExecContext(ctx, `UPDATE bases SET xid = pg_current_xact_id(), rounds = $3, paused = false
			WHERE id = $1 AND gone_at IS NULL AND filling = $2`, b.ID, filling.Number, filling.Rounds))
	})
	if err != nil {
		return err
	}
	h.filling = filling.Number
	r.filling, r.rounds, r.paused = filling.Number, filling.Rounds, false
	f.bases.toldOften++
	return f.o.Knowledge.ToldFilling(b, filling)
}

// tellFilled tells that a filling answers from now on.
func (f *Fleet) tellFilled(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease) error {
	return f.endFilling(ctx, b, r, h, `UPDATE bases SET xid = pg_current_xact_id(), filled = filling,
		filled_rounds = rounds, filled_at = $3, filling = 0, rounds = 0, paused = false
		WHERE id = $1 AND filling = $2`, b.LastCrawl)
}

// pauseFilling tells that a filling waits until somebody asks for more.
func (f *Fleet) pauseFilling(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease) error {
	return f.endFilling(ctx, b, r, h, `UPDATE bases SET xid = pg_current_xact_id(), paused = true
		WHERE id = $1 AND filling = $2`)
}

// tellAborted tells that a filling was given up.
func (f *Fleet) tellAborted(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease) error {
	if r.filling == 0 {
		return f.giveBack(ctx, b.ID, h.epoch)
	}
	return f.endFilling(ctx, b, r, h, `UPDATE bases SET xid = pg_current_xact_id(), filling = 0, rounds = 0,
		paused = false WHERE id = $1 AND filling = $2`)
}

// endFilling tells how a filling ended and gives its lease back.
func (f *Fleet) endFilling(ctx context.Context, b knowledge.SharedBase, r *baseRow, h *heldLease, text string,
	args ...any,
) error {
	err := f.underLease(ctx, leaseOf(b.ID), h.epoch, true, func(ctx context.Context, tx *sql.Tx) error {
		if err := changesOne(tx.ExecContext(ctx, text, append([]any{b.ID, r.filling}, args...)...)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM rounds AS r USING bases AS b
			WHERE r.base = $1 AND b.id = $1 AND r.filling NOT IN (b.filling, b.filled)`, b.ID)
		return err
	})
	if err != nil {
		return err
	}
	f.drop(b.ID)
	f.bases.toldOften++
	if err := f.o.Knowledge.SetSharing(b, func(s *knowledge.Sharing) { s.Here = false }); err != nil {
		return err
	}
	_, err = f.rowNow(ctx, b.Name)
	return err
}
