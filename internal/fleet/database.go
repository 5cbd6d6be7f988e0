package fleet

import (
	"context"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

const (
	// statementTime bounds a statement, and with it how long a database that does not answer is waited for.
	statementTime = 10 * time.Second
	connectTime   = 5 * time.Second

	maxConnections = 4
	oldestServer   = 150000 // PostgreSQL 15

	// clockLimit is how far the node's clock may be from the database's before that is told.
	clockLimit = 5 * time.Second
)

//go:embed migrations/*.sql
var migrations embed.FS

// directSetting is a setting of ours that each connection begins with. A pooler that gives each transaction another
// connection does not pass it on.
const directSetting = "readthru.direct"

// connector returns what connects to the database.
func (o Options) connector() (*pq.Connector, error) {
	u, err := url.Parse(o.Database)
	if err != nil {
		return nil, errUnreadable // the error may have the password
	}
	q := u.Query()
	spreadHosts(u, q)
	q.Set("search_path", o.name())
	q.Set("application_name", "readthru "+o.Node)
	q.Set(directSetting, "yes")
	q.Set("statement_timeout", strconv.FormatInt(statementTime.Milliseconds(), 10))
	q.Set("binary_parameters", "yes") // else each statement goes to the server twice: to be parsed, and to be run
	q.Set("connect_timeout", strconv.Itoa(int(connectTime.Seconds())))
	u.RawQuery = q.Encode()
	c, err := pq.NewConnector(u.String())
	if err != nil {
		return nil, errUnreadable // the same
	}
	c.Dialer(dialer{})
	return c, nil
}

// spreadHosts has the driver, which knows several hosts in the query alone, understand those of the database, of an URL
// as libpq does: postgres://a:5432,b:5432/name. The one that takes writes is used, unless the URL says another.
func spreadHosts(u *url.URL, q url.Values) {
	var hosts, ports []string
	for each := range strings.SplitSeq(u.Host, ",") {
		host, port, err := net.SplitHostPort(each)
		if err != nil {
			host, port = each, "5432"
		}
		hosts, ports = append(hosts, host), append(ports, port)
	}
	if len(hosts) > 1 {
		u.Host = ""
		q.Set("host", strings.Join(hosts, ","))
		q.Set("port", strings.Join(ports, ","))
	}
	if strings.Contains(q.Get("host"), ",") && !q.Has("target_session_attrs") {
		q.Set("target_session_attrs", "read-write")
	}
}

// dialer makes connections that end when the server stalls.
type dialer struct{}

// Dial connects to the database's server, within connectTime. It is a method of pq.Dialer.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, connectTime)
}

