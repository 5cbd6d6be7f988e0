package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// keepGone is how long it is remembered that a user was removed.
const keepGone = 30 * day

// MaxUsers bounds the users, with those that are gone.
const MaxUsers = 2000

// ErrUsers says that there are as many users as can be.
var ErrUsers = errors.New("too many users")

// Users are the users that were made while the program ran.
type Users struct {
	List []users.User `json:"users"` // by name, with those that are gone
	// Closed: who is no user is refused. It stays so when the last user is removed. It is a record of its own, and a
	// file beside the engine, so that no damage to the users or the engine, and no full disk, lets everybody in.
	Closed bool `json:"-"`
}

// Users returns the users of the proxy that were made while it ran, and whether it is closed to everybody else.
func (s *Store) Users() Users {
	s.settle()
	var u Users
	s.kv.Walk(kv.Scan{Prefix: keys.Users}, func(_ string, value []byte) bool {
		var one users.User
		if wire.Unmarshal(value, &one) {
			u.List = append(u.List, one)
		}
		return true
	})
	_, err := s.kv.Get(keys.SignIn)
	u.Closed = !errors.Is(err, ErrNotFound) || s.markedClosed() // a record that cannot be read is there
	return u
}

// closedName is a file that exists only while the store is closed to who is no user. It outlives the engine.
const closedName = "closed"

// markedClosed reports whether the file exists that closes the store to strangers, or may exist: in doubt they are kept
// out.
func (s *Store) markedClosed() bool {
	_, err := os.Stat(filepath.Join(s.dir, closedName))
	return !errors.Is(err, fs.ErrNotExist)
}

