package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

func TestUsersAreKeptAndForgotten(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	if u := s.Users(); len(u.List) != 0 || u.Closed {
		t.Errorf("a new store has %+v", u)
	}
	ann := users.User{Name: "ann", ID: "an id of ann", Changed: monday, Role: users.Write, Revoked: []string{"x"}}
	bob := users.User{Name: "bob", ID: "an id of bob", Changed: monday, Gone: true}
	change := func(now time.Time, f func(*store.Users) error) error { return s.ChangeUsers(now, f) }
	if err := change(monday, func(u *store.Users) error {
		u.List, u.Closed = []users.User{ann, bob}, true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no")
	if err := change(monday, func(u *store.Users) error {
		u.List, u.Closed = nil, false
		return failed
	}); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, store.Options{Dir: dir})
	if diff := cmp.Diff(store.Users{List: []users.User{ann, bob}, Closed: true}, s.Users()); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
	// Who is gone is forgotten after 30 days, and the store stays closed.
	if err := change(monday.Add(31*24*time.Hour), func(*store.Users) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Users{List: []users.User{ann}, Closed: true}, s.Users()); diff != "" {
		t.Errorf("a month later (-want +got):\n%s", diff)
	}
	if err := change(monday, func(u *store.Users) error {
		u.List = slices.Repeat([]users.User{ann}, 2001)
		return nil
	}); !errors.Is(err, store.ErrUsers) {
		t.Errorf("2,001 users: %v", err)
	}
	if err := change(monday, func(u *store.Users) error {
		u.List, u.Closed = nil, false
		return nil
	}); err != nil || len(s.Users().List) != 0 || s.Users().Closed {
		t.Errorf("%v, %+v", err, s.Users())
	}
}

func TestUseIsAddedUpByDays(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	page := users.PageUse(100, 700)
	for _, one := range []struct {
		at   time.Time
		used map[string]users.Use
	}{
		{monday, map[string]users.Use{"ann": page, "bob": {Requests: 1, Bytes: 9}}},
		{monday.Add(time.Hour), map[string]users.Use{"ann": page}},
		{monday.Add(24 * time.Hour), map[string]users.Use{"ann": page}},
		{monday.Add(48 * time.Hour), map[string]users.Use{"ann+x/y": page}},
	} {
		if err := s.AddUse(one.at, one.used); err != nil {
			t.Fatal(err)
		}
	}
	first := users.DayOf(monday)
	twice := page
	twice.Add(page)
	want := []store.DayUse{
		{first, "ann", twice},
		{first, "bob", users.Use{Requests: 1, Bytes: 9}},
		{first + 1, "ann", page},
	}
	if diff := cmp.Diff(want, s.Uses(first, first+1)); diff != "" {
		t.Errorf("two days (-want +got):\n%s", diff)
	}
	if got := s.Uses(first+1, first+9); len(got) != 2 || got[1].User != "ann+x/y" {
		t.Errorf("from the second day on: %+v", got)
	}
	if got := s.UseOf(first, "ann"); got != twice {
		t.Errorf("ann on the first day: %+v", got)
	}
	if got := s.UseOf(first, "an"); got != (users.Use{}) {
		t.Errorf("nobody: %+v", got)
	}
}

func TestASessionIsOfItsUser(t *testing.T) {
	for _, tt := range []struct{ user, name, want string }{
		{"", "s", "s"},
		{"ann", "s", "ann+s"},
		{"ann", "ann+s", "ann+s"},
		{"ann", "", ""},
		{"", "", ""},
		{"", "ann+s", "ann+s"},
		{"ann", "bob+s", "error"},
		{"ann", "ann+bob+s", "error"},
		{"ann", "s\n", "error"},
		{"ann", strings.Repeat("s", 5000), "error"},
	} {
		got, err := store.OwnSession(tt.user, tt.name)
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("session %q of %q: %q, want %q", tt.name, tt.user, got, tt.want)
		}
	}
}

// A store without its records of users lets nobody in who is none: the engine was damaged and set aside, or a full disk
// keeps it closed.
func TestNoDamageToTheStoreLetsEverybodyIn(t *testing.T) {
	full := func(string) (uint64, uint64, error) { return 1 << 20, 100 << 30, nil }
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		open   func(store.Options) (*store.Store, error)
	}{
		{"damaged", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, "db", "MANIFEST"), []byte("no manifest"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, store.Open},
		{"without its engine", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.RemoveAll(filepath.Join(dir, "db")); err != nil {
				t.Fatal(err)
			}
		}, store.Open},
		{"full disk", func(*testing.T, string) {}, func(o store.Options) (*store.Store, error) {
			return store.OpenWithSpace(o, full)
		}},
		{"of an older program", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, "closed")); err != nil {
				t.Fatal(err)
			}
		}, store.Open},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, store.Options{Dir: dir})
			if err := s.ChangeUsers(monday, func(u *store.Users) error {
				u.List, u.Closed = []users.User{{Name: "ann", ID: "an id", Changed: monday}}, true
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			closeStore(t, s)
			tt.damage(t, dir)
			s, err := tt.open(store.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = s.Close()
				leftByEngine = append(leftByEngine, goleak.IgnoreCurrent())
			}()
			if !s.Users().Closed {
				t.Error("everybody is let in")
			}
			if lost := tt.name != "of an older program"; s.UsersLost() != lost {
				t.Errorf("UsersLost() = %v", !lost)
			}
			if _, err := os.Stat(filepath.Join(dir, "closed")); err != nil {
				t.Errorf("the next damage would let everybody in: %v", err)
			}
			if tt.name == "full disk" {
				return // nothing can be changed
			}
			if err := s.ChangeUsers(monday, func(u *store.Users) error {
				u.List, u.Closed = nil, false
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			closeStore(t, s)
			if s = openStore(t, store.Options{Dir: dir}); s.Users().Closed {
				t.Error("closed after it was opened to all")
			}
			closeStore(t, s)
		})
	}
}

func TestActsAreKeptAndBounded(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for i := range 5 {
		a := store.Act{Time: at.Add(time.Duration(i) * time.Second), User: "ann", Act: "addUser", Object: fmt.Sprint(i)}
		if err := s.AddAct(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, store.Options{Dir: dir})
	list, next, err := s.Acts("", 3)
	if err != nil || len(list) != 3 || next == "" || list[0].Object != "4" || !list[0].Time.Equal(at.Add(4*time.Second)) {
		t.Fatal(list, next, err)
	}
	if err := s.FillActs(store.MaxActs+20, at.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.AddAct(store.Act{Time: at.Add(time.Hour), Act: "last"}); err != nil {
		t.Fatal(err)
	}
	n, first := 0, ""
	for cursor := ""; ; {
		list, next, err := s.Acts(cursor, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = list[0].Act
		}
		if n += len(list); next == "" {
			break
		}
		cursor = next
	}
	if n != store.MaxActs || first != "last" {
		t.Errorf("%d acts are kept, want %d; the newest is %q", n, store.MaxActs, first)
	}
}
