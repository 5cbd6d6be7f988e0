package strictyaml_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/strictyaml"
)

type inner struct {
	Host string   `yaml:"host"`
	Mode string   `yaml:"mode"  oneof:"auto never"`
	List []string `yaml:"list"`
}

type outer struct {
	Name   string         `yaml:"name"`
	Number int            `yaml:"number"`
	Yes    bool           `yaml:"yes"`
	Maybe  *bool          `yaml:"maybe"`
	Wait   time.Duration  `yaml:"wait"`
	Inner  inner          `yaml:"inner"`
	Rules  []inner        `yaml:"rules"`
	Fields strictyaml.Map `yaml:"fields"`
}

func TestDecodeSetsEveryKind(t *testing.T) {
	const text = `name: a
number: 3
yes: true
maybe: false
wait: 1m
inner: {host: h, mode: never}
rules:
  - host: x
    list: [one, two]
fields:
  zebra: .z
  ant: |
    two
    lines
`
	var got outer
	places := map[string]string{}
	if err := strictyaml.Decode([]byte(text), &got, func(key string, at strictyaml.Place) {
		places[key] = fmt.Sprintf("%d:%d", at.Line, at.Column)
	}); err != nil {
		t.Fatal(err)
	}
	want := outer{
		Name: "a", Number: 3, Yes: true, Maybe: new(false), Wait: time.Minute, Inner: inner{Host: "h", Mode: "never"},
		Rules:  []inner{{Host: "x", List: []string{"one", "two"}}},
		Fields: strictyaml.Map{{Key: "zebra", Value: ".z"}, {Key: "ant", Value: "two\nlines\n"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{"name": "1:1", "rules[0].list": "9:5", "fields.ant": "12:3"} {
		if places[key] != want {
			t.Errorf("%s is at %s, want %s", key, places[key], want)
		}
	}
}

func TestMistakesAreRefusedWithTheirPlace(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key", "name: a\nnope: b\n", `2:1 unknown key "nope"`},
		{"unknown key below", "inner:\n  nope: b\n", `2:3 unknown key "inner.nope"`},
		{"unknown key in a list", "rules:\n  - host: a\n    nope: b\n", `3:5 unknown key "rules[0].nope"`},
		{"duplicate key", "inner: {host: a, host: b}", `1:18 mapping key "host" already defined at [1:9]`},
		{"duplicate name of a map", "fields: {a: b, a: c}", `1:16 mapping key "a" already defined at [1:10]`},
		{"a list in a map", "fields: {a: [b]}", `1:13 fields.a: want one value, not a list`},
		{"a value out of its list", "inner:\n  mode: maybe\n", `2:9 inner.mode: "maybe" is not one of auto, never`},
		{"no number", "number: many", `1:9 number: "many" is not a whole number`},
		{"no duration", "wait: long", `1:7 wait: "long" is not a duration: write it like 30s, 15m or 24h`},
		{"an anchor", "name: &a b", `1:7 name: anchors and aliases are not supported: write the value itself`},
		{"a tag", "name: !t b", `1:7 name: tags are not supported: write the plain value`},
		{"a text for a list", "rules: a", `1:8 rules: want a list, not a`},
		{"a list for a text", "name: [a]", `1:7 name: want one value, not a list`},
		{"a mapping for a text", "name: {a: b}", `1:7 name: want one value, not a mapping`},
		{"a list for a map", "fields: [a]", `1:9 fields: want a mapping of keys, not a list`},
		{"two documents", "name: a\n---\nname: b\n", `3:5 the file has a second document: write one per file`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := strictyaml.Decode([]byte(tt.text), new(outer), nil)
			mistake, ok := errors.AsType[*strictyaml.Error](err)
			if !ok {
				t.Fatalf("err = %v, want an *Error", err)
			}
			if got := fmt.Sprintf("%d:%d %s", mistake.Line, mistake.Column, mistake); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestHostileNestingIsRefused(t *testing.T) {
	for _, opening := range []string{"[", "{a: ", "- ", "? "} {
		err := strictyaml.Decode([]byte(strings.Repeat(opening, 20000)), new(outer), nil)
		if err == nil || !strings.Contains(err.Error(), "levels") {
			t.Errorf("%q: err = %v, want one about levels", opening, err)
		}
	}
}

func TestDecodeValueReadsOneValue(t *testing.T) {
	var rules []inner
	v := reflect.ValueOf(&rules).Elem()
	if err := strictyaml.DecodeValue([]byte("[{host: a}]"), v, "rules"); err != nil || rules[0].Host != "a" {
		t.Errorf("rules = %v, err = %v", rules, err)
	}
	if err := strictyaml.DecodeValue(nil, v, "rules"); err == nil || err.Error() != "rules: want a list" {
		t.Errorf("err = %v for an empty text", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"name: a", "rules: [{host: a}]\n---\nfields: {a: b}", "? a\n: b", "a: |\n  b", "%", "- - -",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4<<10 {
			return
		}
		if err := strictyaml.Decode(text, new(outer), nil); err != nil {
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Errorf("err = %v, want an *Error", err)
			}
		}
	})
}
