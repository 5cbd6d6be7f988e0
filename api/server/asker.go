package server

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// userOf returns the name of the user who asks; empty for the operator.
func userOf(ctx context.Context) string {
	who, _ := users.Of(ctx)
	return who.Name()
}

// asking returns the context of a request, with who asks. A request that this server makes of itself is asked by whom
// it makes it for.
func asking(r *http.Request) context.Context {
	asker, asked := journal.AskerOf(r.Context())
	if !asked {
		asker.Client, asker.Trace = r.RemoteAddr, journal.TraceOf(r.Header)
		if host, _, err := net.SplitHostPort(asker.Client); err == nil {
			asker.Client = host
		}
	}
	asker.Agent = clip.Line(r.UserAgent(), 200)
	switch door := r.Header.Get(api.DoorField); door {
	case api.DoorMCP, api.DoorCommand, api.DoorDashboard:
		asker.Door = door
	default:
		asker.Door = cmp.Or(asker.Door, journal.DoorAPI)
	}
	return journal.With(r.Context(), asker)
}

// may returns why who asks may not do an operation, or nil. The guard has let them in.
func may(ctx context.Context, o *api.Operation) error {
	who, _ := users.Of(ctx)
	if o.Open || who.User == nil || who.User.Role.Allows(o.Role) {
		return nil
	}
	return api.Problem(http.StatusForbidden, "%s %s is for the role %s, and %s has the role %s", o.Method, o.Path, o.Role,
		who.User.Name, who.User.Role)
}

// limited returns the refusal for an error of a user's meter; nil for none.
func limited(err error) *api.Error {
	over, ok := errors.AsType[*users.OverError](err)
	if !ok {
		return nil
	}
	e := api.NewError(http.StatusTooManyRequests, api.CodeLimit, over.Error())
	e.Wait = over.Wait
	return e
}

// ownSession returns the name of a session of who asks; empty is the default one.
func ownSession(ctx context.Context, name string) (string, error) {
	own, err := store.OwnSession(userOf(ctx), cmp.Or(name, api.DefaultSession))
	if err == nil {
		err = store.CheckSession(own)
	}
	if err != nil {
		return "", api.Problem(http.StatusBadRequest, "%s", err)
	}
	return own, nil
}

// ownsSession reports whether a session is one of who asks. The operator owns all.
func ownsSession(ctx context.Context, session string) bool {
	user := userOf(ctx)
	return user == "" || strings.HasPrefix(session, user+"+")
}

// seesUser reports whether who asks may see what a user did: everybody what is theirs, and admins what all did.
func seesUser(ctx context.Context, user string) bool {
	return users.May(ctx, users.Admin) || user == userOf(ctx)
}

// ownRequests narrows a filter of requests to those that who asks may see.
func ownRequests(ctx context.Context, f journal.Filter) journal.Filter {
	if users.May(ctx, users.Admin) {
		return f
	}
	return f.OfUser(userOf(ctx))
}

// countedResponse counts the bytes of an answer.
type countedResponse struct {
	http.ResponseWriter
	bytes int64
}

// Write implements [http.ResponseWriter].
func (w *countedResponse) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Flush implements [http.Flusher], for handlers of others.
func (w *countedResponse) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (w *countedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }
