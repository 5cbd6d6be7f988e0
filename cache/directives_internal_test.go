package cache

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
)

// fields makes a header of lines "Name: value".
func fields(text string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return h
}

func TestLifetimeDirectives(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  time.Duration
	}{
		{"plain", []string{"max-age=60"}, time.Minute},
		{"in any case, §5.2", []string{"Max-AGE=60"}, time.Minute},
		{"quoted, §5.2", []string{`max-age="60"`}, time.Minute},
		{"leading zeros, §1.2.2", []string{"max-age=0060"}, time.Minute},
		{"overflow means very long, §1.2.2", []string{"max-age=99999999999999999999"}, maxDelta},
		{"the first of two on a line wins, §4.2.1", []string{"max-age=60, max-age=1"}, time.Minute},
		{"the first of two lines wins, §4.2.1", []string{"max-age=60", "max-age=1"}, time.Minute},
		{"second line", []string{"public", "max-age=60"}, time.Minute},
		{"inside a quoted string it is none", []string{`x="max-age=1, max-age=2", max-age=60`}, time.Minute},
		{"behind an escaped quote", []string{`x="a\", max-age=1", max-age=60`}, time.Minute},
		{"damaged counts as stale, §4.2.1", []string{"max-age=abc"}, 0},
		{"negative is damaged", []string{"max-age=-1"}, 0},
		{"fraction is damaged", []string{"max-age=1.5"}, 0},
		{"single quotes are damaged", []string{"max-age='60'"}, 0},
		{"without argument", []string{"max-age"}, 0},
		{"unknown directives are ignored", []string{"nothing-to-see-here"}, absent},
		{"space before = makes another name", []string{"max-age =60"}, absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseControl(tt.lines).maxAge; got != tt.want {
				t.Errorf("parseControl(%q).maxAge = %v, want %v", tt.lines, got, tt.want)
			}
		})
	}
}

func TestDamagedLeniencyAllowsNothing(t *testing.T) {
	cc := parseControl([]string{"max-stale=x, stale-if-error=-1, stale-while-revalidate="})
	if cc.maxStale != absent || cc.staleIfError != absent || cc.staleWhileRevalidate != absent {
		t.Errorf("damaged arguments gave max-stale %v, stale-if-error %v, stale-while-revalidate %v, want none", cc.maxStale,
			cc.staleIfError, cc.staleWhileRevalidate)
	}
	if cc := parseControl([]string{"max-stale"}); cc.maxStale != maxDelta {
		t.Errorf("max-stale without argument = %v, want %v", cc.maxStale, maxDelta)
	}
}

func TestQualifiedFormsNameFieldsOnly(t *testing.T) {
	cc := parseControl([]string{`no-cache="set-cookie, x-a", private=x-b`})
	if cc.noCache || cc.private {
		t.Error("qualified no-cache and private counted as the whole response")
	}
	if want := []string{"Set-Cookie", "X-A"}; !slices.Equal(cc.noCacheFields, want) {
		t.Errorf("no-cache fields = %q, want %q", cc.noCacheFields, want)
	}
	if want := []string{"X-B"}; !slices.Equal(cc.privateFields, want) {
		t.Errorf("private fields = %q, want %q", cc.privateFields, want)
	}
}

func TestPragmaCountsOnlyWithoutCacheControl(t *testing.T) {
	if !requestControl(fields("Pragma: no-cache")).noCache {
		t.Error("Pragma: no-cache alone was ignored (RFC 9111 §5.4)")
	}
	if requestControl(fields("Pragma: no-cache\nCache-Control: max-stale")).noCache {
		t.Error("Pragma counted beside Cache-Control (RFC 9111 §5.4)")
	}
}

func TestTargetedFieldTakesTheirPlace(t *testing.T) {
	p := policy{shared: true, targeted: []string{"CDN-Cache-Control"}}
	for _, tt := range []struct {
		name, fields string
		wantTargeted bool
		wantAge      time.Duration
		wantNoStore  bool
	}{
		{"well-formed", "CDN-Cache-Control: max-age=60\nCache-Control: no-store", true, time.Minute, false},
		{"unknown member", "CDN-Cache-Control: x;a=1, y=(1 \"b\"), max-age=60", true, time.Minute, false},
		{"not a dictionary", "CDN-Cache-Control: max-age=60, &&&\nCache-Control: no-store", false, absent, true},
		{"wrong type", "CDN-Cache-Control: max-age=\"60\"\nCache-Control: no-store", false, absent, true},
		{
			"upper case is another key, RFC 9651", "CDN-Cache-Control: MAX-AGE=60\nCache-Control: max-age=1", false, time.Second,
			false,
		},
		{"absent", "Cache-Control: max-age=1", false, time.Second, false},
		{"of a repeated key the last counts", "CDN-Cache-Control: max-age=1, max-age=60", true, time.Minute, false},
		{"false is false", "CDN-Cache-Control: no-store=?0, max-age=60", true, time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cc := p.control(fields(tt.fields))
			if cc.targeted != tt.wantTargeted || cc.maxAge != tt.wantAge || cc.noStore != tt.wantNoStore {
				t.Errorf("control = targeted %v, max-age %v, no-store %v; want %v, %v, %v", cc.targeted, cc.maxAge, cc.noStore,
					tt.wantTargeted, tt.wantAge, tt.wantNoStore)
			}
		})
	}
}

func FuzzControl(f *testing.F) {
	f.Add(`max-age=60, x="a\",b", no-cache="a, b"`)
	f.Add(`max-age="60`)
	f.Add("a;b=?1, c=(1 2);d, e=:YQ==:")
	f.Fuzz(func(t *testing.T, line string) {
		cc := parseControl([]string{line, line})
		for _, d := range []time.Duration{
			cc.maxAge, cc.sMaxAge, cc.maxStale, cc.minFresh, cc.staleIfError,
			cc.staleWhileRevalidate,
		} {
			if d < absent || d > maxDelta {
				t.Fatalf("parseControl(%q) has a lifetime of %v", line, d)
			}
		}
		targetedControl([]string{line})
		for element := range httpfield.Elements([]string{line}) {
			if element != strings.Trim(element, " \t") || element == "" {
				t.Fatalf("httpfield.Elements(%q) yields %q", line, element)
			}
		}
	})
}

func TestAnArgumentThatNamesNoFieldIsAboutTheWholeResponse(t *testing.T) {
	for arg, whole := range map[string]bool{
		"''": true, "'set-cookie'": true, `"set-cookie, ''"`: true, "": true, `""`: true, "*": true,
		"set-cookie": false, `"Set-Cookie, X_Y"`: false,
	} {
		lines := []string{"private=" + arg + ", max-age=60", "no-cache=" + arg}
		if cc := parseControl(lines); cc.private != whole || cc.noCache != whole {
			t.Errorf("%q: private %v, no-cache %v, want %v", lines, cc.private, cc.noCache, whole)
		}
	}
}
