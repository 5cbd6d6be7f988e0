package fleet

import (
	"context"
	"database/sql"
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

// hasFilled reports whether this node has filled a base and others do not know that.
func hasFilled(b knowledge.SharedBase, r *baseRow) bool {
	return !b.Building && b.Generation > 0 && (b.Filled.Number == 0 || b.Filled.Number == r.filling)
}
