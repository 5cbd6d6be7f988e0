package journal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// Repeatable returns the request's fields that an equal request can carry: those of the message, none of the connection
// it came by, and none of which a part is not known, because it was a secret or was too long to keep.
func (e *Entry) Repeatable() []Field {
	asked := e.Asked.List()
	ofMessage := http.Header{}
	for _, f := range asked {
		ofMessage.Add(f.Name, f.Value)
	}
	httpfield.RemoveConnection(ofMessage)
	delete(ofMessage, "Content-Length")
	delete(ofMessage, "Via")
	return slices.DeleteFunc(asked, func(f Field) bool {
		return ofMessage[f.Name] == nil || strings.Contains(f.Value, page.SecretMask) || strings.HasSuffix(f.Value, cutShort)
	})
}

// Replay returns an equal request, named trace by X-Request-Id. The error says why there is none: requests other than
// GET and HEAD may change something and had content, which is not kept; a URL that held a secret is not kept either.
func (e *Entry) Replay(ctx context.Context, trace string) (*http.Request, error) {
	if !e.Safe() {
		return nil, fmt.Errorf("a request by %s may change something, and its content was not kept: only GET and HEAD are "+
			"sent again", e.Method)
	}
	if strings.Contains(e.URL, page.SecretMask) {
		return nil, errors.New("its URL held a secret, which was not kept")
	}
	r, err := http.NewRequestWithContext(ctx, e.Method, e.URL, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("its URL cannot be asked for: %w", err)
	}
	for _, f := range e.Repeatable() {
		r.Header.Add(f.Name, f.Value)
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "") // else net/http adds its own
	}
	r.Header.Del("Traceparent")
	r.Header.Set("X-Request-Id", trace)
	return r, nil
}

// Safe reports whether the request asked for a representation and for nothing else, so that it can be sent again.
func (e *Entry) Safe() bool { return e.Method == http.MethodGet || e.Method == http.MethodHead }
