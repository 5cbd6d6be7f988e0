package people

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// setter returns what sets those fields of a user that a request has; nil leaves a field as it is. A password is hashed
// here, since that takes long.
func setter(f api.UserFields) (func(*users.User), error) {
	var hash string
	if f.Password != nil && *f.Password != "" {
		err := users.CheckPassword(*f.Password)
		if err == nil {
			hash, err = users.HashPassword(*f.Password)
		}
		if err != nil {
			return nil, api.Problem(http.StatusBadRequest, "%s", err)
		}
	}
	return func(u *users.User) {
		if f.Role != nil {
			u.Role = users.Role(*f.Role)
		}
		if f.Mode != nil {
			u.Mode = *f.Mode
		}
		if f.RequestsPerMinute != nil {
			u.Limits.RequestsPerMinute = *f.RequestsPerMinute
		}
		if f.TokensPerDay != nil {
			u.Limits.TokensPerDay = *f.TokensPerDay
		}
		if f.Disabled != nil && *f.Disabled != u.Disabled() {
			u.Switched++
		}
		if f.Password != nil {
			u.PasswordHash = hash
		}
		if f.Subject != nil {
			u.Subject = strings.TrimSpace(*f.Subject)
		}
	}, nil
}

// infoOf returns what the API says of a user: tokens by their ids, never their hashes.
func infoOf(u *users.User) api.UserInfo {
	info := api.UserInfo{
		Name: u.Name, Source: "store", Role: string(u.Role), Mode: u.Mode, Limits: u.Limits, Made: u.Made,
		Tokens: []api.UserToken{}, Disabled: u.Disabled(), Password: u.PasswordHash != "", Subject: u.Subject,
	}
	for _, t := range u.Tokens {
		info.Tokens = append(info.Tokens, api.UserToken{ID: t.ID, Scopes: t.Scopes, Made: t.Made})
	}
	return info
}

// ListUsers lists the users, those of the configuration first.
func (s *Service) ListUsers(context.Context, api.None) (*api.UserList, error) {
	list := &api.UserList{Users: []api.UserInfo{}}
	for _, name := range s.configured() {
		list.Users = append(list.Users, api.UserInfo{Name: name, Source: "file", Tokens: []api.UserToken{}})
	}
	stored := s.o.Store.Users()
	for i := range stored.List {
		if u := &stored.List[i]; !u.Gone {
			list.Users = append(list.Users, infoOf(u))
		}
	}
	list.Closed = stored.Closed || len(list.Users) > 0
	return list, nil
}

// configured returns the names of the users of the configuration file, which no operation changes.
func (s *Service) configured() []string {
	if s.o.ConfiguredUsers == nil {
		return nil
	}
	return s.o.ConfiguredUsers()
}

