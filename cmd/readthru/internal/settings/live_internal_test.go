package settings

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestLiveKeysAreKeysAndDocumented(t *testing.T) {
	var keys []string
	for _, l := range Defaults().Leaves() {
		keys = append(keys, l.Path)
	}
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "These\n# keys change at once")
	list, _, _ := strings.Cut(after, "The log names")
	for _, key := range liveKeys {
		if !slices.Contains(keys, key) {
			t.Errorf("%s is no key", key)
		}
		if !slices.Contains(strings.Fields(list), key) {
			t.Errorf("%s does not say that %s changes at once", exampleFile, key)
		}
	}
}

func TestAReloadTakesOverLiveKeysOnly(t *testing.T) {
	old := &Settings{Config: Defaults(), Source: map[string]string{}}
	next := &Settings{Config: Defaults(), Source: map[string]string{"rules": "file f:3"}}
	next.Rules = []ruleConfig{{Host: "a.test", Action: "block"}}
	next.Proxy.Listen, next.Cache.Mode = "127.0.0.1:1", "private"
	got, changed, waiting := old.Merge(next)
	if len(got.Rules) != 1 || got.Proxy.Listen != old.Proxy.Listen || got.Source["rules"] != "file f:3" ||
		len(old.Rules) != 0 {
		t.Errorf("merged: %+v", got)
	}
	if !slices.Equal(changed, []string{"rules"}) || !slices.Equal(waiting, []string{"proxy.listen", "cache.mode"}) {
		t.Errorf("changed %q, waiting %q", changed, waiting)
	}
}
