package journal_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/readthru/readthru/internal/journal"
)

func TestFieldsAreWrittenAsJSONAsTheLibraryWouldWriteThem(t *testing.T) {
	for _, f := range []journal.Fields{
		"",
		"Accept: */*\n",
		"Vary: b\nAccept: */*\nVary: a\nVary: \n",
		"Odd: \"quoted\" \\ <b>&\nOther: ünicode \u2028 \x01 \x7f \xff\n",
		"no colon\n: no name\n",
	} {
		m := map[string][]string{}
		for _, field := range f.List() {
			m[field.Name] = append(m[field.Name], field.Value)
		}
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(f)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: got %s, %v, want %s", f, got, err, want)
		}
	}
}
