package fleet

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// takeRounds takes over the rounds of the filling of a base, and reports whether they were all there. What was there of
// it stays.
func (f *Fleet) takeRounds(ctx context.Context, b knowledge.SharedBase, r *baseRow, number int64, n int) (bool, error) {
	if time.Now().Before(f.bases.lacking[r.id]) {
		return false, nil
	}
	from := 0
	if b.Building && !b.Here && b.Filling.Number == number && b.Filling.Rounds <= n {
		from = b.Filling.Rounds
	}
	if n == 0 {
		return true, f.o.Knowledge.TakeRounds(ctx, b, number, nil, true)
	}
	whole := from == 0
	err := f.eachRounds(ctx, r, number, from, n, func(rounds []knowledge.Round) error {
		if err := f.withoutGone(ctx, rounds); err != nil {
			return err
		}
		if err := f.o.Knowledge.TakeRounds(ctx, b, number, rounds, whole); err != nil {
			return err
		}
		from, whole = from+len(rounds), false
		b.Filling = knowledge.Filling{Number: number, Rounds: from}
		return nil
	})
	if errors.Is(err, errMalformed) {
		return false, nil
	}
	if err == nil && from < n { // they are of an older filling by now, or were lost
		if !f.bases.lacking[r.id].IsZero() {
			f.bases.trouble, f.bases.unshared[r.id] = true, errNotAll
			f.tryLater("base", r.name, page.Key{}, errors.New("rounds of it are missing, or too large"))
		}
		f.bases.lacking[r.id] = time.Now().Add(beatEvery)
	}
	return from == n, err
}

// eachRounds calls do with the rounds of the filling of a base that follow from one on and come before another one,
// some at a time. A base with a malformed one is refused, and the error wraps errMalformed.
func (f *Fleet) eachRounds(ctx context.Context, r *baseRow, number int64, from, to int,
	do func([]knowledge.Round) error,
) error {
	for from < to {
		var rounds []knowledge.Round
		var malformed error
		var n int
		var text string
		// The first one, and of those that follow as many as are not longer together than one may be.
		err := f.query(ctx, `SELECT n, content FROM (
				SELECT n, content, sum(octet_length(content)) OVER (ORDER BY n) AS size FROM rounds
				WHERE base = $1 AND filling = $2 AND n >= $3 AND n < $4 AND octet_length(content) <= $5
				ORDER BY n LIMIT 50) AS next
			WHERE size <= $5 ORDER BY n`, []any{r.id, number, from, to, maxRound}, []any{&n, &text}, func() error {
			if malformed == nil && n != from+len(rounds) {
				malformed = errors.New("a round of it is missing")
			}
			if malformed == nil {
				var round knowledge.Round
				round, malformed = f.readRound(text)
				rounds = append(rounds, round)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if malformed != nil {
			f.refuseBase(r, malformed)
			return fmt.Errorf("%w: %w", errMalformed, malformed)
		}
		if len(rounds) == 0 {
			return nil
		}
		if err := do(rounds); err != nil {
			return err
		}
		from += len(rounds)
		if err := f.keepLeases(ctx); err != nil {
			return err
		}
	}
	return nil
}

// readRound returns a round of a base's filling after it was checked to be one. Members that are no pages stay away,
// and are counted.
func (f *Fleet) readRound(text string) (round knowledge.Round, err error) {
	if err := json.Unmarshal([]byte(text), &round); err != nil {
		return round, err
	}
	if len(round.Members) > maxMembers || len(round.Steps) > maxMembers {
		return round, errors.New("a round of it is too large")
	}
	for _, step := range round.Steps {
		if len(step) > maxStep {
			return round, errors.New("a step of it is too large")
		}
	}
	kept := round.Members[:0]
	for _, m := range round.Members {
		u, err := page.Parse(m.URL)
		if err != nil || page.Normalize(u) != m.URL || !shareableURL(u) || len(m.Hash) > 64 {
			f.note(func(s *Status) { s.Refused++ })
			continue
		}
		kept = append(kept, m)
	}
	round.Members = kept
	return round, nil
}

// withoutGone removes those members of a base whose page was deleted since.
func (f *Fleet) withoutGone(ctx context.Context, rounds []knowledge.Round) error {
	var keys [][]byte
	for i := range rounds {
		for _, m := range rounds[i].Members {
			key := page.KeyOf(m.URL)
			keys = append(keys, key[:])
		}
	}
	if len(keys) == 0 {
		return nil
	}
	gone := map[string]bool{}
	var key []byte
	err := f.query(ctx, "SELECT key FROM pages WHERE key = ANY($1) AND gone_at IS NOT NULL", []any{pq.ByteaArray(keys)},
		[]any{&key}, func() error { gone[string(key)] = true; return nil })
	if err != nil || len(gone) == 0 {
		return err
	}
	for i := range rounds {
		kept := rounds[i].Members[:0]
		for _, m := range rounds[i].Members {
			if key := page.KeyOf(m.URL); !gone[string(key[:])] {
				kept = append(kept, m)
			}
		}
		rounds[i].Members = kept
	}
	return nil
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

// A round that is told has at most so many members, and so many bytes of steps unless it has one step.
const (
	batchMembers = 500
	batchSteps   = 1 << 20
)
