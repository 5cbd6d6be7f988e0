package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// maxRenditionLife is for how long a rendition of another node is used at most.
const maxRenditionLife = 31 * 24 * time.Hour

// AskRendition looks for what another node made of the page of a URI by a recipe. If makes is true and nobody has made
// it, this node is to make it, and others wait for that. If another node makes it just now, AskRendition waits, for as
// long as [Fleet.Ask] does.
//
// If it returns nil, the caller may make the rendition, and then calls TellRendition, or done if there is none to tell
// of. The rendition is not stored. Its recipe is the one that was asked for.
func (f *Fleet) AskRendition(ctx context.Context, k page.Key, uri, recipe string, makes bool) (
	r *store.Rendition, done func(),
) {
	done = func() {}
	if !f.mayAsk(uri) {
		return nil, done
	}
	id := renditionID(k, recipe)
	end := func() { //nolint:contextcheck // the request may be over by then
		f.work.Go(fault.Contain("fleet: end a flight", func() { f.endFlight(id) }))
	}
	for w := newWaiting(); ; {
		found, err := f.lookRendition(ctx, id, makes)
		switch {
		case err != nil && makes:
			return nil, end // the database may have noted that this node makes it
		case err != nil:
			return nil, done
		case found.leased:
			return nil, end
		case found.record != nil:
			r, err := f.readRendition(ctx, &found, recipe)
			if errors.Is(err, errNotItsOwn) || errors.Is(err, errContent) {
				f.dropRendition(id, found.record, err) //nolint:contextcheck // it outlives who asks
			}
			if err != nil {
				f.log.Debug("rendition of the fleet not taken over", "id", fmt.Sprintf("%x", id[:8]), "err", err)
				return nil, done
			}
			f.taken("rendition", hex.EncodeToString(id[:]))
			f.note(func(s *Status) { s.Renditions++ })
			return r, done
		case !found.busy || !f.waitForNews(ctx, w, id):
			return nil, done
		}
	}
}

// renditionID identifies what is made of a page by a recipe.
func renditionID(k page.Key, recipe string) [32]byte {
	return sha256.Sum256([]byte("rendition\x00" + string(k[:]) + recipe))
}

// foundRendition is what the fleet has of a rendition.
type foundRendition struct {
	leased bool   // this node is to make it
	busy   bool   // another one makes it
	record []byte // nil: there is none
	body   []byte // compressed; nil: it is in the object store
	hash   []byte
	length int
}

// A rendition is of no use after its page was deleted or purged. made_at is when its node began, so that it was made
// of what was there before. The row of a node that takes the flight at the same moment is not seen, but keeps this one
// from taking it.
const lookForRendition = `
	WITH known AS (
		SELECT record, CASE WHEN octet_length(body) > $6 THEN '' ELSE body END AS body, body_hash, body_length
		FROM renditions AS r
		WHERE id = $1 AND expires > now() AND NOT purged(url, host, '{}', made_at)
			AND made_at < now() + $5::interval AND octet_length(record) <= $7 AND length(body_hash) = 32
			AND NOT EXISTS (SELECT FROM pages AS p WHERE p.key = r.page AND p.gone_at >= r.made_at)
	), taken AS (
		INSERT INTO flights AS f (uri, node, until) SELECT $1, $2, now() + $3::interval
		WHERE $4 AND NOT EXISTS (SELECT FROM known)
		ON CONFLICT (uri) DO UPDATE SET node = excluded.node, until = excluded.until, alone = false
		WHERE NOT (f.` + flies + `)
		RETURNING true
	)
	SELECT EXISTS (SELECT FROM taken), CASE WHEN $4 THEN NOT EXISTS (SELECT FROM taken)
			AND NOT EXISTS (SELECT FROM flights WHERE uri = $1 AND alone AND ` + flies + `)
			ELSE EXISTS (SELECT FROM flights WHERE uri = $1 AND NOT alone AND ` + flies + `) END,
		record, body, body_hash, COALESCE(body_length, 0)
	FROM (SELECT) AS one LEFT JOIN known ON true`

// lookRendition asks the database once for a rendition, within Options.Wait. With makes, the same statement takes the
// flight for this node if there is no rendition, and no other node has it.
func (f *Fleet) lookRendition(ctx context.Context, id [32]byte, makes bool) (foundRendition, error) {
	var is foundRendition
	err := f.inTime(ctx, &f.breaker, func(ctx context.Context) error {
		return query(ctx, f.askingOften, lookForRendition, []any{
			id[:], f.o.Node, flightTime.String(), makes, maxAhead.String(), maxPacked, maxHead,
		}, []any{&is.leased, &is.busy, &is.record, &is.body, &is.hash, &is.length}, func() error { return nil })
	})
	if err != nil {
		return foundRendition{}, err // the question may still be under way, and write into is
	}
	return is, nil
}

