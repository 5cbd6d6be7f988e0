package repeat_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/readthru/readthru/proxy/repeat"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// answer returns an answer to a request for a page, a second old and fresh for a minute.
func answer(request, page, body string, records ...string) *repeat.Answer {
	a := &repeat.Answer{
		Scope: "1", Request: []byte(request), Page: page, Records: records, At: start, Until: start.Add(time.Minute),
		Age: time.Second, TTL: time.Minute, Body: []byte(body),
		Head: []byte("HTTP/1.1 200 OK\r\nAge: 1\r\nCache-Status: cdn; hit; ttl=5\r\n" +
			"Cache-Status: readthru; hit; ttl=60; detail=rendition\r\nDate: x\r\n\r\n"),
	}
	a.Cut()
	return a
}

func found(table *repeat.Table, scope, request string, now time.Time) bool {
	a, _ := table.Find(scope, []byte(request), now)
	return a != nil
}

func TestAgeAndLifetimeAreThoseOfNow(t *testing.T) {
	a := answer("r", "p", "b")
	if !a.Cut() {
		t.Fatal("the head states neither age nor lifetime")
	}
	got := string(a.AppendHead(nil, start.Add(10500*time.Millisecond)))
	want := "HTTP/1.1 200 OK\r\nAge: 11\r\nCache-Status: cdn; hit; ttl=5\r\n" +
		"Cache-Status: readthru; hit; ttl=49; detail=rendition\r\nDate: x\r\n\r\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nAge: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nAge: 7\r\nCache-Status: readthru; hit; ttl=60\r\n\r\n",
		"HTTP/1.1 200 OK\r\nAge: 1\r\nCache-Status: readthru; hit; ttl=6\r\n\r\n",
	} {
		a.Head = []byte(head)
		if a.Cut() {
			t.Errorf("%q states age and lifetime as told", head)
		}
	}
}

func TestAnswerIsFoundByScopeAndExactHeadWhileItIsFresh(t *testing.T) {
	for _, tt := range []struct {
		name, scope, request string
		after                time.Duration
		found                bool
	}{
		{"the same", "1", "GET /", 0, true},
		{"the same in the last moment", "1", "GET /", time.Minute - 1, true},
		{"in another scope", "2", "GET /", 0, false},
		{"another head", "1", "GET /x", 0, false},
		{"a part of the head", "1", "GET ", 0, false},
		{"no longer fresh", "1", "GET /", time.Minute, false},
		{"the clock was set back", "1", "GET /", -time.Nanosecond, false},
	} {
		table := repeat.New(1<<20, nil)
		table.Add(answer("GET /", "p", "b"), table.Mark())
		now := start.Add(tt.after)
		if got := found(table, tt.scope, tt.request, now); got != tt.found {
			t.Errorf("%s: found %v, want %v", tt.name, got, tt.found)
		}
		if tt.after != 0 && !tt.found && found(table, "1", "GET /", start) {
			t.Errorf("%s: it came back", tt.name)
		}
	}
}

func TestAnswersGoWithWhatTheyWereMadeOf(t *testing.T) {
	table := repeat.New(1<<20, nil)
	add := func(since repeat.Mark) bool { return table.Add(answer("GET /", "p", "b", "uri", "host"), since) }
	find := func() bool { return found(table, "1", "GET /", start) }
	for _, record := range []string{"uri", "host"} {
		if !add(table.Mark()) || !find() {
			t.Fatal("not kept")
		}
		if table.Changed("other"); !find() {
			t.Error("gone with another record")
		}
		if table.Changed(record); find() {
			t.Errorf("kept although %s changed", record)
		}
		before := table.Mark()
		table.Changed("other")
		if !add(before) {
			t.Error("not kept, although nothing changed that it was made of")
		}
		table.Changed(record)
		if add(before) {
			t.Errorf("kept although %s changed while it was decided", record)
		}
	}
	before := table.Mark()
	if table.Clear(); add(before) {
		t.Error("kept although all were dropped while it was decided")
	}
	before = table.Mark()
	for n := range 300 {
		table.Changed(fmt.Sprint(n))
	}
	if add(before) {
		t.Error("kept although it is not known what changed while it was decided")
	}
	add(table.Mark())
	if table.Clear(); find() {
		t.Error("kept although all were dropped")
	}
	if s := table.Stats(); s.Answers != 0 || s.Bytes != 0 {
		t.Errorf("an empty table: %+v", s)
	}
}

