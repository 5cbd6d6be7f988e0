package fleet_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/store"
)

// keep has a node store a response that was received some minutes after start, and tell the fleet of it.
func (n *node) keep(url, content string, minutes int, change ...func(*store.Response)) {
	n.t.Helper()
	n.Tell(n.put(url, content, minutes, change...), time.Now().Add(time.Hour))
}

// put has a node store a response that was received some minutes after start.
func (n *node) put(url, content string, minutes int, change ...func(*store.Response)) *store.Response {
	n.t.Helper()
	at := start.Add(time.Duration(minutes) * time.Minute)
	r := &store.Response{
		URL: url, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Total: -1,
		RequestTime: at.Add(-time.Second), ResponseTime: at, Retain: time.Now().Add(time.Hour),
	}
	for _, f := range change {
		f(r)
	}
	if err := n.store.PutResponse(r, strings.NewReader(content), nil); err != nil {
		n.t.Fatal(err)
	}
	return r
}

// ask returns what a node gets when it asks the fleet for a URL, or "" if it is to ask the origin itself. done says
// that it has.
func (n *node) ask(url string) (content string, done func()) {
	n.t.Helper()
	r, done := n.Ask(n.t.Context(), url, func(list []*store.Response) *store.Response { return list[0] })
	if r == nil {
		return "", done
	}
	known, err := n.store.Responses(url)
	if err != nil || len(known) != 1 || known[0].ID != r.ID {
		n.t.Errorf("the store has %v of %s, %v", known, url, err)
	}
	body, err := n.store.Body(r.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(body)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text), done
}

// gets asks until a node gets a content.
func (n *node) gets(url, want string) {
	n.t.Helper()
	eventually.True(n.t, n.Status().Node+" gets "+want+" of "+url, func() bool {
		got, done := n.ask(url)
		done()
		return got == want
	})
}

// nodes returns nodes of a fleet that are connected.
func nodes(tb testing.TB, url string, names ...string) (list []*node) {
	tb.Helper()
	for _, name := range names {
		list = append(list, join(tb, url, name))
	}
	for _, n := range list {
		n.awaitState(fleet.Connected)
	}
	return list
}

func TestWhatANodeStoredAnswersOnOthers(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "a", "b")
	a, b := all[0], all[1]
	const url = "https://a.test/x?q=1"
	a.keep(url, "first", 1)
	b.gets(url, "first")
	a.keep(url, "second", 3)
	b.gets(url, "second")
	b.keep(url, "older", 2) // it comes late
	a.gets(url, "second")
	if st := b.Status(); st.Reused == 0 || st.Refused != 0 {
		t.Errorf("status of b: %+v", st)
	}
}

func TestStoredResponsesThatStay(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	for _, url := range []string{
		"http://127.0.0.1:8080/x", "http://localhost/", "https://a.test/?token=hunter2-hunter2",
		"https://a.test/f47ac10b-58cc-4372-a567-0e02b2c3d479", "ftp://a.test/",
	} {
		a.keep(url, "private", 1)
	}
	a.keep("https://a.test/large", strings.Repeat("x", 8<<20+1), 1)
	a.keep("https://a.test/last", "told", 2)
	b.gets("https://a.test/last", "told")
	if n := server.Count("responses"); n != 1 {
		t.Errorf("%d responses were told, of which one may be", n)
	}
}

// patience is for how long a node waits at most for what another one is at.
const patience = 10 * time.Second

func TestOneNodeAsksTheOrigin(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "a", "b", "c", "d")
	for round := range 25 {
		url := fmt.Sprintf("https://a.test/cold/%d", round)
		var asked atomic.Int32
		var group sync.WaitGroup
		began := time.Now()
		for _, n := range all {
			group.Go(func() {
				content, done := n.ask(url)
				if content == "" {
					asked.Add(1)
					others := func() (waited int64) {
						for _, n := range all {
							waited += n.Status().Waited
						}
						return waited
					}
					// The origin answers when the others wait, or did not know in time whether they must.
					if err := eventually.Holds(t.Context(), func() bool {
						return others() >= int64(3*(round+1)) || time.Since(began) > patience
					}); err != nil {
						t.Error(err)
					}
					n.keep(url, "once", round)
					done()
				} else if content != "once" {
					t.Errorf("%s got %q", n.Status().Node, content)
				}
			})
		}
		group.Wait()
		if got := asked.Load(); got != 1 && time.Since(began) < patience {
			t.Errorf("round %d: %d nodes asked the origin", round, got)
		}
	}
}

