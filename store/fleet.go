package store

import (
	"fmt"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// FleetPosition is how far this node has taken part in a fleet: what it has told the fleet's database and what it has
// taken from there, so that after a restart it goes on where it was. What its fields mean is the business of package
// fleet.
type FleetPosition struct {
	Database string `json:"database"`  // which database, and which line of its history
	Joined   uint64 `json:"joined"`    // the last job of the change log that the fleet is not told of
	XID      uint64 `json:"xid"`       // the transaction up to which changes of others were taken
	Key      []byte `json:"key"`       // the page in it
	PurgeXID uint64 `json:"purge_xid"` // the transaction up to which purges of others were taken
	PurgeID  []byte `json:"purge_id"`  // the purge in it

	// the first visit that the fleet may be told of, in Unix milliseconds; the last that it was told of
	VisitsFrom int64 `json:"visits_from,omitempty"`
	Visits     int64 `json:"visits,omitempty"`

	Secrets int `json:"secrets,omitempty"` // with which page.SecretEdition the database was looked through

	Held       uint64 `json:"held,omitempty"`        // the first job that waits until its content is taken; 0: none
	Skipped    bool   `json:"skipped,omitempty"`     // changes were skipped because their content could not be had
	SkippedXID uint64 `json:"skipped_xid,omitempty"` // after this transaction
	SkippedKey []byte `json:"skipped_key,omitempty"` // and this page in it

	Aside       bool   `json:"aside,omitempty"`        // pages were set aside
	AsideXID    uint64 `json:"aside_xid,omitempty"`    // after this transaction
	AsideKey    []byte `json:"aside_key,omitempty"`    // and this page in it
	AsidePurges bool   `json:"aside_purges,omitempty"` // purges were set aside
}

// FleetPosition returns what was last kept; the zero value if nothing was.
func (s *Store) FleetPosition() (p FleetPosition) {
	_ = s.kv.GetJSON(&kv.Batch{}, keys.Fleet, &p) // none yet
	return p
}

// SetFleetPosition keeps a position. It is on disk, with all that was stored before, when SetFleetPosition returns.
func (s *Store) SetFleetPosition(p FleetPosition) error {
	s.mu.Lock()
	b := &kv.Batch{Must: true}
	b.Set(keys.Fleet, wire.JSON(p))
	err := s.kv.Apply(b)
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err != nil {
		return fmt.Errorf("keep the position in the fleet: %w", err)
	}
	return nil
}
