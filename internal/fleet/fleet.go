package fleet

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Consumer is the fleet's name in the store's change log.
const Consumer = "fleet"

// Options configures a Fleet. Database, Node and Store must be set.
type Options struct {
	// Database is a URL like postgres://user@host/database.
	Database string

	// Bodies is a URL like s3://bucket/prefix?endpoint=https://host, where content is kept that is too large for a row.
	// All nodes of a fleet must have the same. If empty, all content is in rows.
	Bodies string

	// Name keeps the fleets of a database apart, and is the schema of their tables. If empty, "readthru".
	Name string

	// Node is the name of this node. Two nodes of a fleet must not have the same.
	Node string

	// Version is the program's, for people.
	Version string

	// Wait is for how long a request waits at most for an answer of the database, each time it asks. If zero, 50 ms.
	Wait time.Duration

	// Store is the node's own store.
	Store *store.Store

	// UsersChanged is called after users of other nodes were taken over in the store. If nil, nobody uses them.
	UsersChanged func() error

	// UsedElsewhere is told now and then how many tokens other nodes gave each user today. It may be nil.
	UsedElsewhere func(now time.Time, tokens map[string]int64)

	// Knowledge has the node's knowledge bases. If nil, it shares none. Otherwise Fill and StopFilling must be set.
	Knowledge *knowledge.Knowledge

	// FillsItself reports whether this program itself crawls for bases with a crawl service, rather than another server.
	FillsItself func(service string) bool

	// MayFill reports whether this node may go on with a base of its own accord just now. If nil, it always may.
	MayFill func(b knowledge.Base) bool

	// Fill continues to fill a base, which this node may do, and returns when that has begun.
	Fill func(base string) error

	// StopFilling ends that, because another node goes on or has deleted the base. It does not wait for the end.
	StopFilling func(base string, why error)

	// Lease is for how long others leave to a node what it does without hearing of it. If zero, 15 s.
	Lease time.Duration

	// Log gets what an operator should know. If nil, slog.Default.
	Log *slog.Logger
}

// How often a node looks for its own changes, and for those of others while there are some; for others' at most that
// long after the last look; how often it tells that it is there, and removes what is obsolete.
const (
	lookEvery  = 250 * time.Millisecond
	lookAtMost = 750 * time.Millisecond
	beatEvery  = 2 * time.Second
	sweepEvery = time.Hour
)

// Fleet is a node's part in a fleet. It is safe for concurrent use.
type Fleet struct {
	o   Options
	log *slog.Logger

	db          *sql.DB
	often       *prepared      // db, for what each look asks
	asking      *sql.DB        // for requests
	askingOften *prepared      // asking, for what each request asks
	seats       chan struct{}  // taken by questions that are under way
	work        sync.WaitGroup // questions, and what follows from them
	breaker     breaker
	bucket      *bucket.Bucket // nil: all content is in rows
	untold      untold
	position    store.FleetPosition // of Run alone
	shared      sharedUsers         // of Run alone
	bases       sharedBases
	hosts       sharedHosts   // of Run alone
	apart       time.Duration // of Run alone: how far the database's clock is ahead; 0 if that is little
	lastTold    *row          // of Run alone: what was told last, since the start

	toldVisits map[string]int64 // of Run alone: those that may be looked at again, by id; when they were made

	resumed bool      // of Run alone: it stands where it stood in a database since the start
	setBack bool      // of Run alone: the database lacks what it had
	mark    time.Time // of Run alone: what this node wrote last into its own row; zero: nothing since it connected anew
	started time.Time

	bucketBreaker breaker
	missedAt      []byte // of keepBodies alone: after which missed content it looks on

	mu     sync.Mutex
	state  Status
	asides map[asideKey]asideRow
}

// States of a node.
const (
	Connected    = "ok"
	Connecting   = "connecting" // since the start
	Disconnected = "degraded"   // the node works alone
)

// Status is the state of a node's part in its fleet, for the API and the dashboard.
type Status struct {
	Name   string `json:"name"`
	Node   string `json:"node"`
	State  string `json:"state"`            // ok, connecting or degraded
	Reason string `json:"reason,omitempty"` // why not ok, for people
	Remedy string `json:"remedy,omitempty"`

	Outbox     int64     `json:"outbox"`          // pages that the fleet is not told of yet
	Behind     int64     `json:"behind"`          // changes of others that are not taken over yet, of at most 10,000
	Published  int64     `json:"published"`       // pages and deletions told, since the start
	Taken      int64     `json:"taken"`           // pages and deletions of others that were taken over, since the start
	Refused    int64     `json:"refused"`         // rows of others that were not taken over because they are malformed
	SetAside   int64     `json:"set_aside"`       // rows of others that are not taken over just now
	Aside      []Aside   `json:"aside,omitempty"` // the newest of them
	Told       int64     `json:"told"`            // stored responses told, since the start
	Reused     int64     `json:"reused"`          // stored responses of others that answered here, or were validated
	Renditions int64     `json:"renditions"`      // renditions of others that were used instead of making them
	Waited     int64     `json:"waited"`          // requests for which another node was already at work
	Late       int64     `json:"late"`            // questions that the database did not answer in time
	Since      time.Time `json:"since"`           // when State began
	Bodies     Bodies    `json:"bodies"`          // without an object store, its State is empty
}