func TestNobodyWaitsForAnAnswerThatIsNotShared(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "a", "b")
	const url = "https://a.test/private"
	content, done := all[0].ask(url)
	if content != "" {
		t.Fatalf("a got %q", content)
	}
	began, got := time.Now(), make(chan string, 1)
	go func() {
		content, _ := all[1].ask(url)
		got <- content
	}()
	eventually.True(t, "b waits for a", func() bool { return all[1].Status().Waited == 1 })
	done() // the answer is one that nobody stores
	if content := <-got; content != "" {
		t.Errorf("b got %q", content)
	}
	first := time.Since(began)
	if content, _ := all[1].ask(url); content != "" || all[1].Status().Waited != 1 && first < patience {
		t.Errorf("b got %q, and waited %d times", content, all[1].Status().Waited)
	}
}

func TestWhatIsPurgedDoesNotComeBack(t *testing.T) {
	t.Parallel()
	const url = "https://a.test/dir/x"
	now := func(r *store.Response) { r.ResponseTime = time.Now() }
	tagged := func(r *store.Response) { r.Tags = []string{"blue", "green"} }
	for _, c := range []struct {
		name  string
		purge func(*store.Store) (int, error)
	}{
		{"by URL", func(s *store.Store) (int, error) { return s.DeleteResponses(url) }},
		{"by prefix", func(s *store.Store) (int, error) { return s.DeletePrefixResponses("https://a.test/dir/") }},
		{"by host", func(s *store.Store) (int, error) { return s.DeleteHostResponses("a.test") }},
		{"by tag", func(s *store.Store) (int, error) { return s.DeleteTaggedResponses("green") }},
		{"all", func(s *store.Store) (int, error) { return s.ClearResponses() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := fleettest.Start(t)
			all := nodes(t, server.URL, "a", "b", "c")
			a, b, late := all[0], all[1], all[2]
			a.keep(url, "old", 1, tagged)
			b.gets(url, "old")
			if _, err := b.store.DeleteResponses("https://other.test/"); err != nil { // another purge
				t.Fatal(err)
			}
			if n, err := c.purge(b.store); n != 1 || err != nil {
				t.Fatalf("purge: %d, %v", n, err)
			}
			if got, done := b.ask(url); got != "" { // at once, whether that was told or not
				t.Errorf("b got %q after it was purged", got)
			} else {
				done()
			}
			eventually.True(t, "it goes on a, too", func() bool {
				list, err := a.store.Responses(url)
				return err == nil && len(list) == 0
			})
			late.keep(url, "old", 1, tagged) // it was received before the purge, and is told later
			late.keep("https://other.test/y", "told", 1, now)
			a.gets("https://other.test/y", "told")
			if got, done := a.ask(url); got != "" {
				t.Errorf("a got %q: it came back", got)
			} else {
				done()
			}
			eventually.True(t, "the purge was told", func() bool { return len(b.store.Purges()) == 0 })
			late.keep(url, "new", 1, tagged, now)
			a.gets(url, "new")
		})
	}
}

func TestStoredResponsesOfOthersAreNotTrusted(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	const good = "https://a.test/good"
	header := func(name, value string) func(*store.Response) {
		return func(r *store.Response) { r.Header[name] = []string{value} }
	}
	for name, c := range map[string]struct {
		change func(*store.Response)
		forge  string
	}{
		"another body":      {nil, "body = (SELECT body FROM readthru.responses WHERE url = '" + good + "')"},
		"no zstd":           {nil, `body = '\x00'`},
		"another URL":       {nil, "record = (SELECT record FROM readthru.responses WHERE url = '" + good + "')"},
		"no record":         {nil, `record = '\x0102'`},
		"unknown form":      {nil, "form = 99"},
		"two lines":         {header("X-A", "1\r\nSet-Cookie: a=b"), ""},
		"a name with space": {header("X A", "1"), ""},
		"a part":            {func(r *store.Response) { r.Status = http.StatusPartialContent }, ""},
		"a partition":       {func(r *store.Response) { r.Partition = "ann" }, ""},
		"from the future":   {func(r *store.Response) { r.ResponseTime = time.Now().Add(time.Hour) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a.keep(good, "good", 1)
			b.gets(good, "good")
			url := "https://a.test/" + strings.ReplaceAll(name, " ", "-")
			change := []func(*store.Response){}
			if c.change != nil {
				change = append(change, c.change)
			}
			a.keep(url, "forged", 1, change...)
			eventually.True(t, "it was told", func() bool { return server.Count("responses WHERE url = '"+url+"'") == 1 })
			if c.forge != "" {
				server.Exec("UPDATE readthru.responses SET " + c.forge + " WHERE url = '" + url + "'")
			}
			if got, done := b.ask(url); got != "" {
				t.Errorf("b took %q", got)
			} else {
				done()
			}
		})
	}
}

