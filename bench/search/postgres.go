package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	_ "github.com/lib/pq" // registers the driver
)

// postgres is PostgreSQL's full text search with its English configuration, over the same passages and fields. It runs
// as a server of its own.
type postgres struct {
	db     *sql.DB
	server *exec.Cmd
}

// errNoPostgres means that PostgreSQL is not installed.
var errNoPostgres = errors.New("PostgreSQL is not installed")

// openPostgres starts a server in a folder.
func openPostgres(dir string) (engine, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) == 0 {
		return nil, errNoPostgres
	}
	bin := filepath.Dir(slices.Max(found))
	data := filepath.Join(dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		args = append([]string{filepath.Join(bin, name), "-D", data}, args...)
		if os.Geteuid() == 0 { // it refuses to run as root
			args = append([]string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}, args...)
		}
		cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
		cmd.Dir = dir
		return cmd
	}
	if os.Geteuid() == 0 {
		if out, err := exec.CommandContext(context.Background(), "chown", "postgres", dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("give %s to PostgreSQL: %w: %s", dir, err, out)
		}
	}
	if out, err := command("initdb", "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "-E",
		"UTF8").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	e := &postgres{server: command("postgres", "-c", "listen_addresses=", "-c", "unix_socket_directories="+dir,
		"-c", "fsync=off")}
	if err := e.server.Start(); err != nil {
		return nil, err
	}
	db, err := sql.Open("postgres", "postgres:///postgres?user=postgres&sslmode=disable&host="+dir)
	if err != nil {
		return nil, errors.Join(err, e.end())
	}
	e.db = db
	for limit := time.Now().Add(30 * time.Second); db.Ping() != nil && time.Now().Before(limit); {
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := db.Exec(`CREATE TABLE passages (url text, words tsvector)`); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// maxVector is how much of a passage is indexed: PostgreSQL refuses a vector over 1 MiB.
const maxVector = 200 << 10

func (e *postgres) add(ctx context.Context, docs []document) (err error) {
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO passages VALUES ($1, setweight(to_tsvector('english', $2), 'A') ||
		setweight(to_tsvector('english', $3), 'B') || to_tsvector('english', $4))`)
	if err != nil {
		return err
	}
	for i := range docs {
		for _, p := range docs[i].passages() {
			text := p.text[:min(len(p.text), maxVector)]
			if _, err := insert.ExecContext(ctx, p.url, p.title, p.path, text); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// search ranks passages that have any word of the query, title and headings counting twice.
func (e *postgres) search(ctx context.Context, text string, limit int) (urls []string, err error) {
	rows, err := e.db.QueryContext(ctx, `SELECT url, ts_rank('{.5, .5, 1, 1}', words, q, 1) AS rank
		FROM passages, (SELECT replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery AS q) AS query
		WHERE words @@ q ORDER BY rank DESC LIMIT 300`, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var list []found
	for rows.Next() {
		var f found
		if err := rows.Scan(&f.url, &f.score); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return pagesOf(list, limit), rows.Err()
}

func (e *postgres) close() error { return errors.Join(e.db.Close(), e.end()) }

func (e *postgres) end() error {
	_ = e.server.Process.Signal(os.Interrupt) // it may have ended
	_ = e.server.Wait()                       // however it ended
	return nil
}