// markClosed creates or removes the file that closes the store to strangers. It is on disk when markClosed returns.
func (s *Store) markClosed(closed bool) error {
	name := filepath.Join(s.dir, closedName)
	if closed {
		return wholefile.Write(name, nil, 0o600)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return wholefile.SyncDir(s.dir)
}

// keepClosed makes that file for a store that has only the record: that of an older program, or one that was restored.
func (s *Store) keepClosed() {
	if !s.Users().Closed || s.markedClosed() {
		return
	}
	if err := s.markClosed(true); err != nil {
		s.log.Warn("that the proxy is closed to strangers is not noted beside the engine", "error", err)
	}
}

// UsersLost reports whether the store is closed and cannot tell to whom it is not: its engine was lost, or set aside,
// with the users, or the disk was full at the start. It is false once users were made, or everybody is let in.
func (s *Store) UsersLost() bool {
	_, err := s.kv.Get(keys.SignIn)
	return errors.Is(err, ErrNotFound) && s.markedClosed()
}

// ChangeUsers stores what change makes of the users. It is on disk when ChangeUsers returns. After an error of change
// nothing is stored.
func (s *Store) ChangeUsers(now time.Time, change func(*Users) error) error {
	s.usersMutex.Lock()
	defer s.usersMutex.Unlock()
	u := s.Users()
	before := map[string]string{}
	for _, one := range u.List {
		before[one.Name] = string(wire.JSON(one))
	}
	if err := change(&u); err != nil {
		return err
	}
	if len(u.List) > MaxUsers {
		return fmt.Errorf("%w: %d are kept", ErrUsers, MaxUsers)
	}
	b := &kv.Batch{Must: true} // a user must be removed on a full disk too
	for _, one := range u.List {
		record := wire.JSON(one)
		if one.Gone && now.Sub(one.Changed) > keepGone {
			continue // and is deleted below
		}
		if string(record) != before[one.Name] {
			b.Set(keys.User(one.Name), record)
		}
		delete(before, one.Name)
	}
	for name := range before {
		b.Del(keys.User(name))
	}
	if b.Del(keys.SignIn); u.Closed {
		b.Set(keys.SignIn, []byte("1"))
		if err := s.markClosed(true); err != nil {
			return fmt.Errorf("store users: %w", err)
		}
	}
	s.mu.Lock()
	err := s.kv.Apply(b)
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err == nil && !u.Closed {
		err = s.markClosed(false)
	}
	if err != nil {
		return fmt.Errorf("store users: %w", err)
	}
	s.usersCount.Add(1)
	return nil
}

// SignedOut returns the codes of browsers that were signed out, with their ends, as KeepSignedOut was given them.
func (s *Store) SignedOut() map[string]time.Time {
	var out map[string]time.Time
	_ = s.kv.GetJSON(&kv.Batch{}, keys.SignedOut, &out) // none yet
	return out
}

// KeepSignedOut stores which codes of browsers were signed out. It is on disk when KeepSignedOut returns.
func (s *Store) KeepSignedOut(out map[string]time.Time) error {
	b := &kv.Batch{Must: true} // also on a full disk
	b.Set(keys.SignedOut, wire.JSON(out))
	s.mu.Lock()
	err := s.kv.Apply(b)
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err != nil {
		return fmt.Errorf("store who was signed out: %w", err)
	}
	return nil
}

// Act is what somebody did as an administrator, or that somebody signed in or out.
type Act struct {
	Time   time.Time `json:"time"`
	User   string    `json:"user,omitempty"` // empty: the operator
	From   string    `json:"from,omitempty"` // the address that it was asked from; empty: this program's own
	Door   string    `json:"door,omitempty"` // by which it was asked for: api, cli, dashboard or mcp
	Act    string    `json:"act"`            // the id of an operation of the API, or signIn or signOut
	Object string    `json:"object,omitempty"`
	Error  string    `json:"error,omitempty"` // why it failed; empty: it was done
}

const maxActs = 10_000 // are kept, the latest

// AddAct records an act. It is on disk when AddAct returns. The oldest ones make room.
func (s *Store) AddAct(a Act) error {
	b := &kv.Batch{Must: true} // also on a full disk
	b.Set(keys.Act(keys.Millis(a.Time), disclosed.Add(1)), wire.JSON(a))
	n := 0
	s.settle()
	s.kv.Walk(kv.Scan{Prefix: keys.Acts, Back: true}, func(key string, _ []byte) bool {
		if n++; n >= maxActs {
			b.Del(key)
		}
		return true
	})
	err := s.kv.Apply(b)
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err != nil {
		return fmt.Errorf("record an act: %w", err)
	}
	return nil
}

// Acts returns the acts as Disclosures returns disclosures.
func (s *Store) Acts(cursor string, limit int) (list []Act, next string, err error) {
	if list, next, err = lately[Act](s, keys.Acts, cursor, limit); err != nil {
		return nil, "", fmt.Errorf("list acts: %w", err)
	}
	return list, next, nil
}

// UsersChanges returns how often the users have changed since the store was opened.
func (s *Store) UsersChanges() int64 { return s.usersCount.Load() }

// DayUse is what a user used in a day of UTC.
type DayUse struct {
	Day  int64 // since 1970
	User string
	users.Use
}

// AddUse adds what users used to the day that now is in. If the store cannot take it, nothing is added.
func (s *Store) AddUse(now time.Time, used map[string]users.Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	for name, use := range used {
		key := keys.Use(users.DayOf(now), name)
		var sum users.Use
		_ = s.kv.GetJSON(&kv.Batch{}, key, &sum) // none yet
		sum.Add(use)
		b.Set(key, wire.JSON(sum))
	}
	if err := s.kv.Apply(b); err != nil {
		return fmt.Errorf("store what users used: %w", err)
	}
	return nil
}

// UseOf returns what a user used in a day.
func (s *Store) UseOf(day int64, user string) (use users.Use) {
	_ = s.kv.GetJSON(&kv.Batch{}, keys.Use(day, user), &use) // none
	return use
}

// Uses returns what users used in the days from one to another, by day and name.
func (s *Store) Uses(from, to int64) (list []DayUse) {
	s.settle()
	s.kv.Walk(kv.Scan{Prefix: keys.Uses, From: keys.Use(from, "")}, func(key string, value []byte) bool {
		use := DayUse{}
		if use.Day, use.User = keys.DayAndUser(key); use.Day > to {
			return false
		}
		if json.Unmarshal(value, &use.Use) == nil {
			list = append(list, use)
		}
		return true
	})
	return list
}

// View is a filter of requests that somebody gave a name. What filters mean is the business of package journal.
type View struct {
	ID     string    `json:"id"` // made by PutView
	Made   time.Time `json:"made"`
	User   string    `json:"user,omitempty"` // whose it is; empty: the operator's
	Name   string    `json:"name"`
	Filter string    `json:"filter"`

	Unknown unknown.Fields `json:"-"`
}

// Bounds of the views, which are one record: each person's, and all together.
const (
	maxViewsEach = 50
	maxViews     = 1000
)

// ErrViews says that there are as many views as can be.
var ErrViews = errors.New("too many views")

// Views returns the views of all users in the order in which they were made.
func (s *Store) Views() []View { return addedTo[View](s, keys.Views) }

// PutView stores a view after all others, in the place of one of its user's with that name. It is on disk when PutView
// returns.
func (s *Store) PutView(v View, now time.Time) (View, error) {
	v.ID, v.Made = NewID()[:8], now.UTC().Truncate(time.Second)
	err := changeAdded(s, keys.Views, func(list []View) ([]View, error) {
		list = slices.DeleteFunc(list, func(o View) bool { return o.User == v.User && strings.EqualFold(o.Name, v.Name) })
		each := 0
		for _, o := range list {
			if o.User == v.User {
				each++
			}
		}
		if each >= maxViewsEach {
			return nil, fmt.Errorf("%w: %d are kept", ErrViews, maxViewsEach)
		}
		if len(list) >= maxViews {
			return nil, fmt.Errorf("%w: %d are kept for all users", ErrViews, maxViews)
		}
		return append(list, v), nil
	})
	return v, err
}

// DeleteView deletes a view of a user by its id. The error is ErrNotFound if there is none.
func (s *Store) DeleteView(user, id string) error {
	return deleteAdded(s, keys.Views, func(v View) bool { return v.User == user && v.ID == id })
}
