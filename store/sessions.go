package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// ErrNoSession says that a text is not a session name: it is empty, longer than 200 bytes, not UTF-8, or has control
// characters.
var ErrNoSession = errors.New("not a session name")

// session is an element of the list of all sessions, which tells whose set is dropped when there are too many.
type session struct {
	name string
	ms   int64 // last use
}

// CheckSession returns an error that wraps ErrNoSession when name is not a session name.
func CheckSession(name string) error {
	if name == "" || len(name) > maxSessionName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("session %.40q: %w: use 1 to %d bytes without control characters", name, ErrNoSession,
			maxSessionName)
	}
	return nil
}

// OwnSession returns the name of a session of a user, which is user+name: two users' sessions are two, whatever they
// name them. A user may also write it in full. Where nobody has signed in, all is one user's and the name stays as it
// is, as an empty one does.
func OwnSession(user, name string) (string, error) {
	if user == "" || name == "" {
		return name, nil
	}
	own := user + "+" + strings.TrimPrefix(name, user+"+")
	if strings.LastIndexByte(own, '+') != len(user) {
		return "", fmt.Errorf("session %.40q: %w: the name of a user's session has no plus sign", name, ErrNoSession)
	}
	return own, CheckSession(own)
}

// FetchedSession sums the set of a session.
type FetchedSession struct {
	Name    string
	Used    time.Time // last, to the minute
	Pages   int
	Bytes   int64 // of their content
	Dropped int64 // as in FetchedSet
}

// FetchedSessions returns the sessions that have fetched pages, the one used last first.
func (s *Store) FetchedSessions() []FetchedSession {
	all := s.sessions(&kv.Batch{})
	list := make([]FetchedSession, 0, len(all))
	for _, o := range slices.Backward(all) {
		set := s.fetchedList(&kv.Batch{}, o.name)
		list = append(list, FetchedSession{
			Name: o.name, Used: time.UnixMilli(o.ms).UTC(), Pages: len(set.members), Bytes: set.bytes(),
			Dropped: set.dropped,
		})
	}
	return list
}

// useSession notes in b that a session was used. If there are too many sessions, it deletes the least recently used one
// and its set. The caller holds s.mu. A use within a minute of the last one is not written.
func (s *Store) useSession(b *kv.Batch, name string, ms int64) (dead []Sum) {
	all := s.sessions(b)
	at := slices.IndexFunc(all, func(o session) bool { return o.name == name })
	if at >= 0 && ms-all[at].ms < fetchedAgain {
		return nil
	}
	if at >= 0 {
		all = slices.Delete(all, at, at+1)
	}
	for len(all) >= maxSessions {
		more, n := s.clearFetched(b, all[0].name)
		s.log.Info("session dropped: too many sessions", "pages", n)
		dead, all = append(dead, more...), all[1:]
	}
	b.Set(keys.Sessions, encodeSessions(append(all, session{name, ms})))
	return dead
}

// sessions returns the sessions that have a set, as b would make it; the one used longest ago first.
func (s *Store) sessions(b *kv.Batch) (list []session) {
	value, err := s.kv.GetIn(b, keys.Sessions)
	if err != nil {
		return nil
	}
	d := wire.NewDecoder(value)
	for n := d.Int(); n > 0 && !d.Bad(); n-- {
		list = append(list, session{string(d.Raw(int(d.Int()))), d.Int()})
	}
	return list
}

// encodeSessions returns the record that [Store.sessions] reads.
func encodeSessions(list []session) []byte {
	var e wire.Encoder
	e.Int(int64(len(list)))
	for _, o := range list {
		e.Text(o.name)
		e.Int(o.ms)
	}
	return e
}