// DialTimeout connects to the database within a time.
func (d dialer) DialTimeout(network, address string, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext connects to the database until ctx ends.
func (dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &boundConn{conn}, nil
}

// boundConn is a connection on which every read and write has a limit: the driver itself waits for ever for a server
// that stalls. It does not read while no statement is under way.
type boundConn struct{ net.Conn }

// Read reads from the database within the time of a statement.
func (c *boundConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(statementTime + time.Second)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write writes to the database within the time of a statement.
func (c *boundConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(statementTime + time.Second)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// States of a database that this node cannot work with.
var (
	errUnreadable  = errors.New("the database's URL cannot be read")
	errMoved       = errors.New("the connection leads to another database, or to an older copy of it")
	errNewerTables = errors.New("a newer readthru has made the fleet's tables")
	errOldServer   = errors.New("the server is older than PostgreSQL 15")
	errReadOnly    = errors.New("the database takes no writes: it is a standby, or read-only")
	errStatements  = errors.New("the pooler before the database gives each statement another connection")
	errSearchPath  = errors.New("the pooler before the database does not say in which schema the tables are")
)

// connect looks at the database's server, makes the tables where they are missing, and returns which database this is.
// The error is one of the states above for a server that cannot be worked with.
func (f *Fleet) connect(ctx context.Context) (identity string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // nodes may wait for one that makes the tables
	defer cancel()
	var server int
	var readOnly, schema, pooled, named bool
	var now time.Time
	err = f.db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int,
		current_setting('transaction_read_only')::bool, clock_timestamp(),
		EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), current_setting($2, true) IS NULL,
		parse_ident(split_part(current_setting('search_path'), ',', 1)) = ARRAY[$1::text]`, f.o.name(), directSetting).
		Scan(&server, &readOnly, &now, &schema, &pooled, &named)
	switch {
	case err != nil:
		return "", err
	case server < oldestServer:
		return "", errOldServer
	case readOnly:
		return "", errReadOnly
	case !named:
		return "", errSearchPath
	}
	if pooled {
		if err := f.tryTransaction(ctx); err != nil {
			return "", err
		}
	}
	f.often.noteWay(pooled)
	f.askingOften.noteWay(pooled)
	f.noteClock(time.Until(now))
	if !schema {
		create := "CREATE SCHEMA IF NOT EXISTS " + pq.QuoteIdentifier(f.o.name())
		if _, err := f.db.ExecContext(ctx, create); err != nil && !isCode(err, "23505") { // another node makes it just now
			return "", err
		}
	}
	if err := f.migrate(ctx); err != nil {
		return "", err
	}
	if identity, err = f.identify(ctx); err != nil {
		return "", err
	}
	f.setBack, err = f.wasSetBack(ctx)
	return identity, err
}

// tryTransaction returns errStatements if the connection to the database ends when a transaction begins, as a pooler of
// statements has it, whose message the driver does not tell.
func (f *Fleet) tryTransaction(ctx context.Context) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err == nil {
		err = tx.Commit()
	}
	if errors.Is(err, driver.ErrBadConn) && ctx.Err() == nil {
		return errStatements
	}
	return err
}

// wasSetBack reports whether the database lacks what this node told it last, what it took last, or its mark, which is
// later than both: a snapshot of it was restored, or the last moment was lost. What was told and taken may be there
// again because others have told it meanwhile; the mark is this node's alone.
func (f *Fleet) wasSetBack(ctx context.Context) (is bool, err error) {
	err = f.queryOften(ctx, "SELECT "+setBackSince, f.lastKnown(), []any{&is}, func() error { return nil })
	return is, err
}

// setBackSince says in SQL whether the database lacks what [Fleet.lastKnown] returns.
const setBackSince = `($1::bytea <> '' AND NOT EXISTS (
		SELECT FROM pages WHERE key = $1 AND greatest(fetched_at, gone_at) >= $2::timestamptz)
	OR $3::bytea <> '' AND NOT EXISTS (SELECT FROM pages WHERE key = $3 AND xid >= $4::xid8)
	OR NOT $5 AND NOT EXISTS (SELECT FROM nodes WHERE name = $6 AND seen_at >= $7::timestamptz))`

// lastKnown returns what this node told the database last, what it took last, and its mark.
func (f *Fleet) lastKnown() []any {
	p, told := f.o.Store.FleetPosition(), f.lastTold
	var key []byte
	var at time.Time
	if told != nil {
		key, at = told.key[:], told.fetchedAt
	}
	return []any{orEmpty(key), at, orEmpty(p.Key), strconv.FormatUint(p.XID, 10), f.mark.IsZero(), f.o.Node, f.mark}
}

// orEmpty returns b for the database, or no bytes instead of NULL: a comparison with NULL is neither true nor false in
// SQL.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// migrate makes or changes the tables of the fleet's database. One node at a time does that, under a lock in the
// database. The error wraps errNewerTables if a newer program has made them.
func (f *Fleet) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	one, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(time.Second, 30))
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, f.db, files, goose.WithLocker(one),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > known {
		return fmt.Errorf("%w: version %d, and this one knows %d", errNewerTables, have, known)
	}
	if have == known {
		return nil
	}
	_, err = p.Up(ctx)
	return err
}

// identityOf is the identity of a fleet, and the line of its server's history.
const identityOf = `id || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)`

// identify returns which database this is. Another one, or another line of its history after a failover or a restored
// backup, may lack what this node told and have what it did not see.
func (f *Fleet) identify(ctx context.Context) (identity string, err error) {
	const look = `SELECT ` + identityOf + `,
		COALESCE(greatest((SELECT max(xid) FROM pages), (SELECT max(xid) FROM purges), (SELECT max(xid) FROM bases),
				(SELECT max(xid) FROM hosts))
			>= pg_snapshot_xmax(pg_current_snapshot()), false)
		FROM fleet`
	var ahead bool
	err = f.db.QueryRowContext(ctx, look).Scan(&identity, &ahead)
	if err != nil && !errors.Is(err, sql.ErrNoRows) || err == nil && !ahead {
		return identity, err // many nodes that start at once do not wait for each other
	}
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or its error is returned
	// A row that a person has removed is another fleet's from now on: nodes tell again what they have.
	if _, err := tx.ExecContext(ctx, "INSERT INTO fleet DEFAULT VALUES ON CONFLICT DO NOTHING"); err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, look+" FOR UPDATE").Scan(&identity, &ahead)
	if err == nil && ahead { // the rows come from another server, whose transactions had higher numbers
		if _, err = tx.ExecContext(ctx, "UPDATE pages SET xid = pg_current_xact_id()"); err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE purges SET xid = pg_current_xact_id()")
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE bases SET xid = pg_current_xact_id()")
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE hosts SET xid = pg_current_xact_id()")
		}
		if err == nil {
			renew := "UPDATE fleet SET id = gen_random_uuid() RETURNING " + identityOf
			err = tx.QueryRowContext(ctx, renew).Scan(&identity)
		}
	}
	if err != nil {
		return "", err
	}
	return identity, tx.Commit()
}

// prepared asks a database what is asked again and again: each connection keeps the statement with its plan, since to
// plan one takes the server several times as long as to run it. Behind a pooler nothing is prepared: what the next
// transaction finds under the name of a statement may be another client's. It is safe for concurrent use.
type prepared struct {
	db *sql.DB

	mu         sync.Mutex
	statements map[string]*sql.Stmt
	pooled     bool
}

// newPrepared returns statements of a database, none of which is prepared yet. Until it is told otherwise it takes it
// that there is a pooler.
func newPrepared(db *sql.DB) *prepared {
	return &prepared{db: db, statements: map[string]*sql.Stmt{}, pooled: true}
}

// noteWay notes whether there is a pooler before the database. Before it is called there may be one.
func (p *prepared) noteWay(pooled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pooled = pooled
}

// QueryContext runs a statement of the database, which is prepared unless it is already.
func (p *prepared) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	p.mu.Lock()
	s, pooled := p.statements[text], p.pooled
	p.mu.Unlock()
	if pooled {
		return p.db.QueryContext(ctx, text, args...)
	}
	if s == nil {
		fresh, err := p.db.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		if s = p.statements[text]; s == nil {
			s, p.statements[text] = fresh, fresh
		}
		p.mu.Unlock()
		if s != fresh { // another call was faster
			_ = fresh.Close() // nothing is under way
		}
	}
	return s.QueryContext(ctx, args...)
}

// noteClock notes how far the clocks of the node and of the database are apart, and logs it if that is much: of two
// readings of a page the later one counts.
func (f *Fleet) noteClock(apart time.Duration) {
	f.apart = 0
	if apart = apart.Round(time.Second); apart.Abs() > clockLimit {
		f.apart = apart
		f.log.Warn("the clocks of this node and of the fleet's database are apart", "by", apart.Abs(), "remedy",
			"set them by NTP: of two readings of a page the later one counts")
	}
}

// isCode reports whether an error is one of the database server's with a code.
func isCode(err error, code string) bool {
	e, ok := errors.AsType[*pq.Error](err)
	return ok && string(e.Code) == code
}

// explain returns an error of the database in a sentence without secrets, and what to do about it.
func explain(err error, name string) (reason, remedy string) {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		reason = fmt.Sprintf("the database says: %s (%s)", e.Message, e.Code)
		switch string(e.Code) {
		case "28P01", "28000":
			if strings.Contains(e.Message, "no encryption") {
				return reason, "write sslmode=verify-full instead of sslmode=disable in fleet.database"
			}
			return reason, "correct user and password in fleet.database, or what pg_hba.conf allows"
		case "3D000":
			return reason, "create the database, or correct its name in fleet.database"
		case "42501":
			return reason, "have the database's owner allow it: CREATE SCHEMA " + name +
				" AUTHORIZATION the user of fleet.database"
		case "42P07", "42710", "42703", "42P01":
			return reason, "the schema " + name + " has tables of others: choose another fleet.name"
		case "25006":
			return errReadOnly.Error(), "name the primary in fleet.database"
		case "53100":
			return reason, "free space on the database's disk"
		case "08P01":
			if strings.Contains(e.Message, "startup parameter") {
				return reason, "in PgBouncer, set ignore_startup_parameters = extra_float_digits,search_path,statement_timeout," +
					directSetting + "; in the database, ALTER ROLE … SET search_path = " + name
			}
		case "53300":
			return reason, "raise max_connections: a node uses at most 8"
		}
		return reason, "see the server's log"
	}
	switch {
	case errors.Is(err, errStatements):
		return err.Error(), "have it pool transactions: pool_mode = transaction in PgBouncer"
	case errors.Is(err, errSearchPath):
		return err.Error(), "say it for the user of fleet.database: ALTER ROLE … SET search_path = " + name +
			"; then have the pooler connect anew"
	case errors.Is(err, errNewerTables):
		return err.Error(), "upgrade readthru on this node"
	case errors.Is(err, errOldServer):
		return err.Error(), "upgrade the server"
	case errors.Is(err, errReadOnly):
		return err.Error(), "name the primary in fleet.database"
	case errors.Is(err, pq.ErrSSLNotSupported):
		return "the server offers no TLS",
			"switch it on there, or, on a network that you trust, add sslmode=disable to fleet.database"
	case errors.Is(err, errMoved):
		return err.Error(), "nothing: this node tells it again what it has read"
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return "the database's host " + e.Name + " has no address", "correct fleet.database"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return "the database cannot be reached: " + e.Err.Error(), "start it, or correct fleet.database"
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "the database did not answer in time", "look at its load and the network"
	}
	if reason, remedy = explainTLS(err); reason != "" {
		return reason, remedy
	}
	if why, ok := strings.CutPrefix(err.Error(), "pq: "); ok { // the driver's own, most about options of the URL
		return "the database cannot be used: " + why, "correct fleet.database"
	}
	return "the connection to the database ended", "nothing: this node tries again"
}

// explainTLS is explain for what keeps a node from trusting the database's certificate; reason is empty for other
// errors.
func explainTLS(err error) (reason, remedy string) {
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the database's certificate is not trusted: " + e.Error(),
			"name its authority with sslrootcert in fleet.database"
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the database's certificate is for others: " + e.Error(),
			"write the host that the certificate names in fleet.database, or have it name this one"
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return "the database's certificate is not valid now: " + e.Error(), "renew it, or set the clocks by NTP"
		}
		return "the database's certificate is not valid: " + e.Error(), "have the database's operator mend it"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return "a file that fleet.database names cannot be read: " + e.Error(),
			"correct sslrootcert, sslcert or sslkey in fleet.database, or who may read the file"
	}
	return "", ""
}

// query asks the database within the time of a statement. It calls each for every row, with its columns in fields.
func (f *Fleet) query(ctx context.Context, text string, args, fields []any, each func() error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return query(ctx, f.db, text, args, fields, each)
}

// queryOften is query for a statement that each node asks the database again and again.
func (f *Fleet) queryOften(ctx context.Context, text string, args, fields []any, each func() error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return query(ctx, f.often, text, args, fields, each)
}

// querier is a database, or one that keeps statements prepared.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// query runs a statement and calls each for every row, after its columns were scanned to fields. The error is that of
// the database, or the first of each.
func query(ctx context.Context, db querier, text string, args, fields []any, each func() error) error {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells what went wrong
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}
