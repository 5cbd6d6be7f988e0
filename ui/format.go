package ui

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	"github.com/readthru/readthru/internal/clip"
)

// functions are what the templates of the dashboard call. Times are shown in the zone of the machine, except in
// attributes for scripts.
var functions = template.FuncMap{
	"bytes": bytesText, "count": countText, "some": someText,
	"day":    func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
	"value":  valueText,
	"date":   func(t time.Time) string { return t.Format(time.DateOnly) },
	"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"took":   func(micros int64) string { return tookText(time.Duration(micros) * time.Microsecond) },
	"uptime": uptimeText, "saved": savedText, "plain": func(text any) string { return plain(fmt.Sprint(text)) },
	"millis": millisText, "until": untilText, "titles": titles, "why": whyText, "words": wordsOf,
	"parts": partsOfURL, "brief": brief, "short": shortTime, "left": leftText, "host": hostText,
	"lines": func(text string) string { return string(withoutControls([]byte(text))) },
	"plus":  func(a, b int) int { return a + b }, "minus": func(a, b int) int { return a - b },
	"wide":    func(n int) int64 { return int64(n) },
	"cut":     func(text string, n int) string { return text[:min(n, len(text))] },
	"percent": func(part float64) string { return strconv.Itoa(int(part*100+.5)) + "\u00a0%" },
	"agent":   agentFilter, "sessions": sessionsText,
	"class": func(status int) string { return strconv.Itoa(status / 100) }, // the digit that it begins with
}

// bytesText writes a size with its unit, in powers of 1024.
func bytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// countText writes a number with narrow spaces that do not break between groups of three digits.
func countText(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// someText writes how many there are of what an English word names, whose plural ends in s.
func someText(n int64, word string) string {
	if n != 1 {
		word += "s"
	}
	return countText(n) + " " + word
}

// tookText writes how long something took, with two or three digits that matter.
func tookText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// millisText writes a time in milliseconds, for a column that has but one unit.
func millisText(micros int64) string {
	switch ms := float64(micros) / 1000; {
	case ms < 1:
		return strconv.FormatFloat(ms, 'f', 2, 64)
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return countText((micros + 500) / 1000)
}

// untilText returns the time until which a connection was tunnelled, of what was told of it; empty if it has no end.
func untilText(told string) string {
	_, end, _ := strings.Cut(told, `until="`)
	t, err := time.Parse(time.RFC3339, strings.TrimSuffix(end, `"`))
	if err != nil {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// whyText writes why a host is treated as it is, from the word of the proxy and what follows it: preset;
// category="chat".
func whyText(why string) string {
	word, rest, _ := strings.Cut(why, ";")
	switch word {
	case "rule":
		return "a rule"
	case "preset":
		_, category, _ := strings.Cut(rest, "=")
		return strings.TrimSpace("built-in list, " + strings.Trim(category, `"`))
	case "client-rejected-ca":
		return "the client rejected our certificate"
	}
	return why
}

// wordsOf writes the id of an operation, such as addUser, in words.
func wordsOf(id string) string {
	var b strings.Builder
	for i, r := range id {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(id[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// titles reports whether a subject of a note is only how its text begins, which stands above it.
func titles(subject, text string) bool {
	return strings.HasPrefix(text, subject) && (len(text) == len(subject) || len(subject) >= 60)
}

// uptimeText writes a number of seconds in the two largest units. It cuts off, where rounding would say 60 min.
func uptimeText(s int64) string {
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
}

// shortTime writes the time of today, and the day of what is older, for narrow columns of lists.
func shortTime(t time.Time) string {
	t, now := t.Local(), time.Now()
	if y, m, d := now.Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02")
}

// hostText returns the host of a URL, with its port; empty if it has none. It names a link without a text.
func hostText(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// urlParts are the parts of a URL as a list shows it, where the path is cut in the middle by CSS if there is too little
// room. Host and End are always seen.
type urlParts struct{ Host, Path, End string }

// pathEnd is how many characters of the end of a path are seen in any case: pages of one folder differ there.
const pathEnd = 10

// partsOfURL cuts a URL, or the target of a CONNECT, into parts. The scheme is left out where it is https.
func partsOfURL(raw string) urlParts {
	text := plain(raw)
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "https", text
	}
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		at = len(rest)
	}
	p := urlParts{Host: rest[:at]}
	if scheme != "https" {
		p.Host = scheme + "://" + p.Host
	}
	path := []rune(rest[at:])
	end := max(0, len(path)-pathEnd)
	p.Host, p.Path, p.End = brief(p.Host), brief(string(path[:end])), string(path[end:])
	return p
}

// longestInList is how many characters of a text a list shows. The page of what is listed shows all of it.
const longestInList = 300

// brief returns a text for a row of a list, without characters that control layout, cut off if it is long.
func brief(text string) string { return clip.Ellipsis(plain(text), longestInList) }
