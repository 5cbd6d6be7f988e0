package users

import "context"

// loginKey is the key of who asks in a context.
type loginKey struct{}

// With returns a context of what somebody who is known asks for: a user, or nobody ([Login] is zero) for the operator,
// who may do everything.
func With(ctx context.Context, l Login) context.Context { return context.WithValue(ctx, loginKey{}, l) }

// Of returns who asks. known is false for a stranger.
func Of(ctx context.Context) (l Login, known bool) {
	l, known = ctx.Value(loginKey{}).(Login)
	return l, known
}

// May reports whether who asks may do what needs a role.
func May(ctx context.Context, needed Role) bool {
	l, known := Of(ctx)
	return known && (l.User == nil || l.User.Role.Allows(needed))
}
