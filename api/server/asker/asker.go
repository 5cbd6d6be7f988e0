// Package asker knows who asks for an operation, and what they may do and see.
package asker

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

// User returns the name of the user who asks; empty for the operator.
func User(ctx context.Context) string {
	who, _ := users.Of(ctx)
	return who.Name()
}

// With returns the context of a request, with who asks.
func With(r *http.Request) context.Context { return journal.With(r.Context(), Of(r)) }

// Of returns who sends a request. A request that this server makes of itself is asked by whom it makes it for.
func Of(r *http.Request) journal.Asker {
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
	return asker
}

// May returns why who asks may not do an operation, or nil. The guard has let them in.
func May(ctx context.Context, o *api.Operation) error {
	who, _ := users.Of(ctx)
	if o.Open || who.User == nil || who.User.Role.Allows(o.Role) {
		return nil
	}
	return api.Problem(http.StatusForbidden, "%s %s is for the role %s, and %s has the role %s", o.Method, o.Path, o.Role,
		who.User.Name, who.User.Role)
}

// Limited returns the refusal for an error of a user's meter; nil for none.
func Limited(err error) *api.Error {
	over, ok := errors.AsType[*users.OverError](err)
	if !ok {
		return nil
	}
	e := api.NewError(http.StatusTooManyRequests, api.CodeLimit, over.Error())
	e.Wait = over.Wait
	return e
}

// OwnSession returns the name of a session of who asks; empty is the default one.
func OwnSession(ctx context.Context, name string) (string, error) {
	own, err := store.OwnSession(User(ctx), cmp.Or(name, api.DefaultSession))
	if err == nil {
		err = store.CheckSession(own)
	}
	if err != nil {
		return "", api.Problem(http.StatusBadRequest, "%s", err)
	}
	return own, nil
}

// OwnsSession reports whether a session is one of who asks. The operator owns all.
func OwnsSession(ctx context.Context, session string) bool {
	user := User(ctx)
	return user == "" || strings.HasPrefix(session, user+"+")
}

// SeesUser reports whether who asks may see what a user did: everybody what is theirs, and admins what all did.
func SeesUser(ctx context.Context, user string) bool {
	return users.May(ctx, users.Admin) || user == User(ctx)
}

// OwnRequests narrows a filter of requests to those that who asks may see.
func OwnRequests(ctx context.Context, f journal.Filter) journal.Filter {
	if users.May(ctx, users.Admin) {
		return f
	}
	return f.OfUser(User(ctx))
}
