package guard_test

import (
	"context"
	"errors"
	"testing"

	"github.com/readthru/readthru/convert/guard"
)

func TestRunReturnsTheReasonOfTheStop(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		walk func()
		want error
	}{
		{"to its end", func() {}, nil},
		{"the context has ended", func() { guard.Check(ended) }, context.Canceled},
		{"stopped", func() { guard.Stop(guard.ErrOutput) }, guard.ErrOutput},
		{"a bug", func() { panic("bug") }, guard.ErrPanic},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := guard.Run(tt.walk); !errors.Is(err, tt.want) {
				t.Errorf("Run = %v, want %v", err, tt.want)
			}
		})
	}
}
