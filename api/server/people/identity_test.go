package people_test

import (
	"errors"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/people"
	"github.com/readthru/readthru/internal/openid"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

func TestAProviderVouchesForItsUsersAlone(t *testing.T) {
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s := people.New(people.Options{Store: st, ConfiguredUsers: func() []string { return []string{"zoe"} }})
	if _, err := s.AddUser(t.Context(), api.NewUser{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	change := func(name string, f api.UserFields) {
		t.Helper()
		if _, err := s.ChangeUser(t.Context(), api.UserChange{Name: name, UserFields: f}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if _, err := s.RemoveUser(t.Context(), api.UserRef{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		what   string
		before func()
		who    openid.Person
		name   string // if empty, it is refused
		role   users.Role
	}{
		{"somebody new", nil, openid.Person{Subject: "i 1", Name: "ann"}, "ann", users.Read},
		{"again", nil, openid.Person{Subject: "i 1", Name: "ann"}, "ann", users.Read},
		{"under another name there", nil, openid.Person{Subject: "i 1", Name: "anna"}, "ann", users.Read},
		{
			"with a role of here", func() { change("ann", api.UserFields{Role: new("write")}) },
			openid.Person{Subject: "i 1", Name: "ann", Groups: true},
			"ann", users.Write,
		},
		{
			"an administrator by group", nil,
			openid.Person{Subject: "i 1", Name: "ann", Groups: true, Admin: true},
			"ann",
			users.Admin,
		},
		{"out of the group", nil, openid.Person{Subject: "i 1", Name: "ann", Groups: true}, "ann", users.Read},
		{
			"an administrator of here, without groups", func() { change("ann", api.UserFields{Role: new("admin")}) },
			openid.Person{Subject: "i 1", Name: "ann"},
			"ann", users.Admin,
		},
		{"somebody else of that name", nil, openid.Person{Subject: "i 2", Name: "ann"}, "", ""},
		{"the name of a user of here", nil, openid.Person{Subject: "i 2", Name: "bob"}, "", ""},
		{"the name of a configured user", nil, openid.Person{Subject: "i 2", Name: "zoe"}, "", ""},
		{"no name for here", nil, openid.Person{Subject: "i 2", Name: "<b>"}, "", ""},
		{"no subject", nil, openid.Person{Name: "eve"}, "eve", users.Read},
		{"no subject, again", nil, openid.Person{Name: "eve"}, "", ""},
		{
			"disabled", func() { change("ann", api.UserFields{Disabled: new(true)}) },
			openid.Person{Subject: "i 1", Name: "ann"},
			"", "",
		},
		{
			"disabled, and an administrator there", nil,
			openid.Person{Subject: "i 1", Name: "ann", Groups: true, Admin: true},
			"", "",
		},
		{
			"enabled again", func() { change("ann", api.UserFields{Disabled: new(false)}) },
			openid.Person{Subject: "i 1", Name: "ann"},
			"ann", users.Admin,
		},
		{
			"removed, and then somebody new", func() { remove("ann") },
			openid.Person{Subject: "i 3", Name: "ann"},
			"ann",
			users.Read,
		},
		{
			"a user of here whom an administrator linked", func() { change("bob", api.UserFields{Subject: new(" i 4 ")}) },
			openid.Person{Subject: "i 4", Name: "robert"},
			"bob", users.Read,
		},
		{
			"no longer linked", func() { change("bob", api.UserFields{Subject: new("")}) },
			openid.Person{Subject: "i 4", Name: "bob"},
			"", "",
		},
		{"who had that name before", nil, openid.Person{Subject: "i 1", Name: "ann"}, "", ""},
	} {
		if tt.before != nil {
			tt.before()
		}
		name, err := s.Identify(tt.who)
		if tt.name == "" {
			if _, ok := errors.AsType[*api.Error](err); !ok {
				t.Errorf("%s: %q, %v; want a problem", tt.what, name, err)
			}
			continue
		}
		all := st.Users()
		var got users.User
		for _, u := range all.List {
			if u.Name == tt.name && !u.Gone {
				got = u
			}
		}
		if err != nil || name != tt.name || got.Role != tt.role || got.Subject != tt.who.Subject || !all.Closed ||
			got.Changed.After(time.Now().Add(time.Second)) {
			t.Errorf("%s: %q, %v, %+v", tt.what, name, err, got)
		}
	}
	two := api.UserFields{Subject: new("i 3")} // ann's
	_, err = s.ChangeUser(t.Context(), api.UserChange{Name: "bob", UserFields: two})
	if _, made := s.AddUser(t.Context(), api.NewUser{Name: "dan", UserFields: two}); api.CodeOf(err) != api.CodeConflict ||
		api.CodeOf(made) != api.CodeConflict {
		t.Errorf("two users of one subject: %v, %v; want conflicts", err, made)
	}
}
