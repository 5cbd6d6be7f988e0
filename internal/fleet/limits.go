package fleet

import (
	"context"
	"errors"
	"time"
)

// maxTurn is how long a node waits at most for its turn at a host.
const maxTurn = 10 * time.Minute

// errAway is the error of what is asked while the database does not answer.
var errAway = errors.New("the fleet's database does not answer")

// Spend takes, of a limit, one of the requests that all nodes together may send to a service in a day (UTC, as
// 2006-01-02). ok is false if limit is reached. The error says that nobody knows: the database did not answer within
// Options.Wait.
func (f *Fleet) Spend(ctx context.Context, service, day string, limit int64) (ok bool, err error) {
	if !f.connected() || f.breaker.open() {
		return false, errAway
	}
	took := false // which an answer that comes too late may still set
	err = f.inTime(ctx, &f.breaker, func(ctx context.Context) error {
		var times int64
		return query(ctx, f.asking, `INSERT INTO spent AS s (service, day, times) SELECT $1, $2, 1 WHERE $3 > 0
			ON CONFLICT (service, day) DO UPDATE SET times = s.times + 1 WHERE s.times < $3 RETURNING times`,
			[]any{service, day, limit}, []any{&times}, func() error { took = true; return nil })
	})
	if err != nil {
		return false, err
	}
	return took, nil
}

// Turn returns, to limit the pace of all nodes, how long a crawl waits before it asks a host: requests of all nodes to
// the host begin interval apart, in the order of their calls. The error says that nobody knows, as with [Fleet.Spend].
func (f *Fleet) Turn(ctx context.Context, host string, interval time.Duration) (wait time.Duration, err error) {
	if !f.connected() || f.breaker.open() {
		return 0, errAway
	}
	var seconds float64
	err = f.inTime(ctx, &f.breaker, func(ctx context.Context) error {
		return query(ctx, f.asking, `INSERT INTO turns AS t (host, next) VALUES ($1, clock_timestamp() + $2::interval)
			ON CONFLICT (host) DO UPDATE
				SET next = least(greatest(t.next, clock_timestamp()), clock_timestamp() + $3::interval) + $2::interval
			RETURNING extract(epoch FROM next - $2::interval - clock_timestamp())`,
			[]any{host, interval.String(), maxTurn.String()}, []any{&seconds}, func() error { return nil })
	})
	if err != nil {
		return 0, err
	}
	return min(max(time.Duration(seconds*float64(time.Second)), 0), maxTurn), nil
}
