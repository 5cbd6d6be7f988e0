package fleet_test

import (
	"fmt"
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
