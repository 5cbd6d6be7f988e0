package fleet

import (
	"context"

	"github.com/lib/pq"

	"github.com/readthru/readthru/page"
)

// forgetSecrets removes from the database, once for each edition of the rules, what nodes of older programs told of
// URLs that may not leave a node now: stored responses and visits. Pages are deleted as all are, by the change log.
// What cannot be removed now is tried again when the node next finds the database: no node that knows the rules asks
// for it.
func (f *Fleet) forgetSecrets(ctx context.Context) error {
	if f.position.Secrets >= page.SecretEdition {
		return nil
	}
	removed := 0
	for _, table := range []string{"responses", "visits"} {
		n, err := f.forgetSecretsIn(ctx, table)
		if err != nil {
			f.log.Warn("secrets of older nodes are not removed", "table", table, "err", err)
			return ctx.Err()
		}
		removed += n
	}
	if removed > 0 {
		f.log.Info("removed what older nodes told of secret URLs", "urls", removed)
	}
	next := f.position
	next.Secrets = page.SecretEdition
	err := f.o.Store.SetFleetPosition(next)
	if err == nil {
		f.position = next
	}
	return err
}

// forgetSecretsIn removes the rows of a table whose URL may not leave a node, and returns how many URLs these had.
func (f *Fleet) forgetSecretsIn(ctx context.Context, table string) (n int, err error) {
	var secret pq.StringArray
	var url string
	err = f.query(ctx, "SELECT DISTINCT url FROM "+table, nil, []any{&url}, func() error {
		if !shareableURI(url) {
			secret = append(secret, url)
		}
		return nil
	})
	if err != nil || len(secret) == 0 {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err = f.db.ExecContext(ctx, "DELETE FROM "+table+" WHERE url = ANY ($1)", secret)
	return len(secret), err
}
