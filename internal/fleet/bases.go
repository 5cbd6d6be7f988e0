package fleet

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

const (
	// maxRound is the longest round that is taken over, in bytes, maxMembers how many members and steps it has, and
	// maxStep the longest step.
	maxRound   = 8 << 20
	maxMembers = 1000
	maxStep    = 512 << 10

	// keepDropped is for how long a node tells again that it has deleted a base, to a database that was set back.
	keepDropped = 30 * 24 * time.Hour
)

// baseRow is a knowledge base as the table bases has it.
type baseRow struct {
	name, id, record     string
	goneAt, filledAt     *time.Time
	filling, filled      int64
	rounds, filledRounds int
	paused               bool
}

const baseColumns = `name, id, CASE WHEN length(record) <= 65536 THEN record ELSE '' END, gone_at, filling, rounds,
	paused, filled, filled_rounds, filled_at`

// fields returns where the columns of baseColumns are scanned to.
func (r *baseRow) fields() []any {
	return []any{
		&r.name, &r.id, &r.record, &r.goneAt, &r.filling, &r.rounds, &r.paused, &r.filled, &r.filledRounds, &r.filledAt,
	}
}

// SharesBase reports whether a base is one of the fleet: it is filled from the web by this program, and began since the
// node is in the fleet.
func (f *Fleet) SharesBase(b knowledge.SharedBase) bool {
	switch {
	case f.o.Knowledge == nil || b.Never:
		return false
	case b.Told:
		return true
	case b.Source != knowledge.SourceCrawl && b.Source != knowledge.SourceScrape || !f.fillsItself(b.Service):
		return false
	}
	u, err := page.Parse(b.URL)
	if err != nil || !shareableURL(u) {
		return false
	}
	from := f.o.Store.FleetPosition().VisitsFrom
	return from > 0 && b.CreatedAt.UnixMilli() >= from
}

// fillsItself reports of a base whether its crawl service is this program itself, so that another node can continue its
// crawl.
func (f *Fleet) fillsItself(service string) bool {
	return service == "local" || f.o.FillsItself != nil && f.o.FillsItself(service)
}

