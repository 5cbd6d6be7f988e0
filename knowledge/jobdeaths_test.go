package knowledge_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Environment variables that make the test binary live a life until it is killed: in which directory, which life, and
// before which of its writes.
const (
	lifeDir   = "READTHRU_KNOWLEDGE_TEST_LIFE"
	lifeName  = lifeDir + "_NAME"
	lifePoint = lifeDir + "_POINT"
)

// worker is a process that lives a life.
type worker struct {
	*opened
	ctx context.Context //nolint:containedctx // of the process that may die

	mu    sync.Mutex
	fails string // the work that panics
	times int    // how often; negative: always
	seen  int    // points so far
	until int    // the points that it survives; negative: all
	die   func()
	dead  bool
}

// acknowledging is the work of telling somebody that what was asked for is stored, or done.
const acknowledging = "acknowledge"

// points are where a process may die: before each write to the disk and before each acknowledgement. It writes nothing
// between two of them, so that to die before one is also to die after the last.
var points = map[string]bool{
	"store: commit": true, "store: commit records": true, "fault: note what is being done": true, acknowledging: true,
}

// late is for how many turns of other goroutines the last write of the store's queue waits.
const late = 10_000

// begin is called for each work that begins.
func (w *worker) begin(work string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if points[work] {
		w.seen++
		if work == "store: commit" && w.seen == w.until+1 { // what the queue holds is late: other things go on meanwhile
			w.until = -1
			w.mu.Unlock()
			for range late {
				runtime.Gosched()
			}
			w.mu.Lock()
			w.until = 0
		}
		if w.dead = w.dead || w.until >= 0 && w.seen > w.until; w.dead {
			w.die()
			panic("dead")
		}
	}
	if work == w.fails && w.times != 0 {
		w.times--
		panic("injected")
	}
}

func (w *worker) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// failing has work panic, some times or always.
func (w *worker) failing(work string, times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails, w.times = work, times
}

