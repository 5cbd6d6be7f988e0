package fetch_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/store"
)

// Offline, a page that is not stored fails because we are offline, not because an origin said so.
func TestOfflineIsTheErrorOfWhatIsNotStored(t *testing.T) {
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	c := cache.New(cache.Options{Store: st, Next: http.DefaultTransport, Offline: true})
	defer func() { _ = c.Close() }()
	f := fetch.New(fetch.Options{Client: c, Store: st, MarkdownNew: fetch.MarkdownNew{Mode: "off"}})
	defer func() { _ = f.Close() }()
	_, err = f.Page(t.Context(), fetch.Request{URL: &url.URL{Scheme: "https", Host: "a.test", Path: "/"}, Own: true})
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok || e.Kind != fetch.KindOffline || e.HTTPStatus() != http.StatusGatewayTimeout ||
		e.Type != "destination_unavailable" || !strings.Contains(e.Error(), "is offline") {
		t.Errorf("error = %v", err)
	}
}