// shareBases has the node and the database agree about knowledge bases. The node that fills a base tells what it has
// of it; the others take that over. News says that others have changed something.
func (f *Fleet) shareBases(ctx context.Context, news bool) error {
	if f.o.Knowledge == nil {
		return nil
	}
	s := &f.bases
	if news {
		if err := f.lookForBases(ctx); err != nil {
			return err
		}
	}
	if err := f.tellDropped(ctx); err != nil {
		return err
	}
	here := map[string]bool{}
	for _, b := range f.o.Knowledge.SharedBases() {
		here[b.Name] = true
		if err := f.sharing(ctx, b.ID, b.Name, func() error { return f.shareBase(ctx, b) }); err != nil {
			return err
		}
	}
	for name, r := range s.rows {
		if here[name] || r.goneAt != nil {
			continue
		}
		err := f.sharing(ctx, r.id, name, func() error {
			if err := f.takeBase(r); err != nil {
				return err
			}
			if b, ok := f.o.Knowledge.SharedBase(name); ok && b.ID == r.id {
				return f.shareBase(ctx, b)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return f.keepLeases(ctx)
}

// sharing does share for a base. If that fails because of the base, it is set aside, and tried again after a pause.
func (f *Fleet) sharing(ctx context.Context, id, name string, share func() error) error {
	if f.waits("base", name) {
		f.refuse(id, f.bases.unshared[id])
		return nil
	}
	f.bases.trouble = false
	err := catchTaking("base", name, share)
	switch {
	case err == nil && !f.bases.trouble:
		f.taken("base", name)
	case fault.Is(err), err != nil && !isConnection(err) && f.mayBeRow(ctx, err):
		f.tryLater("base", name, page.Key{}, err)
		f.bases.unshared[id] = errFaulty
		f.refuse(id, errFaulty)
		f.drop(id)
	default:
		return err
	}
	return nil
}

var errFaulty = errors.New("sharing this knowledge base with the fleet failed; the log of this node says where")

// isConnection reports, when bases are shared, whether an error may be one of the connection to the database.
func isConnection(err error) bool {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		return !isOfRow(e)
	}
	_, is := errors.AsType[net.Error](err)
	return is || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, context.Canceled)
}

// shareBase has the node and the database agree about a base of the node, and answers the question that waited whether
// the node may fill it.
func (f *Fleet) shareBase(ctx context.Context, b knowledge.SharedBase) error {
	a := f.question(b.ID)
	err := f.agree(ctx, b)
	if errors.Is(err, knowledge.ErrBuilding) {
		f.answer(b, a, err)
		return nil
	}
	f.answer(b, a, nil) // also after an error: without the database every node may
	return err
}

// As with changesSince, a look ends before the oldest transaction that still runs. A record that is too long is none.
const basesSince = `SELECT xid, ` + baseColumns + ` FROM bases
	WHERE (xid, id) > ($1::xid8, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
	ORDER BY xid, id LIMIT $3`

// lookForBases reads the rows of knowledge bases that changed since the last look.
func (f *Fleet) lookForBases(ctx context.Context) error {
	s := &f.bases
	for more := true; more; {
		n := 0
		var r baseRow
		err := f.query(ctx, basesSince, []any{strconv.FormatUint(s.xid, 10), s.id, lookPages},
			append([]any{&s.xid}, r.fields()...), func() error {
				n++
				if old := s.rows[r.name]; old != nil && (old.filling != r.filling || old.filled != r.filled || r.goneAt != nil) {
					f.taken("base", r.name) // there is something else to take
				}
				s.id, s.rows[r.name] = r.id, new(r)
				delete(s.lacking, r.id)
				return nil
			})
		if err != nil {
			return err
		}
		more = n == lookPages
	}
	return nil
}

// rowNow reads the row of a base again; nil if there is none.
func (f *Fleet) rowNow(ctx context.Context, name string) (*baseRow, error) {
	var found *baseRow
	var r baseRow
	err := f.query(ctx, "SELECT "+baseColumns+" FROM bases WHERE name = $1", []any{name}, r.fields(),
		func() error { found = &r; return nil })
	if err == nil && found != nil {
		f.bases.rows[name] = found
	}
	return found, err
}

// agree has the node and the database agree about a base of the node: it leaves a base that was deleted elsewhere,
// keeps one to itself whose name or id another one has, tells of a new one, and then fills or follows it.
func (f *Fleet) agree(ctx context.Context, b knowledge.SharedBase) (err error) {
	r := f.bases.rows[b.Name]
	switch {
	case r != nil && r.id == b.ID && r.goneAt != nil: // another node has deleted it
		return f.leaveBase(ctx, b)
	case r != nil && r.id != b.ID && r.goneAt == nil && b.Told: // and has made another one of that name
		return f.leaveBase(ctx, b)
	case r != nil && r.id != b.ID && r.goneAt == nil:
		f.noteConflict(b.Name, knowledge.ErrBaseExists)
		return nil
	case r == nil || r.id != b.ID:
		if !f.SharesBase(b) {
			return nil
		}
		r, err = f.tellBase(ctx, b)
		if isCode(err, uniqueViolation) {
			f.noteConflict(b.Name, knowledge.ErrBaseID)
			return nil
		}
		if err != nil || r.id != b.ID {
			return err
		}
	}
	if !b.Told { // it is told now, or was told to this database before that was set back
		if err := f.o.Knowledge.SetSharing(b, func(s *knowledge.Sharing) { s.Told = true }); err != nil {
			return err
		}
		b.Told = true
	}
	return f.fillOrFollow(ctx, b, r)
}

var errDeletedElsewhere = errors.New("another node of the fleet has deleted this knowledge base")

// leaveBase removes a base that is another node's to delete.
func (f *Fleet) leaveBase(ctx context.Context, b knowledge.SharedBase) error {
	if b.Busy {
		f.o.StopFilling(b.Name, errDeletedElsewhere)
		return nil
	}
	f.drop(b.ID)
	return f.o.Knowledge.LeaveBase(ctx, b.Name)
}

// noteConflict tells once that a base stays on this node.
func (f *Fleet) noteConflict(name string, why error) {
	if !f.bases.conflicts[name] {
		f.bases.conflicts[name] = true
		f.log.Warn("knowledge base not told to the fleet, which has another one", "kb", name, "err", why)
	}
}

// uniqueViolation is the code of the error when another base has the id of one that is told.
const uniqueViolation = "23505"

// tellBase tells of a base, and returns what the database then has of its name.
func (f *Fleet) tellBase(ctx context.Context, b knowledge.SharedBase) (*baseRow, error) {
	record := b.Base
	record.Service, record.Documents, record.Passages, record.Generation = "local", 0, 0, 0
	record.LastCrawl, record.Building, record.Paused = time.Time{}, false, false
	text, err := unknown.Marshal(record)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err = f.db.ExecContext(ctx, `INSERT INTO bases AS b (name, id, record) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET id = excluded.id, record = excluded.record, xid = pg_current_xact_id(),
			gone_at = NULL, last = 0, filling = 0, rounds = 0, paused = false, filled = 0, filled_rounds = 0, filled_at = NULL
		WHERE b.gone_at IS NOT NULL AND b.id <> excluded.id`, b.Name, b.ID, textOf(string(text)))
	if err != nil {
		return nil, err
	}
	r, err := f.rowNow(ctx, b.Name)
	if err == nil && r == nil {
		err = errors.New("a knowledge base was told and is not there")
	}
	return r, err
}

// tellDropped tells which bases were deleted here. That counts whenever it was: the same base does not come back.
func (f *Fleet) tellDropped(ctx context.Context) error {
	for _, d := range f.o.Knowledge.Dropped() {
		if f.bases.toldDropped[d.ID] {
			continue
		}
		if err := f.tellDrop(ctx, d); err != nil {
			return err
		}
		if time.Since(d.At) > keepDropped {
			if err := f.o.Knowledge.ForgetDropped(d); err != nil {
				return err
			}
		}
		f.bases.toldDropped[d.ID] = true
	}
	return nil
}

// tellDrop notes in the database that a base was deleted here, and removes what nodes told of its fillings.
func (f *Fleet) tellDrop(ctx context.Context, d knowledge.DroppedBase) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, `WITH gone AS (
			UPDATE bases SET gone_at = $2, xid = pg_current_xact_id(), filling = 0 WHERE id = $1 AND gone_at IS NULL)
		DELETE FROM rounds WHERE base = $1`, d.ID, d.At)
	if r := f.bases.rows[d.Name]; err == nil && r != nil && r.id == d.ID {
		r.goneAt = new(d.At)
	}
	return err
}

