package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
)

func TestAPageSurvivesTheNightAndAKill(t *testing.T) {
	w := newWeb(t, site())
	dir := t.TempDir()
	d := serveIn(t, w, dir)
	first := d.get("https://site.test/fresh")
	eventually.True(t, "the visit is counted", func() bool { return d.stats().Pages.Visits == 1 })
	d.readthru("pages") // which writes what is counted first
	d.kill()

	d = serveIn(t, w, dir)
	second := d.get("https://site.test/fresh")
	if n := len(w.requests("/fresh")); n != 1 {
		t.Errorf("the origin was asked %d times, want once", n)
	}
	if second.body != first.body || !strings.Contains(second.Header.Get("Cache-Status"), "hit") {
		t.Errorf("after the kill: %v %q", second.Header, second.body)
	}
	eventually.True(t, "one page has two visits", func() bool {
		s := d.stats()
		return s.Pages.Total == 1 && s.Pages.Visits == 2
	})
}

func TestAHundredClientsOnOneColdPageMakeOneRequest(t *testing.T) {
	release := make(chan struct{})
	w := newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		<-release
		rw.Header().Set("Cache-Control", "max-age=60")
		rw.Header().Set("Content-Type", "text/html")
		io.WriteString(rw, article)
	}))
	d := serve(t, w)
	client := d.client()
	client.Transport.(*http.Transport).MaxConnsPerHost = 0
	var wg sync.WaitGroup
	var mu sync.Mutex
	bodies := map[string]int{}
	for range 100 {
		wg.Go(func() {
			resp, err := client.Get("https://cold.test/page") //nolint:noctx // the test's own end bounds it
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			mu.Lock()
			defer mu.Unlock()
			bodies[fmt.Sprint(resp.StatusCode, string(body), err)]++
		})
	}
	eventually.True(t, "all have asked", func() bool { return d.stats().Work.Requests == 100 && len(w.requests("/page")) > 0 })
	close(release)
	wg.Wait()
	if n := len(w.requests("/page")); n != 1 || len(bodies) != 1 {
		t.Errorf("%d requests at the origin, %d different answers", n, len(bodies))
	}
}

func TestALargeDownloadStreamsInFlatMemory(t *testing.T) {
	const size = 256 << 20
	d := serve(t, newWeb(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/octet-stream")
		rw.Header().Set("Content-Length", strconv.Itoa(size))
		chunk := make([]byte, 1<<20)
		for range size >> 20 {
			if _, err := rw.Write(chunk); err != nil {
				return
			}
		}
	})))
	d.get("https://files.test/", "Range: bytes=0-0") // warm up: the tunnel's certificate, the transport's buffers
	before := d.rss()
	resp, err := d.client().Get("https://files.test/big.iso") //nolint:noctx // the test's own end bounds it
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var most, got int64
	buffer := make([]byte, 1<<20)
	for {
		n, err := resp.Body.Read(buffer)
		got += int64(n)
		if got%(64<<20) < int64(n) {
			most = max(most, d.rss())
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got != size {
		t.Errorf("%d bytes, want %d", got, size)
	}
	if grown := most - before; grown > 32<<20 {
		t.Errorf("resident memory grew by %d MiB, want at most 32", grown>>20)
	}
}

// rss returns the daemon's resident memory in bytes (0 where /proc has none).
func (d *daemon) rss() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", d.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

func TestPagesVisitsAndStatsTellTheSameNumbers(t *testing.T) {
	d := serve(t, newWeb(t, site()))
	for range 3 {
		d.get("https://site.test/fresh")
	}
	d.get("http://site.test/guide/page")
	eventually.True(t, "the visits of two pages are counted, which is after the answer", func() bool {
		s := d.stats()
		return s.Pages.Total == 2 && s.Pages.Visits == 4
	})
	if pages := d.readthru("pages", "--json"); strings.Count(pages, `"normalized_url"`) != 2 {
		t.Errorf("pages: %s", pages)
	}
	if visits := d.readthru("visits", "--json"); strings.Count(visits, `"visit_id"`) != 4 {
		t.Errorf("visits: %s", visits)
	}
}
