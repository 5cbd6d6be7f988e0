package unknown_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/unknown"
)

type inner struct {
	A       int            `json:"a"`
	Unknown unknown.Fields `json:"-"`
}

type outer struct {
	inner
	Kept    inner   `json:"kept,omitzero"`
	List    []inner `json:"list,omitempty"`
	Pointer *inner  `json:"pointer,omitempty"`
	Plain   struct {
		B int `json:"b"`
	} `json:"plain,omitzero"`
	Hidden int `json:"-"`
}

func TestUnknownFieldsOutlastAChange(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"none", `{"a":1}`, `{"a":2}`},
		{"of the struct", `{"a":1,"z":[1, 2]}`, `{"a":2,"z":[1,2]}`},
		{"of one in it", `{"a":1,"kept":{"a":3,"y":{"a":4}}}`, `{"a":2,"kept":{"a":3,"y":{"a":4}}}`},
		{"of one that is empty but for them", `{"kept":{"y":1}}`, `{"a":2,"kept":{"a":0,"y":1}}`},
		{"of those in a list", `{"list":[{"a":1},{"a":2,"x":"é"}]}`, `{"a":2,"list":[{"a":1},{"a":2,"x":"é"}]}`},
		{"of one behind a pointer", `{"pointer":{"w":null}}`, `{"a":2,"pointer":{"a":0,"w":null}}`},
		{"null is nothing", `{"kept":null,"list":null,"pointer":null,"z":1}`, `{"a":2,"z":1}`},
		{"a known one in another case", `{"A":1,"z":1}`, `{"a":2,"z":1}`},
		{"one that encoding/json passes over", `{"Hidden":7,"-":1}`, `{"-":1,"Hidden":7,"a":2}`},
		{"of a struct that keeps none", `{"plain":{"b":1,"c":2},"z":1}`, `{"a":2,"plain":{"b":1},"z":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v outer
			if err := unknown.Unmarshal([]byte(tt.data), &v); err != nil {
				t.Fatal(err)
			}
			v.A = 2
			got, err := unknown.Marshal(&v)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s: %s, %v, want %s", tt.data, got, err, tt.want)
			}
			var again outer
			if err := unknown.Unmarshal(got, &again); err != nil || !cmp.Equal(again, v, cmp.AllowUnexported(outer{})) {
				t.Errorf("read again: %+v, %v, want %+v", again, err, v)
			}
		})
	}
}

// A record of another machine may name a field that only the struct here knows in which it is embedded.
func TestAnUnknownFieldNeverBecomesAKnownOne(t *testing.T) {
	var told inner
	if err := unknown.Unmarshal([]byte(`{"a":1,"kept":{"a":9},"z":1}`), &told); err != nil {
		t.Fatal(err)
	}
	got, err := unknown.Marshal(outer{inner: told})
	if want := `{"a":1,"z":1}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	for _, data := range []string{"", "{", `{"a":"text"}`, `{"a":1} x`, `{"z":1}]`, "[]", `{"list":{"z":1}}`} {
		var v outer
		want := json.Unmarshal([]byte(data), new(outer))
		if err := unknown.Unmarshal([]byte(data), &v); (err == nil) != (want == nil) {
			t.Errorf("%q: %v, want %v", data, err, want)
		}
	}
}

func FuzzUnmarshalIsThatOfTheStandardLibrary(f *testing.F) {
	f.Add(`{"a":1,"z":{"list":[{"a":2,"x":1}]},"kept":{"y":1},"pointer":null}`)
	f.Fuzz(func(t *testing.T, data string) {
		var got, want outer
		err, wantErr := unknown.Unmarshal([]byte(data), &got), json.Unmarshal([]byte(data), &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, want %v", data, err, wantErr)
		}
		if err != nil {
			return
		}
		known := cmp.Comparer(func(_, _ unknown.Fields) bool { return true })
		if diff := cmp.Diff(want, got, known, cmp.AllowUnexported(outer{})); diff != "" {
			t.Fatalf("%q: (-want +got)\n%s", data, diff)
		}
		text, err := unknown.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again outer
		if err := unknown.Unmarshal(text, &again); err != nil || !cmp.Equal(again, got, cmp.AllowUnexported(outer{})) {
			t.Fatalf("%q, written as %q, is %+v, %v, want %+v", data, text, again, err, got)
		}
	})
}
