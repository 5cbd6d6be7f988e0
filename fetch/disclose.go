package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Disclose checks that u may be disclosed to a third party (see CheckDisclosure) and writes the disclosure to the
// ledger. After an error nothing may be sent. size is the number of bytes to send; why and rule are explanations for
// the reader of the ledger.
func (f *Fetcher) Disclose(ctx context.Context, service string, u *url.URL, size int64, why, rule string) error {
	f = f.newest.Load()
	if err := f.Blocked(u); err != nil {
		return err
	}
	if err := f.CheckDisclosure(ctx, u); err != nil {
		return fmt.Errorf("tell %s of %s: %w", service, page.Mask(u), err)
	}
	err := f.o.Store.Disclose(store.Disclosure{
		Time: time.Now().UTC(), Service: service, URL: page.Mask(u), Bytes: size,
		Why: why, Rule: rule,
	})
	if err != nil {
		return fmt.Errorf("tell %s of %s: write the ledger: %w", service, page.Mask(u), err)
	}
	return nil
}

// CheckDisclosure returns an error if u must not be disclosed to a third party (rule AD3): its host is not public or is
// blocked, or u seems to contain a credential. It writes nothing to the ledger.
func (f *Fetcher) CheckDisclosure(ctx context.Context, u *url.URL) error {
	f = f.newest.Load()
	no := gate.Disclosure{Mode: "fallback", URL: u, Blocked: f.o.BlockedDomains, Status: http.StatusOK}.Refusal()
	if no == "" && f.mdnew.public(ctx, u) != nil {
		no = "the host may not be public"
	}
	if no != "" {
		return errors.New(no)
	}
	return nil
}

// MayDisclose reports whether u may be disclosed to a third party, judged by its text alone: its host is public and not
// blocked, and nothing in it looks like a credential or cannot be guessed.
func (f *Fetcher) MayDisclose(u *url.URL) bool {
	f = f.newest.Load()
	return u.User == nil && !page.Unlisted(u) && gate.PublicName(u) && f.Blocked(u) == nil
}