func TestMemoryIsBoundedAndCounted(t *testing.T) {
	const max = 1 << 20
	table := repeat.New(max, nil)
	body := strings.Repeat("x", 10_000)
	for n := range 5000 {
		table.Add(answer(fmt.Sprint("GET ", n), fmt.Sprint("page ", n), body), table.Mark())
		if s := table.Stats(); s.Bytes > max {
			t.Fatalf("%d bytes, want at most %d", s.Bytes, max)
		}
	}
	if s := table.Stats(); s.Answers < 50 || s.Answers > 105 {
		t.Errorf("%d answers of 10 KB in 1 MiB", s.Answers)
	}
	if table.Add(answer("GET big", "big", strings.Repeat("x", max/4)), table.Mark()) {
		t.Error("one answer takes a quarter of the memory")
	}
	table.Clear()
	for n := range 10_000 { // a flood of heads for one page
		table.Add(answer(fmt.Sprint("GET / ", n), "page", body), table.Mark())
	}
	if s := table.Stats(); s.Answers > 16 || s.Bytes > 50_000 {
		t.Errorf("heads for one page: %+v", s)
	}
	if !found(table, "1", "GET / 9999", start) {
		t.Error("the last head was not kept")
	}
	table.Clear()
	if s := table.Stats(); s.Bytes != 0 {
		t.Errorf("%d bytes of nothing", s.Bytes)
	}
}

func TestContentIsACopyThatAnswersOfAPageShare(t *testing.T) {
	table := repeat.New(1<<20, nil)
	a, b := answer("a", "p", "content"), answer("b", "p", "content")
	mine := a.Body
	table.Add(a, table.Mark())
	table.Add(b, table.Mark())
	copy(mine, "changed")
	_, ofA := table.Find("1", []byte("a"), start)
	_, ofB := table.Find("1", []byte("b"), start)
	if !bytes.Equal(ofB.Rest, []byte("content")) || &ofA.Rest[0] != &ofB.Rest[0] {
		t.Errorf("content %q and %q, not the same memory", ofA.Rest, ofB.Rest)
	}
}

func TestTableIsSafeForConcurrentUse(t *testing.T) {
	table := repeat.New(1<<18, nil)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for n := range 2000 {
				key := fmt.Sprint(n % 50)
				switch (n + g) % 5 {
				case 0:
					table.Add(answer(key, key, strings.Repeat(key, 1000), key), table.Mark())
				case 1:
					table.Changed(key)
				case 2:
					if n%100 == 0 {
						table.Clear()
					}
				default:
					if a, c := table.Find("1", []byte(key), start); a != nil && string(c.Rest) != strings.Repeat(key, 1000) {
						t.Errorf("%s: %.20q", key, c.Rest)
					}
				}
			}
		})
	}
	group.Wait()
	if table.Clear(); table.Stats().Bytes != 0 {
		t.Errorf("%+v", table.Stats())
	}
}

// stored is content that can be read again, as [repeat.Stored] says.
type stored struct {
	mu    sync.Mutex
	all   map[[32]byte][]byte
	reads int
}

func (s *stored) read(c repeat.Stored) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	content, ok := s.all[c.Sum]
	if !ok {
		return nil, errors.New("lost")
	}
	return content, nil
}

// readable returns an answer whose content ends with what is stored.
func (s *stored) readable(request, before, rest string, records ...string) *repeat.Answer {
	a := answer(request, request, before+rest, records...)
	a.Again = repeat.Stored{Sum: sha256.Sum256([]byte(rest)), Length: len(rest)}
	s.all[a.Again.Sum] = []byte(rest)
	return a
}

func TestContentLeavesMemoryBeforeItsAnswers(t *testing.T) {
	const max, pages = 1 << 20, 200 // 100 with their content
	s := &stored{all: map[[32]byte][]byte{}}
	table := repeat.New(max, s.read)
	rest := func(n int) string { return strings.Repeat(fmt.Sprintf("%8d", n), 1250) }
	for n := range pages {
		request := fmt.Sprint("GET ", n)
		if !table.Add(s.readable(request, fmt.Sprint("---", n), rest(n), "r"), table.Mark()) {
			t.Fatalf("%s is not kept", request)
		}
		if got := table.Stats().Bytes; got > max {
			t.Fatalf("%d bytes, want at most %d", got, max)
		}
	}
	if got := table.Stats().Answers; got != pages {
		t.Fatalf("%d answers, want %d", got, pages)
	}
	for range 2 {
		for n := range pages {
			_, c := table.Find("1", []byte(fmt.Sprint("GET ", n)), start)
			if want := fmt.Sprint("---", n) + rest(n); string(c.Before)+string(c.Rest) != want {
				t.Fatalf("page %d: %.20q and %.20q", n, c.Before, c.Rest)
			}
			if got := table.Stats().Bytes; got > max {
				t.Fatalf("%d bytes, want at most %d", got, max)
			}
		}
	}
	if s.reads == 0 {
		t.Error("no content had to be read again")
	}
	reads := s.reads
	if found(table, "1", fmt.Sprint("GET ", pages-1), start); s.reads != reads {
		t.Error("the content used last was read again")
	}
	table.Changed("r")
	if got := table.Stats(); got.Answers != 0 || got.Bytes != 0 {
		t.Errorf("after a change %+v", got)
	}
}

