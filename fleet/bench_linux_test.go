package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"readthru/fleet"
	"readthru/fleet/fleettest"
	"readthru/page"
	"readthru/store"
)

// bulk has a node read n pages of 4 KB, from a number on.
func (n *node) bulk(from, count int) {
	n.t.Helper()
	text := make([]byte, 4096)
	for i := range text {
		text[i] = "abcdefgh klmnop rstu\n"[(i*i+i/7)%21]
	}
	for i := from; i < from+count; i++ {
		content := fmt.Sprintf("# Page %d\n\n%s", i, text)
		r := record(fmt.Sprintf("https://a.test/%d", i), content, i)
		if _, err := n.store.PutPage(r, []byte(content), store.Sum{}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// BenchmarkPagesReachANode measures from when a node has read pages until another has them in its store: many, and one.
func BenchmarkPagesReachANode(b *testing.B) {
	url := fleettest.Start(b).URL
	reader, other := join(b, url, "reader"), join(b, url, "other")
	reader.awaitState(fleet.Connected)
	other.awaitState(fleet.Connected)
	total := 0
	b.Run("many", func(b *testing.B) {
		reader.bulk(total, b.N)
		total += b.N
		until(b, "all are there", func() bool { return other.store.Totals().Pages == int64(total) })
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
	})
	b.Run("one", func(b *testing.B) {
		for range b.N {
			reader.bulk(total, 1)
			key := page.KeyOf(fmt.Sprintf("https://a.test/%d", total))
			total++
			for {
				if _, err := other.store.Page(key); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
	})
}

// BenchmarkANodeJoins measures a node that joins when there are 5,000 pages, until it has them.
func BenchmarkANodeJoins(b *testing.B) {
	const pages = 5000
	url := fleettest.Start(b).URL
	reader := join(b, url, "reader")
	reader.awaitState(fleet.Connected)
	reader.bulk(0, pages)
	until(b, "all are told", func() bool { return reader.Status().Outbox == 0 })
	b.ResetTimer()
	for range b.N {
		late := join(b, url, "late")
		until(b, "all are there", func() bool { return late.store.Totals().Pages == pages })
		late.stop()
	}
	b.ReportMetric(float64(pages)*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

// BenchmarkAsk measures what a request waits for before its origin is asked: for a response of 10 KB that another node
// has stored, and for the answer that nobody has one.
func BenchmarkAsk(b *testing.B) {
	all := nodes(b, fleettest.Start(b).URL, "reader", "other")
	reader, other := all[0], all[1]
	text := strings.Repeat("0123456789abcdef", 640)
	measure := func(b *testing.B, path string, want bool) {
		b.Helper()
		times := make([]time.Duration, 0, b.N)
		b.ResetTimer()
		for i := range b.N {
			began := time.Now()
			r, done := other.Ask(b.Context(), fmt.Sprintf("https://a.test/%s/%d/%d", path, b.N, i),
				func(list []*store.Response) *store.Response { return list[0] })
			times = append(times, time.Since(began))
			if (r != nil) != want {
				b.Fatalf("%d of %d: %v", i, b.N, r)
			}
			done()
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	}
	b.Run("stored", func(b *testing.B) {
		before := reader.Status().Told
		for i := range b.N {
			reader.keep(fmt.Sprintf("https://a.test/stored/%d/%d", b.N, i), text, 1)
			if i%1000 == 999 { // no more wait than may
				until(b, "all are told", func() bool { return reader.Status().Told-before == int64(i+1) })
			}
		}
		until(b, "all are told", func() bool { return reader.Status().Told-before == int64(b.N) })
		measure(b, "stored", true)
	})
	b.Run("nowhere", func(b *testing.B) { measure(b, "nowhere", false) })
}