// live does acts, and calls told with the number of parts that it is told of: two of each act.
func (w *worker) live(acts []act, told func(parts int)) error {
	for i, a := range acts {
		w.failing(a.fails, a.times)
		err := a.ask(w)
		if err == nil {
			err = w.store.Flush()
		}
		if err == nil {
			err = fault.Catch(acknowledging, func() error { told(2*i + 1); return nil })
		}
		if err == nil {
			err = w.Drain(w.ctx)
		}
		if err == nil {
			err = w.store.Flush()
		}
		w.failing("", 0)
		if err == nil {
			err = fault.Catch(acknowledging, func() error { told(2*i + 2); return nil })
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// liveUntilKilled lives the life that the environment names, and kills its process.
func liveUntilKilled(dir string) {
	until, _ := strconv.Atoi(os.Getenv(lifePoint))
	lives := lives()
	i := slices.IndexFunc(lives, func(l life) bool { return l.name == os.Getenv(lifeName) })
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil || i < 0 {
		fmt.Println("error", i, err)
		os.Exit(1)
	}
	journal, err := fault.OpenJournal(dir, time.Now())
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	k, err := knowledge.Open(knowledge.Options{Store: s, Journal: journal})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	w := &worker{opened: &opened{k, s}, ctx: context.Background(), until: until, die: killMyself}
	fault.Inject(w.begin)
	if err := w.live(lives[i].acts, func(parts int) { fmt.Println("told", parts) }); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("end")
	killMyself()
}

// killMyself kills the process: nothing of it runs any more.
func killMyself() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// expected is what is there after each act of a life, nobody having died.
type expected struct {
	life
	worlds []map[string]string // one more than acts
	points int                 // where it may die
}

// template makes the directory that lives begin with, and what is there after each of their acts.
func template(t *testing.T, list []life) (dir string, all []expected) {
	t.Helper()
	dir = t.TempDir()
	k := open(t, dir, knowledge.Options{})
	w := &worker{opened: k, ctx: t.Context(), until: -1}
	if err := w.live(populate, func(int) {}); err != nil {
		t.Fatal(err)
	}
	k.shut(t)
	for _, l := range list {
		k := open(t, copied(t, dir), knowledge.Options{})
		w := &worker{opened: k, ctx: t.Context(), until: -1}
		fault.Inject(w.begin)
		e := expected{life: l, worlds: []map[string]string{w.world(t)}}
		for _, a := range l.acts {
			if err := w.live([]act{a}, func(int) {}); err != nil {
				t.Fatal(err)
			}
			e.worlds = append(e.worlds, w.world(t))
			w.checkFound(t, a.unfound)
		}
		fault.Inject(nil)
		e.points = w.seen
		k.shut(t)
		all = append(all, e)
	}
	return dir, all
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

const asideKey = "set aside: "

func isAside(key, _ string) bool { return strings.HasPrefix(key, asideKey) }

// world returns what is there: a value for each thing. Those that are set aside have keys that begin with asideKey.
func (w *worker) world(t *testing.T) map[string]string {
	t.Helper()
	world := map[string]string{}
	for _, key := range w.store.PageKeys(page.Key{}, 1000) {
		p, err := w.store.Page(key)
		if err != nil {
			t.Fatal(err)
		}
		text, err := w.store.Markdown(key)
		versions, verr := w.store.Versions(key)
		if err != nil || verr != nil {
			t.Fatalf("%s: %v, %v", p.URL, err, verr)
		}
		world["page "+p.NormalizedURL] = fmt.Sprintf("%s\n%v, %d versions\n%s", p.Title, p.Error.Gone(), len(versions), text)
	}
	for _, name := range []string{pageD, pageE} {
		if of := w.store.Named(page.KeyOf(name)); of != (page.Key{}) {
			world["name "+name] = of.Doc()
		}
	}
	for _, b := range w.Bases() {
		list, _, err := w.Documents(b.Name, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		var documents []string
		for i := range list {
			d, err := w.Document(list[i].Key)
			if err != nil {
				t.Fatalf("base %s: %v", b.Name, err)
			}
			documents = append(documents, d.URL+"\n"+string(d.Markdown))
		}
		slices.Sort(documents)
		world["base "+b.Name] = strings.Join(documents, "\n")
	}
	if d, err := w.Ingested("label", textA); err == nil {
		world["text "+textA] = string(d.Markdown)
	}
	notes, _, err := w.Notes(knowledge.NoteQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range notes {
		key := "note " + notes[i].Text
		if _, twice := world[key]; twice {
			key += " (again)"
		}
		world[key] = "there"
	}
	for _, url := range []string{pageA, pageB} {
		if list, err := w.store.Responses(url); err == nil && len(list) > 0 {
			world["response "+url] = strconv.Itoa(len(list))
		}
	}
	for _, j := range w.Jobs() {
		world[asideKey+cmp.Or(j.URL, j.ID)] = fmt.Sprintf("%s after %d attempts", j.State, j.Attempts)
	}
	return world
}

// checkFound compares what each word finds, everywhere and in each base, with a look at all that is stored. What was
// set aside, and unfound, may be found or not.
func (w *worker) checkFound(t *testing.T, unfound string) {
	t.Helper()
	open := map[string]bool{unfound: true}
	for _, j := range w.Jobs() {
		if open[j.URL] = true; j.URL == "" { // a page that was deleted, and is in the index
			open[pageA] = true
		}
	}
	for _, b := range w.Bases() {
		if b.Building { // some of them are found, as no part of the base
			open[fileA], open[fileB] = true, true
		}
	}
	documents := map[string]map[string]string{"": {}} // texts by base, and by URL
	add := func(base, url, text string) {
		if documents[base] == nil {
			documents[base] = map[string]string{}
		}
		documents[base][url] += text
		documents[""][url] += text
	}
	for _, key := range w.store.PageKeys(page.Key{}, 1000) {
		p, err := w.store.Page(key)
		text, terr := w.store.Markdown(key)
		if err != nil || terr != nil {
			t.Fatalf("%v, %v", err, terr)
		}
		if p.Findable() {
			add("", p.NormalizedURL, p.NormalizedURL+p.Title+string(text))
		}
	}
	for _, b := range w.Bases() {
		documents[b.Name] = map[string]string{}
		list, _, err := w.Documents(b.Name, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			d, err := w.Document(list[i].Key)
			if err != nil {
				t.Fatal(err)
			}
			if p, err := w.store.Page(list[i].Key); err != nil || p.Findable() {
				add(b.Name, d.URL, d.URL+d.Title+string(d.Markdown))
			}
		}
	}
	if d, err := w.Ingested("label", textA); err == nil {
		add("", textA, textA+string(d.Markdown))
	}
	notes, _, err := w.Notes(knowledge.NoteQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range notes {
		add("", "note:"+notes[i].ID, notes[i].Text)
	}
	for base, texts := range documents {
		words := vocabulary
		if base != "" {
			words = []string{"velcro"} // which all have
		}
		for _, word := range words {
			var want []string
			for url, text := range texts {
				if strings.Contains(strings.ToLower(text), word) {
					want = append(want, url)
				}
			}
			maybe := func(url string) bool { return open[url] }
			want = slices.DeleteFunc(want, maybe)
			slices.Sort(want)
			got := slices.Compact(slices.DeleteFunc(w.find(t, base, word), maybe))
			if !slices.Equal(got, want) {
				t.Errorf("%q in base %q: found %q, want %q", word, base, got, want)
			}
		}
	}
	if n := w.Stats().Queued; n != 0 {
		t.Errorf("%d jobs are queued", n)
	}
}

// checkAfterDeath checks what is there after a process died that was told of parts of its acts: what it was told of is
// done, and what it was doing is done or not. What is found is all that is there.
func (e *expected) checkAfterDeath(t *testing.T, w *worker, told int) {
	t.Helper()
	doing := min(told/2, len(e.acts)-1)
	before, after, is := e.worlds[doing], e.worlds[doing+1], w.world(t)
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	maps.Copy(keys, is)
	for _, b := range w.Bases() {
		if b.Building && b.Generation == 0 { // until it has been filled once, it shows what it has
			delete(keys, "base "+b.Name)
		}
	}
	for key := range keys {
		asked := told%2 == 1 || told == 2*len(e.acts)
		if isAside(key, "") {
			asked = false
			if is[key] == "" { // it was tried again: then it is found
				continue
			}
		}
		if is[key] != after[key] && (asked || is[key] != before[key]) {
			t.Errorf("%s: %q; before it was asked %q, afterwards %q; asked for certain: %v", key, is[key], before[key],
				after[key], asked)
		}
	}
	unfound := e.acts[doing].unfound
	if doing > 0 {
		unfound = cmp.Or(unfound, e.acts[doing-1].unfound)
	}
	w.checkFound(t, unfound)
}

// checkRest lives the rest of a life, and compares what is there with what would be without a death, and with an index
// that is made anew.
func (e *expected) checkRest(t *testing.T, w *worker, told int) {
	t.Helper()
	for i := told / 2; i < len(e.acts); i++ {
		if err := w.live(e.acts[i:i+1], func(int) {}); err != nil {
			t.Fatal(err)
		}
		is, want := w.world(t), maps.Clone(e.worlds[i+1])
		if i < len(e.acts)-1 { // what was to fail may have been done before
			maps.DeleteFunc(is, isAside)
			maps.DeleteFunc(want, isAside)
		}
		if diff := gocmp.Diff(want, is); diff != "" {
			t.Errorf("after all, when it %s (-nobody died +got):\n%s", e.acts[i].name, diff)
		}
	}
	w.checkFound(t, "")
	for _, b := range w.Bases() {
		if b.Building {
			t.Errorf("base %s is being filled", b.Name)
		}
	}
	if left := w.keys("k/q/", "k/qf/", "k/dw/", "k/mg/"); len(left) > 0 {
		t.Errorf("records left: %v", left)
	}
	before := w.counts()
	if err := w.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	after := w.counts()
	after.Passages = before.Passages // which follows from who had a shared one first
	if diff := gocmp.Diff(after, before); diff != "" {
		t.Errorf("stats differ from those of a rebuilt index (-rebuilt +got):\n%s", diff)
	}
	w.checkFound(t, "")
}

// everyPoint reports whether processes die at each point, or at some. make sequences has them die at each.
func everyPoint() bool { return os.Getenv(sequencesFor) != "" }

// dieEvery and killEvery are at which points of a life processes die, and are killed, unless they do at each; dieSeldom
// is for short runs. All lives together have about six hundred.
const (
	dieEvery  = 29
	killEvery = 61
	dieSeldom = 61
)

// A process that dies at any write of the life of a job, whether that goes well, fails and is tried again, or is set
// aside, retried and dropped, loses nothing that somebody was told of, and leaves a queue that goes on: at the end all
// is as if nobody had died. So does one that is killed, which is a process of its own.
func TestAProcessThatDiesAtAnyWriteOfAJobLosesNothing(t *testing.T) {
	dir, all := template(t, lives())
	type once func(e *expected, t *testing.T, dir string, until int) (told int, last bool)
	die := func(kind string, every int, once once) {
		points, deaths, from := 0, 0, 0
		for i := range all {
			e := &all[i]
			points += e.points
			t.Run(kind+"/"+e.name, func(t *testing.T) {
				for last := false; !last && (everyPoint() || from < e.points) && !t.Failed(); from += every {
					dir := copied(t, dir)
					var told int
					told, last = once(e, t, dir, from)
					deaths++
					e.checkNext(t, dir, told)
					if t.Failed() {
						t.Logf("it died before point %d, told of %d parts", from, told)
					}
				}
			})
			if from -= e.points; everyPoint() {
				from = 0
			}
		}
		t.Logf("%d points, %d processes %s", points, deaths, kind)
	}
	if everyPoint() {
		die("died", 1, (*expected).die)
		die("were killed", 1, (*expected).kill)
		return
	}
	if needs.Brief() {
		die("died", dieSeldom, (*expected).die)
		return
	}
	die("died", dieEvery, (*expected).die)
	die("were killed", killEvery, (*expected).kill)
}

// die lives a life in a process that dies after some points, or after the last. It returns what that was told of, and
// whether there was no other point.
func (e *expected) die(t *testing.T, dir string, until int) (told int, last bool) {
	t.Helper()
	ctx, die := context.WithCancel(t.Context())
	defer die()
	w := &worker{opened: open(t, dir, knowledge.Options{}), ctx: ctx, until: until, die: die}
	fault.Inject(w.begin)
	defer fault.Inject(nil)
	err := w.live(e.acts, func(parts int) { told = parts })
	if last = !w.isDead(); last && err != nil {
		t.Fatal(err)
	}
	w.shutDead()
	e.dieAgain(t, dir, until%8)
	return told, last
}

// shutDead closes what a dead process had open: what it cannot write is lost.
func (w *worker) shutDead() {
	w.mu.Lock()
	w.until = 0
	w.mu.Unlock()
	if w.Knowledge != nil {
		_ = w.Close()
	}
	_ = w.store.Close()
	w.store = nil
}

// dieAgain has the next process die, too, after some points of what it does by itself, if it has so many.
func (e *expected) dieAgain(t *testing.T, dir string, until int) {
	t.Helper()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, die := context.WithCancel(t.Context())
	defer die()
	w := &worker{opened: &opened{nil, s}, ctx: ctx, until: until, die: die}
	fault.Inject(w.begin)
	defer fault.Inject(nil)
	if w.Knowledge, err = knowledge.Open(knowledge.Options{Store: s}); err == nil {
		err = w.Drain(ctx)
	}
	if err != nil && !w.isDead() {
		t.Fatal(err)
	}
	w.shutDead()
}

// kill has a process live a life, and kill itself after some points, or at the end. It returns what that was told of,
// and whether there was no other point.
func (e *expected) kill(t *testing.T, dir string, until int) (told int, last bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), lifeDir+"="+dir, lifeName+"="+e.name, lifePoint+"="+strconv.Itoa(until))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		t.Fatalf("the process was not killed: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		parts, ok := strings.CutPrefix(line, "told ")
		if last = line == "end"; !ok && !last {
			t.Fatalf("the process says %s", line)
		}
		if ok {
			told, _ = strconv.Atoi(parts)
		}
	}
	return told, last
}

// checkNext checks what the process after one that died does.
func (e *expected) checkNext(t *testing.T, dir string, told int) {
	t.Helper()
	journal, err := fault.OpenJournal(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{opened: open(t, dir, knowledge.Options{Journal: journal}), ctx: t.Context(), until: -1}
	fault.Inject(w.begin)
	defer fault.Inject(nil)
	w.drain(t)
	e.checkAfterDeath(t, w, told)
	e.checkRest(t, w, told)
	w.shut(t)
	if err := journal.Close(); err != nil {
		t.Error(err)
	}
}
