package cache

import (
	"strings"
	"time"
)

// parseDate parses an HTTP-date in any of its three forms (RFC 9110 §5.6.7). Unlike [http.ParseTime] it takes letters
// in either case and nothing else that the grammar lacks: no second space, no one-digit hour, no zone but GMT. A
// two-digit year that lies more than 50 years after now means the century before.
func parseDate(s string, now time.Time) (t time.Time, ok bool) {
	switch {
	case len(s) == len("Sun, 06 Nov 1994 08:49:37 GMT") && s[3] == ',':
		return fixDate(s)
	case len(s) == len("Sun Nov  6 08:49:37 1994") && s[3] == ' ':
		return asctimeDate(s)
	default:
		return rfc850Date(s, now)
	}
}

// fixDate parses "Sun, 06 Nov 1994 08:49:37 GMT".
func fixDate(s string) (time.Time, bool) {
	if !shaped(s[3:], ", 00 aaa 0000 00:00:00 aaa") || !isDay(s[:3], 3) || !strings.EqualFold(s[26:], "GMT") {
		return time.Time{}, false
	}
	return date(number(s[12:16]), s[8:11], number(s[5:7]), s[17:25])
}

// asctimeDate parses "Sun Nov  6 08:49:37 1994".
func asctimeDate(s string) (time.Time, bool) {
	day := s[8:10]
	if day[0] == ' ' {
		day = "0" + day[1:]
	}
	if !shaped(s[3:8]+day+s[10:], " aaa 00 00:00:00 0000") || !isDay(s[:3], 3) {
		return time.Time{}, false
	}
	return date(number(s[20:]), s[4:7], number(day), s[11:19])
}

// rfc850Date parses "Sunday, 06-Nov-94 08:49:37 GMT".
func rfc850Date(s string, now time.Time) (time.Time, bool) {
	day, rest, ok := strings.Cut(s, ",")
	if !ok || !isDay(day, 0) || !shaped(rest, " 00-aaa-00 00:00:00 aaa") || !strings.EqualFold(rest[20:], "GMT") {
		return time.Time{}, false
	}
	year := now.Year() - now.Year()%100 + number(rest[8:10])
	t, ok := date(year, rest[4:7], number(rest[1:3]), rest[11:19])
	if ok && t.After(now.AddDate(50, 0, 0)) {
		t, ok = date(year-100, rest[4:7], number(rest[1:3]), rest[11:19])
	}
	return t, ok
}

// date returns the time with these parts of an HTTP-date; clock is "08:49:37". It rejects days that the month does not
// have.
func date(year int, month string, day int, clock string) (time.Time, bool) {
	m := time.Month(0)
	for i := time.January; i <= time.December; i++ {
		if strings.EqualFold(i.String()[:3], month) {
			m = i
		}
	}
	hour, minute, second := number(clock[:2]), number(clock[3:5]), number(clock[6:])
	if m == 0 || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	t := time.Date(year, m, day, hour, minute, 0, 0, time.UTC)
	if t.Day() != day {
		return time.Time{}, false
	}
	return t.Add(time.Duration(second) * time.Second), true // second 60 is a leap second
}

// isDay reports whether s is the name of a weekday in either case, cut to n letters if n is not 0, in an HTTP-date.
// Whether it is that of the date does not matter.
func isDay(s string, n int) bool {
	for d := time.Sunday; d <= time.Saturday; d++ {
		name := d.String()
		if n > 0 {
			name = name[:n]
		}
		if strings.EqualFold(name, s) {
			return true
		}
	}
	return false
}

// shaped reports whether a part of an HTTP-date has a digit where shape has 0, a letter where it has a, and shape's own
// bytes elsewhere.
func shaped(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(shape) {
		c := s[i]
		switch shape[i] {
		case '0':
			if c < '0' || c > '9' {
				return false
			}
		case 'a':
			if c|0x20 < 'a' || c|0x20 > 'z' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	return true
}

// number returns the value of a few digits of an HTTP-date.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n
}
