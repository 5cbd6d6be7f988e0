package query

import (
	"strings"
	"testing"
)

func TestNamesIn(t *testing.T) {
	for query, want := range map[string]string{
		"functools.lru_cache":                 "functools.lru_cache",
		"lru_cache":                           "lru_cache",
		"reduce":                              "reduce",
		"what does `json.loads()` return":     "json.loads",
		"git rebase --onto":                   "--onto",
		"useEffect cleanup":                   "useEffect",
		"http.Agent keepAlive":                "http.Agent keepAlive",
		"AsyncLocalStorage":                   "AsyncLocalStorage",
		"std::vector::push_back":              "std.vector.push_back",
		"Array#flat_map":                      "Array.flat_map",
		"how to install PowerShell on Debian": "", // a product
		"python 3.12 release":                 "", // a number
		"wait for tasks":                      "",
		"why":                                 "why",
		"":                                    "",
		"- -- ( ) . _":                        "",
		"json.load fails when the server sends gzip and the file has a byte order mark": "", // a sentence
		"a.b c.d e.f g.h i.j": "", // a list
	} {
		names, only := namesIn(query)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("namesIn(%q) = %q, want %q", query, got, want)
		}
		if got := strings.Join(strings.Fields(query), " "); only && got != "" && len(names) != strings.Count(got, " ")+1 {
			t.Errorf("namesIn(%q) says that there are no other words", query)
		}
	}
}
