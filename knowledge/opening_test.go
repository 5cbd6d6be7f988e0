package knowledge_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// logHeld is a log that holds whoever warns until release is closed.
type logHeld struct {
	slog.Handler
	release chan struct{}
}

func (l logHeld) Enabled(context.Context, slog.Level) bool { return true }

func (l logHeld) Handle(context.Context, slog.Record) error {
	<-l.release
	return nil
}

// TestOpenDoesNotWaitForTheIndex opens knowledge whose index is not open before the log lets it.
func TestOpenDoesNotWaitForTheIndex(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing in it is needed again
	// an index of another version, which is told in the log
	if err := s.Records().Apply(store.Change{Key: "k/z", Value: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	log := logHeld{slog.DiscardHandler, make(chan struct{})}
	k, err := knowledge.Open(knowledge.Options{Store: s, Log: slog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	if open, err := k.Opened(); open || err != nil {
		t.Errorf("Opened before the index is read: %t, %v", open, err)
	}
	late := errors.New("the client has gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(late)
	if _, err := k.Search(ctx, knowledge.Query{Text: "x"}); !errors.Is(err, late) {
		t.Errorf("a search whose client has gone: %v, want %v", err, late)
	}
	if err := k.Run(ctx); err != nil {
		t.Errorf("Run that is ended before the index is open: %v", err)
	}
	found := make(chan error, 1)
	go func() {
		_, err := k.Search(t.Context(), knowledge.Query{Text: "x"})
		found <- err
	}()
	select {
	case err := <-found:
		t.Errorf("a search did not wait for the index: %v", err)
	default:
	}
	close(log.release)
	if err := <-found; err != nil {
		t.Errorf("a search that waited for the index: %v", err)
	}
	if open, err := k.Opened(); !open || err != nil {
		t.Errorf("Opened after a search: %t, %v", open, err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}