func TestAnswerGoesWhenItsContentIsLost(t *testing.T) {
	s := &stored{all: map[[32]byte][]byte{}}
	table := repeat.New(200_000, s.read)
	for n := range 30 { // the first loses its content to the others
		table.Add(s.readable(fmt.Sprint("GET ", n), "", fmt.Sprintf("%010000d", n)), table.Mark())
	}
	clear(s.all)
	if before := table.Stats().Answers; found(table, "1", "GET 0", start) || table.Stats().Answers != before-1 {
		t.Errorf("%d answers, %d before", table.Stats().Answers, before)
	}
}

func TestManyAnswersOfOneRecordGoTogether(t *testing.T) {
	table := repeat.New(64<<20, nil)
	for n := range 10_000 {
		key := fmt.Sprint(n)
		table.Add(answer(key, key, "b", "host", key, "host"), table.Mark())
	}
	for n := 0; n < 10_000; n += 2 {
		table.Changed(fmt.Sprint(n))
	}
	if got := table.Stats().Answers; got != 5000 {
		t.Errorf("%d answers, want 5000", got)
	}
	for n := range 10_000 {
		if got, want := found(table, "1", fmt.Sprint(n), start), n%2 == 1; got != want {
			t.Fatalf("answer %d: found %v", n, got)
		}
	}
	if table.Changed("host"); table.Stats() != (repeat.Stats{Repeated: 5000}) {
		t.Errorf("after the host's change %+v", table.Stats())
	}
}

// What is asked for often must not have to be read again because of much that is asked for once.
func TestContentAskedForOftenStaysLonger(t *testing.T) {
	const pages, length = 2000, 40_000
	text := bytes.Repeat([]byte("x"), length)
	reads := 0
	table := repeat.New(16<<20, func(repeat.Stored) ([]byte, error) {
		reads++
		return text, nil
	})
	key := func(n int) string { return fmt.Sprint("GET ", n) }
	for n := range pages {
		a := answer(key(n), key(n), string(text))
		a.Again = repeat.Stored{Sum: sha256.Sum256([]byte(key(n))), Length: length}
		if !table.Add(a, table.Mark()) {
			t.Fatalf("page %d is not kept", n)
		}
	}
	held := int(table.Stats().Bytes-pages*2300) / length // fewer, so that the one to compare with has more room
	last, _ := simplelru.NewLRU[string, bool](held, nil)
	lastUsed, asked := 0, 40_000
	r := rand.New(rand.NewPCG(1, 2))
	for range asked {
		n := int(float64(pages) * math.Pow(r.Float64(), 3)) // few of them often
		if !found(table, "1", key(n), start) {
			t.Fatalf("page %d is gone", n)
		}
		if _, ok := last.Get(key(n)); !ok {
			lastUsed++
			last.Add(key(n), true)
		}
	}
	t.Logf("%d of %d read, %d when the last used %d stay", reads, asked, lastUsed, held)
	if reads > lastUsed*95/100 {
		t.Errorf("%d of %d read, want 5 %% fewer than the %d when the last used %d stay", reads, asked, lastUsed, held)
	}
}

// Copies of answers in the making count as memory, take a part of it together, and leave room for short ones.
func TestCopiesInTheMakingAreBoundedAndCounted(t *testing.T) {
	const max = 1 << 20
	table := repeat.New(max, nil)
	for n := range 200 {
		table.Add(answer(fmt.Sprint("GET ", n), fmt.Sprint("page ", n), strings.Repeat("x", 10_000)), table.Mark())
	}
	var long, all int64
	for _, n := range []int64{max/8 + 1, max / 8, max / 8, max / 16, 1000} {
		want := n != max/8+1 && all+2*n <= max/4
		if got := table.Reserve(n); got != want {
			t.Errorf("with %d bytes reserved, %d more: %v, want %v", all, n, got, want)
		}
		if want {
			all += n
		}
		if n == max/8 && want {
			long++
		}
		if s := table.Stats(); s.Making != all || s.Bytes > max || s.Bytes < max-30_000 {
			t.Errorf("%+v, want %d bytes in the making, and at most %d together", s, all, max)
		}
	}
	if long != 1 {
		t.Errorf("%d copies of an eighth of the memory, want 1", long)
	}
	for range 10_000 { // however many
		if table.Reserve(1000) {
			all += 1000
		}
	}
	if s := table.Stats(); s.Making > max/4 || s.Making < max/5 {
		t.Errorf("%d bytes in the making, want a quarter of %d", s.Making, max)
	}
	table.Release(all)
	if s := table.Stats(); s.Making != 0 || !table.Reserve(max/8) {
		t.Errorf("%+v after all was given back", s)
	}
}
