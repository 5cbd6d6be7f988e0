package fleet_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const renderedURL = "https://a.test/app"

// rendition returns what a browser made of renderedURL.
func rendition(recipe, markdown string, change ...func(*store.Rendition)) *store.Rendition {
	r := &store.Rendition{
		Source: sha256.Sum256([]byte("<div id=root>")), Recipe: recipe, Markdown: []byte(markdown), From: page.Browser,
		Title: "Title of " + markdown, Expires: time.Now().Add(time.Hour), FinalURL: renderedURL, Rendered: true, Tokens: 7,
	}
	for _, f := range change {
		f(r)
	}
	return r
}

// tell has a node tell of a rendition that it began to make just now.
func (n *node) tell(r *store.Rendition) {
	n.TellRendition(page.KeyOf(renderedURL), renderedURL, time.Now(), r)
}

// rendered returns the markdown that others made of renderedURL, or "" if this node is to make it.
func (n *node) rendered(recipe string, makes bool) (markdown string, done func()) {
	n.t.Helper()
	r, done := n.AskRendition(n.t.Context(), page.KeyOf(renderedURL), renderedURL, recipe, makes)
	if r == nil {
		return "", done
	}
	if r.From != page.Browser || r.Title != "Title of "+string(r.Markdown) || !r.Rendered || r.Tokens != 7 {
		n.t.Errorf("rendition %+v", r)
	}
	return string(r.Markdown), done
}

// getsRendition asks, without making it, until a node gets a rendition; "" for none.
func (n *node) getsRendition(recipe, want string) {
	n.t.Helper()
	eventually.True(n.t, n.Status().Node+" gets rendition "+want, func() bool {
		got, done := n.rendered(recipe, false)
		done()
		return got == want
	})
}

func TestARenditionOfOneNodeAnswersOnOthers(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	a.tell(rendition("one", "# First"))
	b.getsRendition("one", "# First")
	if got, done := b.rendered("another", false); got != "" {
		t.Errorf("by another recipe there is %q", got)
		done()
	}
	a.tell(rendition("one", "# Second"))
	b.getsRendition("one", "# Second")

	// One that was begun before comes late.
	b.TellRendition(page.KeyOf(renderedURL), renderedURL, time.Now().Add(-time.Minute), rendition("one", "# Old"))
	b.tell(rendition("two", "# Two"))
	a.getsRendition("two", "# Two")
	a.getsRendition("one", "# Second")
	if st := b.Status(); st.Renditions < 2 || st.Refused != 0 {
		t.Errorf("status of b: %+v", st)
	}
}