// nameForm is what may be a schema without quotes.
var nameForm = lazy.Pattern(`^[a-z][a-z0-9_]{0,39}$`)

// Check returns an error for options with which no fleet can work. It connects to nothing.
func (o Options) Check() error {
	u, err := url.Parse(o.Database)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("the database is no URL like postgres://user@host/database")
	}
	if _, err := o.connector(); err != nil {
		return err
	}
	if o.Bodies != "" {
		if _, err := bucket.New(o.Bodies); err != nil {
			return &BodiesError{err}
		}
	}
	if !nameForm().MatchString(o.name()) || len(o.Node) > 100 {
		return fmt.Errorf("%q is no name of a fleet: it has up to 40 of a to z, 0 to 9 and _, and begins with a letter",
			o.Name)
	}
	return nil
}

// BodiesError is the error of Check and New for Options.Bodies.
type BodiesError struct{ Err error }

// Error says what of the fleet's object store fails.
func (e *BodiesError) Error() string { return "object store: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *BodiesError) Unwrap() error { return e.Err }

// name returns the name of the fleet, which is the schema of its tables.
func (o Options) name() string { return cmp.Or(o.Name, "readthru") }

// New returns a Fleet. It connects to nothing before Run.
func New(o Options) (*Fleet, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	connector, err := o.connector()
	if err != nil {
		return nil, err
	}
	f := &Fleet{o: o, log: o.Log, started: time.Now()}
	if f.log == nil {
		f.log = slog.Default()
	}
	f.db = sql.OpenDB(connector) // which connects when it is used
	f.db.SetMaxOpenConns(maxConnections)
	f.db.SetConnMaxIdleTime(time.Minute)
	if connector, err = o.connector(); err != nil {
		return nil, err
	}
	f.asking = sql.OpenDB(connector)
	f.asking.SetMaxOpenConns(maxConnections)
	f.asking.SetMaxIdleConns(maxConnections)
	f.asking.SetConnMaxIdleTime(time.Minute)
	f.often, f.askingOften = newPrepared(f.db), newPrepared(f.asking)
	f.seats = make(chan struct{}, maxAsking)
	f.bases = sharedBases{held: map[string]*heldLease{}, asked: map[string]*asked{}, wake: make(chan struct{}, 1)}
	f.missedAt = []byte{}
	f.hosts.common, f.asides = map[trait]store.Fact{}, map[asideKey]asideRow{}
	f.untold = untold{list: map[slot]*stored{}, ready: make(chan struct{}, 1)}
	f.o.Wait = cmp.Or(f.o.Wait, 50*time.Millisecond)
	if o.Bodies != "" {
		if f.bucket, err = bucket.New(o.Bodies); err != nil {
			return nil, &BodiesError{err}
		}
	}
	f.state = Status{Name: o.name(), Node: o.Node, State: Connecting, Since: f.started}
	if f.bucket != nil {
		f.state.Bodies.State = Connecting
	}
	return f, nil
}

// Leave has a store forget that its node was in a fleet, so that its change log keeps nothing for that.
func Leave(s *store.Store) error {
	if p := s.FleetPosition(); p.Database == "" {
		return nil
	}
	return errors.Join(s.ForgetConsumer(Consumer), s.TellPurges(false), s.SetFleetPosition(store.FleetPosition{}))
}

// Close ends the connections, after Run.
func (f *Fleet) Close() {
	_ = f.db.Close() // nothing is under way
	f.work.Wait()
	_ = f.asking.Close() // the same
	if f.bucket != nil {
		f.bucket.Close()
	}
}

// Status returns the node's state.
func (f *Fleet) Status() Status {
	f.mu.Lock()
	st := f.state
	n, newest := f.namedAside()
	f.mu.Unlock()
	st.SetAside, st.Aside = int64(n), newest
	st.Bodies.Held += f.untold.heldNow()
	st.Outbox = f.o.Store.QueuedJobs(Consumer)
	return st
}

// connected reports whether the database answers, as far as is known.
func (f *Fleet) connected() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.State == Connected
}

// note changes what [Fleet.Status] tells, under its lock.
func (f *Fleet) note(change func(*Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.state)
}

// shareable reports whether a page may leave the node for the fleet: it was read from the web, and its URL has nothing
// that its reader alone may know.
func shareable(r *page.Record) bool { return shareableURI(r.NormalizedURL) }

// shareableURI is shareableURL for a URI as it is written.
func shareableURI(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && shareableURL(u)
}

// shareableURL reports whether what a URL names may leave the node for the fleet.
func shareableURL(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && !page.Loopback(u.Hostname()) && !page.Unlisted(u)
}
