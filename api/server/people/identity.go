package people

import (
	"net/http"
	"slices"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/openid"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// Identify returns the name of the user whom a provider of identities vouches for. Somebody new becomes a user with the
// role read, or admin as the provider's group says, unless there is another user of that name: who may choose a name at
// the provider must not become somebody here by it. An error is a problem for the person, or why that cannot be stored.
func (s *Service) Identify(who openid.Person) (string, error) {
	if u := bySubject(s.o.Store.Users().List, who.Subject); u != nil && u.Role == roleOf(u.Role, who) {
		return u.Name, mayIdentify(u)
	}
	name, now := who.Name, time.Now()
	err := s.changeUsers(now, func(all *store.Users) error {
		if u := bySubject(all.List, who.Subject); u != nil {
			name = u.Name
			u.Role, u.Changed = roleOf(u.Role, who), after(u.Changed, now)
			return mayIdentify(u)
		}
		at, found := find(all, name)
		switch {
		case slices.Contains(s.configured(), name):
			return api.Problem(http.StatusForbidden, "there is a user %s in the configuration file here, who is not known "+
				"to be you: ask an administrator", name)
		case found && !all.List[at].Gone:
			return api.Problem(http.StatusForbidden, "there is a user %s here who is not known to be you: ask an "+
				"administrator, who can set the subject of that user to yours, %q", name, who.Subject)
		}
		u := newUser(name, now)
		u.Role, u.Subject = roleOf(users.Read, who), who.Subject
		if err := u.Check(); err != nil {
			return api.Problem(http.StatusForbidden, "%s", err)
		}
		if found {
			u.Changed = after(all.List[at].Changed, now)
			all.List[at] = u
		} else {
			all.List = slices.Insert(all.List, at, u)
		}
		all.Closed = true
		return nil
	})
	return name, err
}

// bySubject returns the user for whom the provider of identities vouches by an id of its own.
func bySubject(list []users.User, subject string) *users.User {
	i := slices.IndexFunc(list, func(u users.User) bool { return !u.Gone && u.Subject == subject })
	if i < 0 || subject == "" {
		return nil
	}
	return &list[i]
}

// subjectFree returns a problem if the provider of identities vouches for another user by the id that it has for u.
func subjectFree(list []users.User, u *users.User) error {
	if other := bySubject(list, u.Subject); other != nil && other.Name != u.Name {
		return api.Problem(http.StatusConflict, "the provider of identities vouches for user %s by this subject", other.Name)
	}
	return nil
}

func mayIdentify(u *users.User) error {
	if u.Disabled() {
		return api.Problem(http.StatusForbidden, "this user is disabled: ask an administrator")
	}
	return nil
}

// roleOf returns the role of somebody who had another one. The group of the provider says who is an administrator, if
// there is one; else administrators here do.
func roleOf(had users.Role, who openid.Person) users.Role {
	switch {
	case who.Admin:
		return users.Admin
	case who.Groups && had == users.Admin:
		return users.Read
	}
	return had
}
