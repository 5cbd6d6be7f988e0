package fleet_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
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
		var err error
		eventually.True(n.t, "the disk has caught up", func() bool {
			_, err = n.store.PutPage(r, []byte(content), store.Sum{})
			return !errors.Is(err, store.ErrFull)
		})
		if err != nil {
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
		eventually.True(b, "all are there", func() bool { return other.store.Totals().Pages == int64(total) })
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
	})
	b.Run("one", func(b *testing.B) {
		for range b.N {
			reader.bulk(total, 1)
			key := page.KeyOf(fmt.Sprintf("https://a.test/%d", total))
			total++
			eventually.True(b, "it is there", func() bool {
				_, err := other.store.Page(key)
				return err == nil
			})
		}
	})
}

// BenchmarkLag measures how long after it was read each page is in the store of another node, at 200 pages a second.
func BenchmarkLag(b *testing.B) {
	server := fleettest.Start(b)
	all := nodes(b, server.URL, "reader", "other")
	reader, other := all[0], all[1]
	read, there := make([]time.Time, b.N), make([]time.Duration, b.N)
	before := server.Number("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'")
	b.ResetTimer()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	seen := 0
	for i := 0; seen < b.N; {
		<-tick.C
		if i < b.N {
			reader.bulk(i, 1)
			read[i] = time.Now()
			i++
		}
		for ; seen < i; seen++ { // rows of one batch come in the order of their keys, but batches one after the other
			if _, err := other.store.Page(page.KeyOf(fmt.Sprintf("https://a.test/%d", seen))); err != nil {
				break
			}
			there[seen] = time.Since(read[seen])
		}
	}
	slices.Sort(there)
	b.ReportMetric(float64(there[b.N/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(there[b.N*99/100].Milliseconds()), "p99-ms")
	b.ReportMetric(float64(server.Number("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'")-before)/
		float64(b.N), "transactions/page")
}

// BenchmarkContent measures pages of 40 KB and responses of as much that go to the object store: what requests they
// take, and how long another node waits for one of those responses.
func BenchmarkContent(b *testing.B) {
	server, bucket := fleettest.Start(b), fleettest.StartBucket(b)
	all := shared(b, server, bucket, "reader", "other")
	reader, other := all[0], all[1]
	url := func(i int) string { return fmt.Sprintf("https://a.test/content/%d", i) }
	puts, gets := bucket.Requests("PUT"), bucket.Requests("GET")
	for i := range b.N {
		reader.read(url(i), large(url(i)), i)
	}
	eventually.True(b, "all pages are there", func() bool { return other.store.Totals().Pages == int64(b.N) })
	puts, gets = bucket.Requests("PUT")-puts, bucket.Requests("GET")-gets
	for i := range b.N {
		reader.keep(url(i), large("response "+url(i)), 1)
		if i%500 == 499 {
			eventually.True(b, "all are told", func() bool { return reader.Status().Told == int64(i+1) })
		}
	}
	eventually.True(b, "all are told", func() bool { return reader.Status().Told == int64(b.N) })
	times := make([]time.Duration, b.N)
	b.ResetTimer()
	for i := range b.N {
		began := time.Now()
		content, done := other.ask(url(i))
		if done(); content == "" {
			b.Fatalf("%s is not there", url(i))
		}
		times[i] = time.Since(began)
	}
	b.ReportMetric(float64(puts)/float64(b.N), "puts/page")
	b.ReportMetric(float64(gets)/float64(b.N), "gets/page")
	slices.Sort(times)
	b.ReportMetric(float64(times[b.N/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[b.N*99/100].Microseconds()), "p99-µs")
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
				eventually.True(b, "all are told", func() bool { return reader.Status().Told-before == int64(i+1) })
			}
		}
		eventually.True(b, "all are told", func() bool { return reader.Status().Told-before == int64(b.N) })
		measure(b, "stored", true)
	})
	b.Run("nowhere", func(b *testing.B) { measure(b, "nowhere", false) })
}

// BenchmarkRoom measures what pages of some sizes take that a node reads and another takes over: bytes in the database,
// with its indexes, and in the object store, and transactions of both nodes.
func BenchmarkRoom(b *testing.B) {
	for _, size := range []int{1 << 10, 4 << 10, 10 << 10, 40 << 10, 200 << 10} {
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			server, bucket := fleettest.Start(b), fleettest.StartBucket(b)
			all := shared(b, server, bucket, "reader", "other")
			const taken = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'"
			const room = "SELECT pg_total_relation_size('readthru.pages')"
			transactions, empty, objects := server.Number(taken), server.Number(room), bucket.Size()
			for i := range b.N {
				content := words(uint64(i), size)
				r := record(fmt.Sprint("https://a.test/", i), content, i)
				r.Title = "A page"
				if _, err := all[0].store.PutPage(r, []byte(content), store.Sum{}); err != nil {
					b.Fatal(err)
				}
				if i%50 == 49 {
					eventually.True(b, "pages are there", func() bool { return all[1].store.Totals().Pages == int64(i+1) })
				}
			}
			eventually.True(b, "all pages are there", func() bool { return all[1].store.Totals().Pages == int64(b.N) })
			b.ReportMetric(float64(server.Number(room)-empty)/float64(b.N), "database-B/page")
			b.ReportMetric(float64(bucket.Size()-objects)/float64(b.N), "objects-B/page")
			b.ReportMetric(float64(server.Number(taken)-transactions)/float64(b.N), "transactions/page")
		})
	}
}

// words returns a text of a size that compresses as prose does, to a third or less.
func words(seed uint64, size int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	for text.Len() < size {
		n := int(r.ExpFloat64() * 300) // some words are frequent
		text.WriteString(strconv.FormatUint(uint64(n*n+7*n+40)*2654435761%60466176, 36))
		text.WriteString(" ")
	}
	return text.String()[:size]
}
