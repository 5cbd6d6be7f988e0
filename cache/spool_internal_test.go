package cache

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func newTestSpool(limit, maxBody int64) (*spool, *budget) {
	b := &budget{limit: limit}
	return newSpool(b, maxBody, func(bool, bool) {}), b
}

func TestTheLastByteWaitsForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestSpool(1<<20, 1<<20)
		r := s.join(t.Context())
		if err := s.fill(t.Context(), strings.NewReader("hello"), 5); err != nil {
			t.Fatal(err)
		}
		read := make(chan string, 1)
		go func() {
			data, _ := io.ReadAll(r)
			read <- string(data)
		}()
		synctest.Wait()
		select {
		case data := <-read:
			t.Fatalf("read %q before the body was stored", data)
		default:
		}
		s.end(io.EOF, nil, nil)
		if data := <-read; data != "hello" {
			t.Errorf("read %q, want hello", data)
		}
	})
}

func TestAfterAnErrorTheLastBytesStayUnseen(t *testing.T) {
	s, _ := newTestSpool(1<<20, 1<<20)
	r := s.join(t.Context())
	if err := s.fill(t.Context(), strings.NewReader("hello"), 5); err != nil {
		t.Fatal(err)
	}
	damaged := errors.New("damaged")
	s.end(damaged, nil, nil)
	if data, err := io.ReadAll(r); len(data) > 0 || !errors.Is(err, damaged) {
		t.Errorf("read %q, %v; want nothing and the error", data, err)
	}
}

func TestAShortBodyIsAnError(t *testing.T) {
	s, _ := newTestSpool(1<<20, 1<<20)
	if err := s.fill(t.Context(), strings.NewReader("hello"), 6); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("fill with 5 of 6 bytes = %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

func TestSpoolsGiveTheirMemoryBack(t *testing.T) {
	s, b := newTestSpool(1<<20, 1<<20)
	r := s.join(t.Context())
	if err := s.fill(t.Context(), strings.NewReader(strings.Repeat("x", 100_000)), -1); err != nil {
		t.Fatal(err)
	}
	if used := b.used.Load(); used < 100_000 || used > 200_000 {
		t.Errorf("a body of 100,000 bytes takes %d of the budget", used)
	}
	s.end(io.EOF, nil, nil)
	_, _ = io.Copy(io.Discard, r)
	_ = r.Close()
	_ = r.Close()
	if used := b.used.Load(); used != 0 {
		t.Errorf("%d bytes of the budget are never given back", used)
	}
}

func TestOverTheBudgetABodyStreamsOnAndIsNotKept(t *testing.T) {
	s, b := newTestSpool(100_000, 1<<30)
	const size = 8 << 20
	r := s.join(t.Context())
	filled := make(chan error, 1)
	go func() {
		err := s.fill(context.Background(), io.LimitReader(zeros{}, size), size)
		filled <- err
		s.end(io.EOF, nil, nil)
	}()
	var n, peak int64
	buf := make([]byte, 32<<10)
	for {
		got, err := r.Read(buf)
		n += int64(got)
		peak = max(peak, b.used.Load())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-filled; err != nil || n != size || s.kept() {
		t.Errorf("read %d bytes, fill = %v, kept %v; want %d, nil, false", n, err, s.kept(), size)
	}
	if peak > window+2*maxChunk {
		t.Errorf("held up to %d bytes, want at most %d", peak, window+2*maxChunk)
	}
	_ = r.Close()
	if used := b.used.Load(); used != 0 {
		t.Errorf("%d bytes of the budget are never given back", used)
	}
	if s.join(t.Context()) != nil {
		t.Error("a reader joined a body whose beginning is gone")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestABodyThatNobodyKeepsOrReadsIsAbandoned(t *testing.T) {
	s, _ := newTestSpool(1<<20, 10)
	if err := s.fill(t.Context(), zeros{}, -1); !errors.Is(err, errAbandoned) {
		t.Errorf("fill = %v, want %v", err, errAbandoned)
	}
}

func TestAReaderEndsWithItsRequest(t *testing.T) {
	s, _ := newTestSpool(1<<20, 1<<20)
	ctx, cancel := context.WithCancel(t.Context())
	r := s.join(ctx)
	cancel()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after the request ended = %v, want %v", err, context.Canceled)
	}
	_ = r.Close()
}

func TestNobodyJoinsABodyThatFailed(t *testing.T) {
	s, _ := newTestSpool(1<<20, 1<<20)
	r := s.join(t.Context()) // still reading: what was received is there
	s.end(io.ErrUnexpectedEOF, nil, nil)
	if s.join(t.Context()) != nil {
		t.Error("a reader joined a body that had failed before it asked")
	}
	_ = r.Close()
}
