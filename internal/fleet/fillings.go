package fleet

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

const (
	// answerTime is how long a request to fill a base waits at most for the answer whether this node may.
	answerTime = 2 * time.Second

	// unusedTime is for how long a lease is kept after that answer for a filling that has not begun.
	unusedTime = 5 * time.Second

	// maxTaken is how many nodes in a row may die that have the lease of a base and tell nothing more of it: what the base
	// is filled with may be why.
	maxTaken = 3
)

// sharedBases is what a node knows of the knowledge bases of its fleet. All but held and asked is of Run alone.
type sharedBases struct {
	rows        map[string]*baseRow // by name
	since       time.Time           // the beginning of the session
	xid         uint64              // the transaction up to which rows were read
	id          string              // and the base in it
	beaten      time.Time
	tried       map[string]time.Time // when a lease was tried to be taken, by base
	trouble     bool                 // the base that is shared just now was set aside
	unshared    map[string]error     // what is answered to who asks for a base that was set aside
	lacking     map[string]time.Time // when rounds that were not there are looked for again, by base
	conflicts   map[string]bool      // names of bases that stay here
	toldDropped map[string]bool
	toldOften   int64 // how often something was told of a base, since the start

	mu    sync.Mutex
	held  map[string]*heldLease // by base
	asked map[string]*asked     // by base
	wake  chan struct{}         // capacity 1
}

// heldLease is a lease of this node to fill a base.
type heldLease struct {
	epoch int64
	since time.Time            // of the last sign that somebody here fills the base
	calls bool                 // while this node's own work is begun
	given knowledge.SharedBase // as it was when somebody was told that the base may be filled

	filling   int64             // the one that toldPages and toldSteps are about
	toldPages map[page.Key]bool // members of it that others know; nil: not read yet
	toldSteps int               // how many of the steps of its crawl they know
}

// asked is a question of a request of this node: may it fill a base?
type asked struct {
	base string
	done chan error
}

// FilledElsewhereError says that another node fills a knowledge base. Its name is empty if it is not known.
type FilledElsewhereError struct{ Name, Node string }

// Error says which node fills which base.
func (e *FilledElsewhereError) Error() string {
	if e.Node == "" {
		return fmt.Sprintf("another node of the fleet fills %s just now", e.Name)
	}
	return fmt.Sprintf("node %s of the fleet fills %s just now", e.Node, e.Name)
}

// Unwrap returns [knowledge.ErrBuilding].
func (e *FilledElsewhereError) Unwrap() error { return knowledge.ErrBuilding }

// errNotAll is the answer to who asks for a base of which this node lacks a part.
var errNotAll = fmt.Errorf("%w, and not all of that can be taken over", knowledge.ErrBuilding)

// renew forgets, of bases and their fillings, what was read in an earlier session.
func (s *sharedBases) renew() {
	s.since, s.rows, s.xid, s.id = time.Now(), map[string]*baseRow{}, 0, ""
	s.unshared = map[string]error{}
	s.tried, s.lacking = map[string]time.Time{}, map[string]time.Time{}
	s.conflicts, s.toldDropped = map[string]bool{}, map[string]bool{}
}

// lease returns the lease of this node to fill a base; nil if it has none.
func (s *sharedBases) lease(base string) *heldLease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[base]
}