func TestADatabaseThatStallsCostsThreeRequestsTheirWait(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := join(t, server.URL, "a")
	a.stop()
	a.wait = 0 // the default
	a.begin(server.URL, "a")
	a.awaitState(fleet.Connected)
	server.Stall()
	defer server.Resume()
	began := time.Now()
	for i := range 50 {
		r, done := a.Ask(t.Context(), fmt.Sprintf("https://a.test/%d", i), func(l []*store.Response) *store.Response {
			return l[0]
		})
		if r != nil {
			t.Errorf("request %d: %v", i, r)
		}
		done()
	}
	// What a request ends in the background may be late, too, unless the questions have stopped.
	if late, most := int(a.Status().Late), 2*mostAsked(time.Since(began)); late == 0 || late > most {
		t.Errorf("%d questions of 50 requests were late, want at most %d", late, most)
	}
}

// mostAsked returns how many requests of a node ask at most what does not answer: three, and one in every five seconds
// of the time that they took.
func mostAsked(took time.Duration) int { return 4 + int(took/(5*time.Second)) }

func TestWhatIsPurgedWhileItIsTakenOverDoesNotStay(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "a", "b")
	a, b := all[0], all[1]
	const url = "https://a.test/x"
	a.keep(url, "old", 1)
	eventually.True(t, "it was told", func() bool { return a.Status().Told == 1 })
	r, done := b.Ask(t.Context(), url, func(list []*store.Response) *store.Response {
		if _, err := b.store.DeleteResponses(url); err != nil {
			t.Error(err)
		}
		return list[0]
	})
	defer done()
	if known, err := b.store.Responses(url); r != nil || len(known) != 0 || err != nil {
		t.Errorf("b took over %v, and has %v, %v", r, known, err)
	}
}

func TestAStaleResponseIsValidatedByOneNode(t *testing.T) {
	t.Parallel()
	all := nodes(t, fleettest.Start(t).URL, "a", "b", "c")
	const url = "https://a.test/x"
	all[2].Tell(all[2].put(url, "stale", 1), time.Now().Add(-time.Second))
	eventually.True(t, "it was told", func() bool { return all[2].Status().Told == 1 })
	content, done := all[0].ask(url)
	if content != "stale" {
		t.Fatalf("a got %q", content)
	}
	answer := make(chan string)
	go func() {
		content, _ := all[1].ask(url)
		answer <- content
	}()
	eventually.True(t, "b waits", func() bool { return all[1].Status().Waited == 1 })
	all[0].keep(url, "validated", 2)
	done()
	if content := <-answer; content != "validated" {
		t.Errorf("b got %q", content)
	}
}

// What older nodes told of URLs that are secret by newer rules is removed by the first node that knows these.
func TestSecretsThatOlderNodesToldAreRemoved(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	a := join(t, server.URL, "a")
	a.awaitState(fleet.Connected)
	a.keep("https://a.test/honest", "honest", 1)
	a.keep("https://a.test/page?v=older", "secret", 1)
	eventually.True(t, "a has told", func() bool { return server.Count("responses") == 2 })
	a.stop()
	const secret = "'https://a.test/page?token=k7Qx2mZp9Rt4Vw6Y'"
	server.Exec("UPDATE readthru.responses SET url = " + secret + " WHERE url LIKE '%older'")
	server.Exec(`INSERT INTO readthru.visits
		SELECT gen_random_uuid(), 'x', now(), 'd', url, 'a', 's', 'r', 'x', true, 1, 1, 1
		FROM unnest(ARRAY['https://a.test/honest', ` + secret + `]) AS u (url)`)
	position := a.store.FleetPosition()
	position.Secrets = 0
	if err := a.store.SetFleetPosition(position); err != nil {
		t.Fatal(err)
	}
	a.begin(server.URL, "a")
	a.awaitState(fleet.Connected)
	eventually.True(t, "the secrets are gone", func() bool {
		return server.Count("responses") == 1 && server.Count("visits") == 1
	})
}
