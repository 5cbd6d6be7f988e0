package fleet

import (
	"errors"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/fault"
)

// Aside is a row of others that this node does not take over.
type Aside struct {
	Kind   string    `json:"kind"` // page, purge, user, host or base
	ID     string    `json:"id"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
}

// maxAside is how many rows set aside are named, the newest, and maxAsideText how many bytes of an id and of a reason.
const (
	maxAside     = 100
	maxAsideText = 300
)

// setAside notes that a row is not taken over. It is looked at again only when it changes, or another database comes.
func (f *Fleet) setAside(kind, id string, err error) {
	f.log.Warn("row of the fleet set aside", "kind", kind, "id", id, "err", err)
	a := Aside{kind, clip.Bytes(id, maxAsideText), clip.Bytes(err.Error(), maxAsideText), time.Now().UTC()}
	f.note(func(s *Status) {
		s.Refused++
		s.Aside = slices.DeleteFunc(slices.Clone(s.Aside), func(old Aside) bool {
			return old.Kind == a.Kind && old.ID == a.ID
		})
		s.Aside = append(s.Aside, a)
		s.Aside = s.Aside[max(0, len(s.Aside)-maxAside):]
	})
}

// takeOne takes over a row. If that panics the row is set aside, so that those behind it are taken over.
func (f *Fleet) takeOne(kind, id string, take func() error) error {
	err := fault.CatchJob("fleet: take a "+kind, id, take)
	if fault.Is(err) {
		f.setAside(kind, id, err)
		return nil
	}
	return err
}

// The times that infinity of PostgreSQL is read as. database/sql reads it as no time, so that one row with it would end
// each look.
var (
	leastTime    = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	greatestTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

func init() { pq.EnableInfinityTs(leastTime, greatestTime) }

var errNoTime = errors.New("its time is none")

// checkTime returns an error for a time that JSON cannot say, or that is before there was a web.
func checkTime(t time.Time) error {
	if t.Year() < 1990 || !t.Before(greatestTime) {
		return errNoTime
	}
	return nil
}