// BeginFilling asks whether this node may fill a base of the fleet, and has the node take over what others have of it.
// The error is a [*FilledElsewhereError]. Without the database every node may: the first one goes on when it is back.
func (f *Fleet) BeginFilling(ctx context.Context, name string) error {
	if f.o.Knowledge == nil || !f.connected() {
		return nil
	}
	b, ok := f.o.Knowledge.SharedBase(name)
	if !ok || !f.SharesBase(b) {
		return nil
	}
	s := &f.bases
	s.mu.Lock()
	if h := s.held[b.ID]; h != nil && h.calls {
		s.mu.Unlock()
		return nil
	}
	a := s.asked[b.ID]
	if a == nil {
		a = &asked{b.ID, make(chan error, 1)}
		s.asked[b.ID] = a
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	limit := time.NewTimer(answerTime)
	defer limit.Stop()
	var err error
	select {
	case err = <-a.done:
		a.done <- err // for others who asked the same
	case <-limit.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	if s.asked[b.ID] == a {
		delete(s.asked, b.ID)
	}
	s.mu.Unlock()
	return err
}

// question returns the question about the filling of a base that waits while the node has no lease.
func (f *Fleet) question(base string) *asked {
	s := &f.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[base] != nil {
		return nil // the answer is yes, unless the lease goes: then it is tried to be taken by the next look
	}
	return s.asked[base]
}

// answer answers a question about a filling, and whatever was asked about the base since if the node has the lease.
func (f *Fleet) answer(b knowledge.SharedBase, a *asked, err error) {
	if now, ok := f.o.Knowledge.SharedBase(b.Name); ok && now.ID == b.ID {
		b = now
	}
	s := &f.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[b.ID]
	if h != nil && err == nil {
		a = s.asked[b.ID]
	}
	if a == nil || s.asked[b.ID] != a {
		return // it was answered, or nobody waits any more
	}
	if h != nil {
		h.given, h.since = b, time.Now()
	}
	delete(s.asked, b.ID)
	a.done <- err
}

// refuse answers whatever was asked about the filling of a base that this node may not do it just now.
func (f *Fleet) refuse(base string, err error) {
	s := &f.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.asked[base]; a != nil {
		delete(s.asked, base)
		a.done <- err
	}
}

// drop ends a filling: it forgets a lease of this node to fill a base.
func (f *Fleet) drop(base string) {
	f.bases.mu.Lock()
	delete(f.bases.held, base)
	f.bases.mu.Unlock()
}

// fillOrFollow decides for a base of the fleet: a node with the lease tells what it has filled; one without takes over
// what others tell, and tries to take the lease if it has something to tell, somebody asked, or nobody goes on with the
// filling.
func (f *Fleet) fillOrFollow(ctx context.Context, b knowledge.SharedBase, r *baseRow) error {
	if h := f.bases.lease(b.ID); h != nil {
		err := f.tellFilling(ctx, b, r, h)
		if errors.Is(err, errLeaseLost) {
			return f.yieldToHolder(ctx, b)
		}
		return err
	}
	asked := f.isAsked(b.ID)
	mine := b.Busy || b.Here && compatible(b, r) && hasUntold(b, r)
	if !mine && !inStep(b, r) {
		if err := f.followBase(ctx, b, r); err != nil {
			return err
		}
		b, _ = f.o.Knowledge.SharedBase(b.Name)
	}
	// After the database was away its holder may come back to a lease a moment later than others.
	if !mine && !asked && (r.filling == 0 || r.paused || !inStep(b, r) || !f.mayFill(b) ||
		time.Since(f.bases.since) < f.lease()) {
		return nil
	}
	// A lease that others have is not asked for at every look.
	if !asked && time.Since(f.bases.tried[b.ID]) < beatEvery {
		return nil
	}
	f.bases.tried[b.ID] = time.Now()
	return f.claim(ctx, b, asked)
}

// isAsked reports whether a request of this node waits for the answer whether it may fill a base.
func (f *Fleet) isAsked(base string) bool {
	f.bases.mu.Lock()
	defer f.bases.mu.Unlock()
	return f.bases.asked[base] != nil
}

// compatible reports, before a filling, whether what this node has of a base continues what others know of it.
func compatible(b knowledge.SharedBase, r *baseRow) bool {
	known := knowledge.Filling{Number: r.filling, Rounds: r.rounds}
	switch {
	case b.Building && b.Filling.Number == 0, b.Filled.Number == 0 && b.Generation > 0:
		return r.filling == 0 && (b.Building || r.filledAt == nil || b.LastCrawl.After(*r.filledAt))
	case b.Building:
		return b.Filling == known
	}
	return b.Filled == known || r.filling == 0
}

// hasUntold reports whether this node has something of a base's filling that others do not know.
func hasUntold(b knowledge.SharedBase, r *baseRow) bool {
	return b.Building && (!b.Paused || !r.paused) || hasFilled(b, r)
}

// inStep reports whether this node has what others know of a base's filling, and nothing else.
func inStep(b knowledge.SharedBase, r *baseRow) bool {
	return (r.filled == 0 || b.Filled == knowledge.Filling{Number: r.filled, Rounds: r.filledRounds}) &&
		b.Filling == knowledge.Filling{Number: r.filling, Rounds: r.rounds} && b.Building == (r.filling != 0) &&
		(!b.Here || !b.Building) && b.Paused == (r.paused && r.filling != 0)
}

// claim takes the lease for the filling of a base, and fills it or has what was filled told. Unless somebody asked for
// it, a base that no node can fill without dying waits until somebody does.
func (f *Fleet) claim(ctx context.Context, b knowledge.SharedBase, asked bool) error {
	epoch, taken, err := f.takeLease(ctx, leaseOf(b.ID))
	if err != nil {
		return err
	}
	if epoch == 0 {
		node, err := f.holderOf(ctx, leaseOf(b.ID))
		if err != nil {
			return err
		}
		if b.Busy {
			f.yieldTo(b, node)
		} else {
			f.refuse(b.ID, &FilledElsewhereError{b.Name, node})
		}
		return nil
	}
	ready, err := f.catchUp(ctx, b)
	if err == nil && ready && taken > maxTaken && !asked && !b.Busy && f.bases.rows[b.Name].filling != 0 {
		f.log.Warn("knowledge base not filled any more: the nodes that filled it died", "kb", b.Name, "nodes", taken-1,
			"remedy", "look at what they logged, then refresh it")
		return f.pauseFilling(ctx, b, f.bases.rows[b.Name], &heldLease{epoch: epoch})
	}
	if err != nil || !ready {
		return cmp.Or(f.giveBack(ctx, b.ID, epoch), err)
	}
	f.bases.mu.Lock()
	f.bases.held[b.ID] = &heldLease{epoch: epoch, since: time.Now()}
	f.bases.mu.Unlock()
	return nil
}

// catchUp has a node that has just taken the lease of a base have what others know of its filling, and reports whether
// it may go on from there.
func (f *Fleet) catchUp(ctx context.Context, b knowledge.SharedBase) (ready bool, err error) {
	r, err := f.rowNow(ctx, b.Name) // nobody else changes it from now on
	if err != nil || r == nil || r.id != b.ID || r.goneAt != nil {
		return false, err
	}
	if compatible(b, r) && b.Here {
		return true, nil
	}
	if b.Busy {
		f.yieldTo(b, "")
		return false, nil
	}
	if err := f.followBase(ctx, b, r); err != nil {
		return false, err
	}
	if b, _ = f.o.Knowledge.SharedBase(b.Name); !inStep(b, r) {
		f.refuse(r.id, errNotAll)
		return false, nil
	}
	return true, nil
}

// yieldTo stops to fill a base that another node fills. Its name is empty if it is not known.
func (f *Fleet) yieldTo(b knowledge.SharedBase, node string) {
	f.drop(b.ID)
	f.log.Info("another node fills a knowledge base", "kb", b.Name, "node", node)
	why := &FilledElsewhereError{b.Name, node}
	f.refuse(b.ID, why)
	f.o.StopFilling(b.Name, why)
}

// yieldToHolder is yieldTo after the lease for a filling was lost.
func (f *Fleet) yieldToHolder(ctx context.Context, b knowledge.SharedBase) error {
	node, err := f.holderOf(ctx, leaseOf(b.ID))
	if err == nil {
		f.yieldTo(b, node)
	}
	return err
}

// fillAlone goes on with what this node filled, while nobody knows what others do.
func (f *Fleet) fillAlone() {
	if f.o.Knowledge == nil {
		return
	}
	for _, b := range f.o.Knowledge.SharedBases() {
		if !b.Building || b.Paused || b.Busy || !b.Here || !f.SharesBase(b) || !f.mayFill(b) {
			continue
		}
		if err := f.o.Fill(b.Name); err != nil {
			f.log.Warn("knowledge base not filled", "kb", b.Name, "err", err)
		}
	}
}

// forgetBases forgets what others know of bases and fillings: this is another database.
func (f *Fleet) forgetBases() error {
	if f.o.Knowledge == nil {
		return nil
	}
	f.bases.mu.Lock()
	f.bases.held = map[string]*heldLease{}
	f.bases.mu.Unlock()
	return f.o.Knowledge.ForgetSharing()
}

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

// mayFill reports whether this node may do the filling of a base, as [Options] say.
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
