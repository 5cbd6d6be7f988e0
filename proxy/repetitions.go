package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
)

// logEvery is how long the log lines of answers that are given again wait for more of the same answer.
const logEvery = 200 * time.Millisecond

// repeatLog writes the log lines of answers that are given again: one for all repetitions of an answer within logEvery,
// with their number.
type repeatLog struct {
	log *slog.Logger

	mu      sync.Mutex
	waiting []*given
}

// add has a log line written for a repetition of an answer, soon and together with others. It is on the way of every
// repeated answer, so that it only counts.
func (l *repeatLog) add(g *given, now time.Time, took time.Duration) {
	if !l.log.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g.unlogged.count++
	g.unlogged.time, g.unlogged.ms = now.UTC(), took.Milliseconds()
	if g.unlogged.count > 1 {
		return
	}
	if l.waiting = append(l.waiting, g); len(l.waiting) == 1 {
		time.AfterFunc(logEvery, fault.Contain("proxy: end a row of repetitions", func() {
			l.flush(context.Background())
		}))
	}
}

// unlogged is what the next log line of an answer says of its repetitions since the last one.
type unlogged struct {
	count int64
	time  time.Time // of the last
	ms    int64
}

// flush writes the log lines of repetitions that wait.
func (l *repeatLog) flush(ctx context.Context) {
	l.mu.Lock()
	all := l.waiting
	l.waiting = nil
	lines := make([]unlogged, len(all))
	for i, g := range all {
		lines[i], g.unlogged = g.unlogged, unlogged{}
	}
	l.mu.Unlock()
	for i, g := range all {
		rec := *g.rec
		rec.Time, rec.MS = lines[i].time, lines[i].ms
		line := slog.NewRecord(rec.Time, slog.LevelInfo, logMessage, 0)
		line.AddAttrs(addAttrs(nil, "", &rec)...)
		if n := lines[i].count; n > 1 {
			line.AddAttrs(slog.Int64(KeyCount, n))
		}
		l.log.Handler().Handle(ctx, line) //nolint:errcheck // as the log itself does
	}
}

// given counts an answer that is given again, as [exchange.end] counts what is given first.
type given struct {
	p      *Proxy
	rec    *journal.Entry // of the first time
	inside bool
	page   pageTokens
	reuse  *cache.Reuse
	repeat *fetch.Repeat // nil if package fetch was not asked
	meter  *users.Meter  // nil: the answer is no user's

	unlogged unlogged // guarded by the repeatLog's mu
}

// may is called before each repetition of an answer that a user asks for. It counts the request, and is false when the
// user's limit is reached.
func (g *given) may(now time.Time) bool {
	return (!g.page.page || g.meter.AskPage(now) == nil) && g.meter.Ask(now) == nil
}

// again counts a repetition of an answer after it was given, everywhere where the first answer was counted.
func (g *given) again(now time.Time, took time.Duration, err error) {
	p := g.p
	p.stats.total.Add(1)
	if g.inside && !g.rec.Hidden {
		p.stats.intercepted.Add(1)
	}
	g.reuse.Repeated(now)
	if g.repeat != nil {
		g.repeat.Repeated(now)
	}
	p.journal.Again(g.rec, now, took, err != nil)
	if g.rec.Hidden {
		g.meter.Count(now, useOf(g.rec.BytesOut, g.page))
		return
	}
	if err != nil {
		g.meter.Count(now, useOf(0, g.page))
		rec := *g.rec
		rec.Time, rec.MS, rec.Error, rec.BytesOut = now.UTC(), took.Milliseconds(), journal.Gone, 0
		writeLog(p.log, "", &rec)
		return
	}
	g.meter.Count(now, useOf(g.rec.BytesOut, g.page))
	p.repeatLog.add(g, now, took)
}
