package kv

import (
	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/store/lru"
)

// What follows is for tests, also those of package store: they look at what lies below, and damage it.

// Engine returns the database. It is nil if the store works in memory only.
func (k *DB) Engine() *badger.DB { return k.db }

// Decoded returns the memory of [Decode].
func (k *DB) Decoded() *lru.Cache[string, any] { return k.decoded }
