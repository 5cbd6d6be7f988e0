package kv

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/internal/fault"
)

// keepNoBuffers has the engine keep no buffers of the builders of tables that it has made. It would keep eight while
// tables are made, each grown to the largest table: 200 MB of them. The engine has no option for it, so its pool is
// emptied as it is filled, until the engine is closed. keepNoBuffers reports whether it found the pool.
func keepNoBuffers(db *badger.DB) bool {
	pool := reflect.ValueOf(db).Elem().FieldByName("allocPool")
	if pool.Kind() != reflect.Pointer || pool.IsNil() {
		return false
	}
	field := pool.Elem().FieldByName("allocCh")
	if field.Kind() != reflect.Chan {
		return false
	}
	kept := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	if _, ok := field.Type().Elem().MethodByName("Release"); !ok {
		return false
	}
	// It ends when the engine closes the channel.
	go fault.Forever(context.Background(), "store: release buffers", func(context.Context) {
		for {
			buffers, ok := kept.Recv()
			if !ok {
				return
			}
			buffers.Interface().(interface{ Release() }).Release()
		}
	})()
	return true
}
