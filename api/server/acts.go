package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/store"
)

// aboutKey is the key, in the context of an operation that is recorded, of what it is about.
type aboutKey struct{}

// sayAbout keeps what an operation is about, as its parameters say, for its record.
func sayAbout(ctx context.Context, in any) {
	about, recorded := ctx.Value(aboutKey{}).(*string)
	if acted, ok := in.(api.Acted); recorded && ok {
		*about = acted.About()
	}
}

// recorded does an operation, and records who did it if that is kept. If its parameters do not say what it is about,
// the parts of its path do.
func (s *Server) recorded(o route, r *http.Request, do func(*http.Request) error) error {
	if !o.Act {
		return do(r)
	}
	about := ""
	err := do(r.WithContext(context.WithValue(r.Context(), aboutKey{}, &about)))
	if about == "" {
		for part := range strings.SplitSeq(o.Path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok {
				about = strings.TrimSpace(about + " " + r.PathValue(strings.TrimSuffix(name, "}")))
			}
		}
	}
	s.record(r, store.Act{User: asker.User(r.Context()), Act: o.ID, Object: about}, err)
	return err
}

// record records an act of who sends a request, with the error that it ended with. What cannot be stored is logged.
func (s *Server) record(r *http.Request, a store.Act, err error) {
	if s.o.Store == nil {
		return
	}
	from := asker.Of(r)
	a.Time, a.From, a.Door, a.Object = time.Now().UTC(), from.Client, from.Door, clip.Line(a.Object, 300)
	if err != nil {
		a.Error = clip.Line(api.AsError(err).Detail, 300)
	}
	if err := s.o.Store.AddAct(a); err != nil {
		s.o.Log.Error("an act is not recorded", "act", a.Act, "user", a.User, "object", a.Object, "error", err)
	}
}