func TestRenditionsThatStayOrEnd(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	for _, r := range []*store.Rendition{
		rendition("of local conversion", "# A", func(r *store.Rendition) { r.From = page.Local }),
		rendition("that ended", "# A", func(r *store.Rendition) { r.Expires = time.Now().Add(-time.Second) }),
		rendition("that led to a secret", "# A", func(r *store.Rendition) {
			r.FinalURL = "https://a.test/?token=hunter2-hunter2"
		}),
		rendition("of this machine", "# A", func(r *store.Rendition) { r.FinalURL = "http://127.0.0.1/" }),
		rendition("too large", "# A"+strings.Repeat("x", 8<<20)),
	} {
		a.tell(r)
	}
	a.TellRendition(page.KeyOf(renderedURL), "http://localhost/app", time.Now(), rendition("local", "# A"))
	a.tell(rendition("last", "# Last"))
	b.getsRendition("last", "# Last")
	for _, recipe := range []string{
		"of local conversion", "that ended", "that led to a secret", "of this machine", "too large", "local",
	} {
		if got, _ := b.rendered(recipe, false); got != "" {
			t.Errorf("a rendition %s was shared", recipe)
		}
	}

	for what, end := range map[string]func(){
		"a purge of its URL": func() { _, _ = b.store.DeleteResponses(renderedURL) },
		"a purge of all":     func() { _, _ = b.store.ClearResponses() },
		"a deletion of its page": func() {
			b.read(renderedURL, "# Page", 0)
			await(t, renderedURL, "# Page", a)
			if err := b.store.DeletePage(page.KeyOf(renderedURL)); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Log("after " + what)
		a.tell(rendition("one", "# First"))
		a.getsRendition("one", "# First")
		end()
		a.getsRendition("one", "")
		a.tell(rendition("one", "# Second"))
		b.getsRendition("one", "# Second")
		_, _ = b.store.DeleteResponses(renderedURL)
		b.getsRendition("one", "")
	}
}

func TestANodeTakesNoRenditionThatIsNotWhatItSays(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b")
	a, b := all[0], all[1]
	edit := func(from, to string) string {
		return fmt.Sprintf(`record = convert_to(replace(convert_from(record, 'UTF8'), '%s', '%s'), 'UTF8')`, from, to)
	}
	for name, damage := range map[string]string{
		"content":     `body = '\x28b52ffd', body_length = 4`,
		"hash":        `body_hash = sha256('x')`,
		"length":      `body_length = -1`,
		"huge length": `body_length = 2147483647`,
		"no JSON":     `record = '\x00'`,
		"recipe":      edit(`"one"`, `"two"`),
		"source":      edit(`"browser"`, `"local"`),
		"for ever":    edit(`"Expires":"20`, `"Expires":"21`),
		"address":     edit("https://a.test", "http://127.0.0.1"),
	} {
		a.tell(rendition("one", "# "+name))
		b.getsRendition("one", "# "+name)
		before := b.Status().Refused
		server.Exec("UPDATE readthru.renditions SET " + damage)
		if got, _ := b.rendered("one", false); got != "" || b.Status().Refused != before+1 {
			t.Errorf("%s: the node takes %q, and refused %d", name, got, b.Status().Refused-before)
		}
	}
}

func TestOneNodeMakesARendition(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	all := nodes(t, server.URL, "a", "b", "c")
	var mu sync.Mutex
	made := 0
	var group sync.WaitGroup
	for _, n := range all {
		for range 10 {
			group.Go(func() {
				got, _ := n.rendered("one", true)
				if got == "" {
					mu.Lock()
					made++
					mu.Unlock()
					n.tell(rendition("one", "# Made"))
				} else if got != "# Made" {
					t.Errorf("a node gets %q", got)
				}
			})
		}
	}
	group.Wait()
	if made != 1 {
		t.Errorf("it was made %d times", made)
	}

	// Where one could not make it, others try at once, and all together.
	_, done := all[0].rendered("two", true)
	waited := make(chan string)
	go func() {
		got, done := all[1].rendered("two", true)
		done()
		waited <- got
	}()
	eventually.True(t, "another one waits", func() bool { return all[1].Status().Waited > 0 })
	done()
	if got := <-waited; got != "" {
		t.Errorf("a node got %q, which nobody made", got)
	}
	// And a node that makes none keeps nobody waiting.
	if got, _ := all[2].rendered("three", false); got != "" {
		t.Errorf("got %q", got)
	}
	if n := server.Count("flights WHERE until > now() + interval '2 seconds' AND NOT alone"); n != 0 {
		t.Errorf("%d nodes are still at it", n)
	}
}

func TestWithoutTheDatabaseANodeMakesRenditionsItself(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	n := nodes(t, server.URL, "a")[0]
	server.Kill()
	n.awaitState(fleet.Disconnected)
	n.tell(rendition("one", "# Alone"))
	if got, done := n.rendered("one", true); got != "" {
		t.Errorf("got %q", got)
	} else {
		done()
	}
}

func TestLargeRenditionsAreInTheBucket(t *testing.T) {
	t.Parallel()
	server, bucket := fleettest.Start(t), fleettest.StartBucket(t)
	all := shared(t, server, bucket, "a", "b")
	all[0].tell(rendition("one", large("Rendition")))
	all[1].getsRendition("one", large("Rendition"))
	if n := server.Count("renditions WHERE body IS NULL"); n != 1 {
		t.Errorf("%d renditions are in the object store", n)
	}
}
