package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
)

// Bar shows the progress of some work: on a terminal a line that is redrawn, elsewhere a line every few seconds.
type Bar struct {
	w     io.Writer
	live  bool
	began time.Time
	last  time.Time
	part  float64 // of the work, as drawn: it never shrinks, though the total of a crawl grows
	drawn bool
}

// NewBar returns a bar on w.
func NewBar(w io.Writer) *Bar { return &Bar{w: Unfiltered(w), live: Is(w), began: time.Now()} }

// left says how long the rest of the work takes at the speed so far, or nothing as long as that is a guess.
func (b *Bar) left(now time.Time) string {
	spent := now.Sub(b.began)
	if spent < 3*time.Second || b.part < .02 || b.part >= 1 {
		return ""
	}
	rest := time.Duration(float64(spent) * (1 - b.part) / b.part)
	return "about " + rest.Round(time.Second).String() + " left "
}

// lineEvery is how often a line is written without a terminal.
const lineEvery = 5 * time.Second

// Draw shows that i of total items are done (0: unknown), and the present item.
func (b *Bar) Draw(i, total int, what string) {
	if i == 0 && what == "" {
		return
	}
	of := fmt.Sprint(i)
	if i == 0 {
		of = ""
	}
	now := time.Now()
	left := ""
	if total > 0 {
		of = fmt.Sprintf("%d/%d", i, total)
		b.part = max(b.part, float64(min(i, total))/float64(total))
		left = b.left(now)
	}
	if !b.live {
		if now.Sub(b.last) >= lineEvery {
			b.last = now
			//nolint:errcheck // there is no other place to report it
			fmt.Fprintf(b.w, "readthru: %s\n", strings.TrimSpace(of+" "+left+Printable(what)))
		}
		return
	}
	width := 80
	if w := terminalWidth(b.w); w > 20 {
		width = w
	}
	line := strings.TrimLeft(of+" "+left, " ")
	if total > 0 {
		full := int(20 * b.part)
		line = "[" + strings.Repeat("#", full) + strings.Repeat(".", 20-full) + "] " + line
	}
	line += Printable(strings.ReplaceAll(what, "\n", " "))
	line = Cut(line, width-1)
	fmt.Fprintf(b.w, "\r\x1b[K%s", line) //nolint:errcheck // as above
	b.drawn = true
}

// A wait tells what is waited for: on a terminal after a second, elsewhere after some.
type wait struct {
	bar   *Bar
	first time.Duration
}

// NewWait returns what shows on w that something is awaited.
func NewWait(w io.Writer) *wait {
	b := NewBar(w)
	if b.live {
		return &wait{b, time.Second}
	}
	return &wait{b, lineEvery}
}

// Await returns what comes of urls[i]. Meanwhile it tells of the wait.
func Await[T any](w *wait, ch <-chan T, i int, urls []string) T {
	defer w.bar.Clear()
	tick := time.NewTicker(w.first)
	defer tick.Stop()
	for {
		select {
		case got := <-ch:
			return got
		case <-tick.C:
			total := len(urls)
			if total == 1 {
				total = 0 // a bar would say nothing
			}
			w.bar.Draw(i, total, fmt.Sprintf("%s: waiting for %s", page.MaskString(urls[i]),
				time.Since(w.bar.began).Round(time.Second)))
		}
	}
}

// Clear removes the bar.
func (b *Bar) Clear() {
	if b.drawn {
		fmt.Fprint(b.w, "\r\x1b[K") //nolint:errcheck // as above
	}
}

// Counted counts what passes, and shows it.
type Counted struct {
	To    io.Writer
	Bytes int64 // that passed
	Bar   *Bar
	what  string
}

// NewCounted returns what counts in a bar on std; what says what was done with the bytes.
func NewCounted(std Streams, what string) *Counted {
	return &Counted{To: io.Discard, Bar: NewBar(std.Err), what: what}
}

// Write implements [io.Writer].
func (c *Counted) Write(b []byte) (int, error) {
	n, err := c.To.Write(b)
	c.Bytes += int64(n)
	if c.Bar.last.IsZero() {
		c.Bar.last = time.Now() // the first bytes say nothing of the whole: the first line has time
	}
	c.Bar.Draw(0, 0, Bytes(c.Bytes)+" "+c.what)
	return n, err
}

// FileWritten is a file that a command wrote.
type FileWritten struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}