// readRendition returns a rendition of another node, after it was checked to be one for a recipe.
func (f *Fleet) readRendition(ctx context.Context, found *foundRendition, recipe string) (*store.Rendition, error) {
	r := new(store.Rendition)
	err := json.Unmarshal(found.record, r)
	if err != nil || !shareableRendition(r) || r.Recipe != recipe ||
		r.Expires.After(time.Now().Add(maxRenditionLife)) {
		return nil, errNotItsOwn
	}
	r.Markdown, err = f.contentInTime(ctx, found.body, found.length, found.hash)
	if err != nil {
		return nil, err
	}
	r.ContentHash, r.Excerpt, r.MarkdownChars = "", "", 0 // they are made of the markdown
	return r, nil
}

// dropRendition sets a row aside that has no rendition, and removes it: no node can use it, and each would look at it
// again before it makes one.
func (f *Fleet) dropRendition(id [32]byte, record []byte, why error) {
	f.setAside("rendition", hex.EncodeToString(id[:]), why)
	f.work.Go(fault.Contain("fleet: end a malformed rendition", func() {
		err := f.inTime(context.Background(), &f.breaker, func(ctx context.Context) error {
			sum := sha256.Sum256(record) // another one may have taken its place
			_, err := f.asking.ExecContext(ctx, "DELETE FROM renditions WHERE id = $1 AND sha256(record) = $2", id[:], sum[:])
			return err
		})
		if err != nil {
			f.log.Debug("malformed rendition not removed", "err", err)
		}
	}))
}

// shareableRendition reports whether a rendition may leave the node, and is worth that. What local conversion makes of
// a page's bytes, and markdown that an origin has, any node gets as soon as it could ask for it.
func shareableRendition(r *store.Rendition) bool {
	return shareableURI(r.FinalURL) && len(r.Markdown) <= maxShared &&
		(r.From == page.Browser || r.From == page.MarkdownNew || r.From == page.LLM)
}

// TellRendition tells others of a rendition of the page of a URI, which this node began to make at a time. It does not
// wait, and while the database is away it tells nothing. r must not change any more.
func (f *Fleet) TellRendition(k page.Key, uri string, began time.Time, r *store.Rendition) {
	if !shareableURI(uri) || textOf(uri) != uri || !f.connected() {
		return
	}
	id := renditionID(k, r.Recipe)
	f.work.Go(fault.Contain("fleet: end a rendition", func() {
		err := errors.New("it stays on its node")
		if shareableRendition(r) {
			err = fault.Catch("fleet: tell of a rendition", func() error { return f.sendRendition(id, k, uri, began, r) })
		}
		if err != nil {
			f.log.Debug("rendition not told to the fleet", "id", fmt.Sprintf("%x", id[:8]), "err", err)
			f.endFlight(id)
		}
	}))
}

// sendRendition writes a rendition into the database, with its content into the object store if it is large. One that
// began to be made later stays.
func (f *Fleet) sendRendition(id [32]byte, k page.Key, uri string, began time.Time, r *store.Rendition) error {
	ctx, cancel := context.WithTimeout(context.Background(), statementTime)
	defer cancel()
	record, err := json.Marshal(r)
	if err != nil {
		return err
	}
	content := &blob{hash: sha256.Sum256(r.Markdown), packed: bucket.Pack(r.Markdown)}
	if f.place(ctx, []*blob{content}); content.held {
		return errNotNow
	}
	// The flight stays for a moment: a node that looked just before this commits must not take it.
	_, err = f.asking.ExecContext(ctx, `
		WITH told AS (
			INSERT INTO renditions AS r
				(id, page, url, host, node, made_at, expires, record, body, body_hash, body_length)
			VALUES ($1, $2, $3, $4, $5, timestamptz 'epoch' + $6 * interval '1 microsecond',
				timestamptz 'epoch' + $7 * interval '1 microsecond', $8, $9, $10, $11)
			ON CONFLICT (id) DO UPDATE SET url = excluded.url, host = excluded.host, node = excluded.node,
				made_at = excluded.made_at, expires = excluded.expires, record = excluded.record, body = excluded.body,
				body_hash = excluded.body_hash, body_length = excluded.body_length
			WHERE excluded.made_at > r.made_at OR r.made_at > now() + `+maxAheadSQL+`
		) UPDATE flights SET until = now() + interval '1 second' WHERE uri = $1 AND node = $5`,
		id[:], k[:], uri, page.AuthorityOf(uri), f.o.Node, began.UnixMicro(), r.Expires.UnixMicro(), record, content.packed,
		content.hash[:], len(r.Markdown))
	return err
}
