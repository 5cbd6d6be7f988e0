package pages

import (
	"net/url"
	"reflect"
	"slices"
	"testing"

	"github.com/readthru/readthru/api"
)

// TestEachFieldOfARequestReachesTheFetcher sets each field alone. What resolve, shape and summarise read is theirs.
func TestEachFieldOfARequestReachesTheFetcher(t *testing.T) {
	t.Parallel()
	own := []string{"URL", "OutputFormat", "MaxChars", "Summary", "Hint", "Exact"}
	u := &url.URL{Scheme: "https", Host: "a.test", Path: "/"}
	unset := forFetcher(api.FetchRequest{}, u)
	for field := range reflect.TypeFor[api.FetchRequest]().Fields() {
		var r api.FetchRequest
		v := reflect.ValueOf(&r).Elem().FieldByIndex(field.Index)
		switch v.Kind() {
		case reflect.String:
			v.SetString("text") // a format, a mode of links, and a word
		case reflect.Int:
			v.SetInt(7)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Pointer: // a default of true
			v.Set(reflect.ValueOf(new(false)))
		default:
			t.Fatalf("%s is a %s", field.Name, v.Kind())
		}
		if got := forFetcher(r, u); reflect.DeepEqual(got, unset) != slices.Contains(own, field.Name) {
			t.Errorf("%s: the fetcher is asked for %+v", field.Name, got)
		}
	}
}