// AddUser makes a user with a token.
func (s *Service) AddUser(_ context.Context, in api.NewUser) (*api.MadeToken, error) {
	if slices.Contains(s.configured(), in.Name) {
		return nil, api.NewError(http.StatusConflict, api.CodeUserExists, "user "+in.Name+" is in the configuration file")
	}
	now := time.Now()
	u := newUser(in.Name, now)
	set, err := setter(in.UserFields)
	if err != nil {
		return nil, err
	}
	set(&u)
	if len(in.Scopes) == 0 {
		in.Scopes = users.Scopes
	}
	token, text, err := users.NewToken(in.Scopes, now)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	u.Tokens = []users.Token{token}
	if err := u.Check(); err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	err = s.changeUsers(now, func(all *store.Users) error {
		at, found := find(all, in.Name)
		if err := subjectFree(all.List, &u); err != nil {
			return err
		}
		switch {
		case found && !all.List[at].Gone:
			return api.NewError(http.StatusConflict, api.CodeUserExists, "there is a user "+in.Name+" already")
		case found:
			u.Changed = after(all.List[at].Changed, now)
			all.List[at] = u
		default:
			all.List = slices.Insert(all.List, at, u)
		}
		all.Closed = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &api.MadeToken{User: infoOf(&u), ID: token.ID, Token: text}, nil
}

// newUser returns a user with the role read and without tokens.
func newUser(name string, now time.Time) users.User {
	id := make([]byte, 8)
	rand.Read(id)
	return users.User{
		Name: name, ID: hex.EncodeToString(id), Role: users.Read, Made: now.UTC().Truncate(time.Second), Changed: stamp(now),
	}
}

// ChangeUser changes what can be set of a user.
func (s *Service) ChangeUser(_ context.Context, in api.UserChange) (*api.UserInfo, error) {
	set, err := setter(in.UserFields)
	if err != nil {
		return nil, err
	}
	u, err := s.changeOne(in.Name, func(u *users.User) error { set(u); return nil })
	if err != nil {
		return nil, err
	}
	return new(infoOf(u)), nil
}

// RemoveUser removes a user with all their tokens.
func (s *Service) RemoveUser(_ context.Context, ref api.UserRef) (*api.Gone, error) {
	_, err := s.changeOne(ref.Name, func(u *users.User) error {
		*u = users.User{Name: u.Name, ID: u.ID, Made: u.Made, Gone: true, Changed: u.Changed}
		return nil
	})
	return &api.Gone{Deleted: ref.Name}, err
}

// AddToken makes another token of a user.
func (s *Service) AddToken(_ context.Context, in api.TokenRequest) (*api.MadeToken, error) {
	token, text, err := users.NewToken(in.Scopes, time.Now())
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	u, err := s.changeOne(in.Name, func(u *users.User) error {
		u.Tokens = append(u.Tokens, token)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &api.MadeToken{User: infoOf(u), ID: token.ID, Token: text}, nil
}

// RevokeToken revokes a token of a user.
func (s *Service) RevokeToken(_ context.Context, ref api.TokenRef) (*api.Gone, error) {
	_, err := s.changeOne(ref.Name, func(u *users.User) error {
		n := len(u.Tokens)
		if u.Tokens = slices.DeleteFunc(u.Tokens, func(t users.Token) bool { return t.ID == ref.ID }); len(u.Tokens) == n {
			return api.Problem(http.StatusNotFound, "user %s has no token %.40q", ref.Name, ref.ID)
		}
		u.Revoked = append(u.Revoked, ref.ID)
		return nil
	})
	return &api.Gone{Deleted: ref.ID}, err
}

// OpenProxy removes all users, and lets everybody use the proxy again.
func (s *Service) OpenProxy(context.Context, api.None) (*api.Deleted, error) {
	now := time.Now()
	err := s.changeUsers(now, func(all *store.Users) error {
		for i := range all.List {
			if u := &all.List[i]; !u.Gone {
				*u = users.User{Name: u.Name, ID: u.ID, Made: u.Made, Gone: true, Changed: after(u.Changed, now)}
			}
		}
		all.Closed = false
		return nil
	})
	return &api.Deleted{Deleted: true}, err
}

// ListActs lists what administrators did, newest first.
func (s *Service) ListActs(_ context.Context, q api.ListQuery) (*api.ActList, error) {
	list, next, err := s.o.Store.Acts(q.Cursor, q.Limit)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	return &api.ActList{Acts: api.OrEmpty(list), Next: next}, nil
}

// GetAccount returns who asks.
func (s *Service) GetAccount(ctx context.Context, _ api.None) (*api.Account, error) {
	who, _ := users.Of(ctx)
	if who.User == nil {
		return &api.Account{Operator: true}, nil
	}
	return &api.Account{User: new(infoOf(who.User))}, nil
}

// SetPassword sets the password of the user who asks. A token is no way to one: whoever got hold of it would be in when
// it is revoked.
func (s *Service) SetPassword(ctx context.Context, in api.NewPassword) (*api.UserInfo, error) {
	who, _ := users.Of(ctx)
	switch {
	case who.User == nil:
		return nil, api.Problem(http.StatusConflict, "the user that readthru runs as has no password")
	case who.Scope != users.ScopeDashboard || who.ByToken():
		return nil, api.Problem(http.StatusForbidden, "sign in by a link of an administrator, or with the password that "+
			"you have, to choose one")
	}
	if who.User.PasswordHash != "" {
		from, _ := journal.AskerOf(ctx)
		_, err := s.o.Users.SignIn(ctx, net.JoinHostPort(from.Client, "0"), who.Name(), in.Current, users.ScopeDashboard)
		locked, isLocked := errors.AsType[*users.LockedError](err)
		switch {
		case isLocked:
			e := api.NewError(http.StatusTooManyRequests, api.CodeGuesses, locked.Error())
			e.Wait = locked.Wait
			return nil, e
		case err != nil || users.IsToken(in.Current):
			return nil, api.Problem(http.StatusForbidden, "this is not your present password")
		}
	}
	if in.Password == "" {
		return nil, api.Problem(http.StatusBadRequest, "the new password is empty")
	}
	set, err := setter(api.UserFields{Password: &in.Password})
	if err != nil {
		return nil, err
	}
	u, err := s.changeOne(who.Name(), func(u *users.User) error { set(u); return nil })
	if err != nil {
		return nil, err
	}
	return new(infoOf(u)), nil
}

// changeOne changes a user of the store, with a time of the change that is later than the one before, since nodes of a
// fleet keep the latest. The error is a problem for the client.
func (s *Service) changeOne(name string, change func(*users.User) error) (changed *users.User, err error) {
	now := time.Now()
	err = s.changeUsers(now, func(all *store.Users) error {
		at, found := find(all, name)
		switch {
		case found && !all.List[at].Gone:
		case slices.Contains(s.configured(), name):
			return api.Problem(http.StatusConflict, "user %s is in the configuration file, and is changed there", name)
		default:
			return api.Problem(http.StatusNotFound, "there is no user %.50q", name)
		}
		u := all.List[at]
		u.Tokens, u.Revoked = slices.Clone(u.Tokens), slices.Clone(u.Revoked)
		if err := change(&u); err != nil {
			return err
		}
		u.Changed = after(u.Changed, now)
		if err := u.Check(); err != nil {
			return api.Problem(http.StatusBadRequest, "%s", err)
		}
		if err := subjectFree(all.List, &u); err != nil {
			return err
		}
		all.List[at], changed = u, &u
		return nil
	})
	return changed, err
}

// changeUsers changes the users of the store, and has all parts take that over before it returns.
func (s *Service) changeUsers(now time.Time, change func(*store.Users) error) error {
	err := s.o.Store.ChangeUsers(now, change)
	if errors.Is(err, store.ErrUsers) {
		return api.Problem(http.StatusBadRequest, "%s", err)
	}
	if err == nil && s.o.Changed != nil {
		err = s.o.Changed()
	}
	return err
}

// find returns where a user of a name is in the list of users, which is sorted by name, or would be.
func find(all *store.Users, name string) (at int, found bool) {
	return slices.BinarySearchFunc(all.List, name, func(u users.User, name string) int {
		return cmp.Compare(u.Name, name)
	})
}

// stamp returns a time as records of users have it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// after returns the time of a change of a user that follows one at before, whatever the clock says.
func after(before, now time.Time) time.Time {
	if now = stamp(now); !now.After(before) {
		return before.Add(time.Microsecond)
	}
	return now
}

// CountUses writes what users used into the store.
func (s *Service) CountUses(now time.Time) error {
	if s.o.Users == nil || s.o.Store == nil {
		return nil
	}
	return s.o.Users.Take(func(used map[string]users.Use) error { return s.o.Store.AddUse(now, used) })
}

// GetUsage returns what users used. Users who are no admins see what is theirs.
func (s *Service) GetUsage(ctx context.Context, q api.UsesQuery) (*api.UseList, error) {
	if user := asker.User(ctx); !asker.SeesUser(ctx, q.User) {
		if q.User != "" {
			return nil, api.Problem(http.StatusForbidden, "what other users used is for the role admin")
		}
		q.User = user
	}
	now := time.Now()
	if err := s.CountUses(now); err != nil {
		return nil, fmt.Errorf("count what users used: %w", err)
	}
	if q.Since.IsZero() {
		q.Since = now
	}
	first, last := users.DayOf(q.Since), users.DayOf(now)
	list := &api.UseList{Since: dayText(first), Users: []api.UserUse{}}
	all := s.o.Store.Uses(first, last)
	if s.o.Fleet != nil {
		others, err := s.o.Fleet.UsesElsewhere(ctx, first, last)
		if all = append(all, others...); err != nil {
			list.Missing = err.Error()
		}
	}
	at := map[string]int{}
	for _, use := range all {
		if q.User != "" && use.User != q.User {
			continue
		}
		list.Sum.Add(use.Use)
		row := api.UserUse{User: use.User}
		if q.Days {
			row.Day = dayText(use.Day)
		}
		key := row.Day + " " + row.User
		i, ok := at[key]
		if !ok {
			i = len(list.Users)
			at[key] = i
			list.Users = append(list.Users, row)
		}
		list.Users[i].Add(use.Use)
	}
	slices.SortFunc(list.Users, func(a, b api.UserUse) int {
		return cmp.Or(strings.Compare(a.Day, b.Day), strings.Compare(a.User, b.User))
	})
	return list, nil
}

// dayText returns a day, counted from 1970, as 2006-01-02.
func dayText(day int64) string { return time.Unix(day*24*3600, 0).UTC().Format(time.DateOnly) }