// takeBase makes a base that another node has made.
func (f *Fleet) takeBase(r *baseRow) error {
	b, err := r.base()
	if err != nil {
		f.refuseBase(r, err)
		return nil
	}
	switch err := f.o.Knowledge.TakeBase(b); {
	case errors.Is(err, knowledge.ErrBaseExists):
		f.noteConflict(r.name, err)
	case errors.Is(err, knowledge.ErrBaseID):
		f.refuseBase(r, err)
	case errors.Is(err, knowledge.ErrDropped): // since that was told, or another node has told of the base again
		delete(f.bases.toldDropped, r.id)
	default:
		return err
	}
	return nil
}

// refuseBase leaves a base alone that is none, for a while. Meanwhile this node may fill it if it is asked to.
func (f *Fleet) refuseBase(r *baseRow, err error) {
	f.bases.trouble, f.bases.unshared[r.id] = true, nil
	f.tryLater("base", r.name, page.Key{}, fmt.Errorf("%w: %w", errMalformed, err))
}

// base returns the knowledge base of a row, after it was checked to be one that nodes share: others write the database.
func (r *baseRow) base() (b knowledge.Base, err error) {
	if err := unknown.Unmarshal([]byte(r.record), &b); err != nil {
		return b, err
	}
	u, err := page.Parse(b.URL)
	switch {
	case b.Name != r.name || b.ID != r.id || knowledge.CheckBaseName(b.Name) != nil:
		return b, errNotItsOwn
	case b.Source != knowledge.SourceCrawl && b.Source != knowledge.SourceScrape || b.Service != "local":
		return b, fmt.Errorf("its source %.20q is unknown", b.Source)
	case err != nil || page.HasSecret(u) || !shareableURL(u):
		return b, errors.New("its URL is not one that nodes share")
	case b.Limit < 0 || b.Depth < 0 || len(b.Files) > 0 || b.Source == knowledge.SourceCrawl && b.Limit == 0:
		return b, errors.New("its limits are none")
	}
	return b, nil
}

// errMalformed is the error of what is read of a base that is left alone.
var errMalformed = errors.New("the base is malformed")

// followBase takes over what others have told of a base: the filling that answers, and the one that is under way.
func (f *Fleet) followBase(ctx context.Context, b knowledge.SharedBase, r *baseRow) error {
	k := f.o.Knowledge
	if r.filled != 0 && b.Filled != (knowledge.Filling{Number: r.filled, Rounds: r.filledRounds}) {
		ok, err := f.takeRounds(ctx, b, r, r.filled, r.filledRounds)
		if err != nil || !ok {
			return err
		}
		at := time.Now()
		if r.filledAt != nil {
			at = *r.filledAt
		}
		if err := k.TakeFilled(ctx, b, at.UTC()); err != nil {
			return err
		}
		b, _ = k.SharedBase(b.Name)
	}
	switch next := (knowledge.Filling{Number: r.filling, Rounds: r.rounds}); {
	case r.filling == 0 && b.Building:
		if err := k.TakeAborted(ctx, b); err != nil {
			return err
		}
	case r.filling != 0 && (b.Filling != next || b.Here || !b.Building):
		if ok, err := f.takeRounds(ctx, b, r, r.filling, r.rounds); err != nil || !ok {
			return err
		}
	}
	if paused := r.paused && r.filling != 0; paused != b.Paused {
		return k.SetPaused(b, paused)
	}
	return nil
}
