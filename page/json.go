package page

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// members are the members of the page object in the order in which they are written, whichever type they belong to. A
// field of a Page that is not named here is not written.
const members = `
	doc url final_url canonical_url normalized_url url_type display
	title description meta content content_format excerpt section next total_chars
	metadata kbs readme symbol_map github_info summary summary_type
	markdown_source markdown_tokens content_hash size_bytes bytes status_code content_type
	created_at updated_at first_visited_at last_visited_at fetched_at visit_id visit_count
	from_cache stored warnings preferences removed attempts wall info error
	console screenshot`

// ordered is a struct with all fields of a Page in the order of members, and from says where in a Page each is.
var ordered, from = inOrder()

// inOrder builds, once, for the JSON of a page, the struct type that has the fields of a [Page] in the order of
// members, and the index of each in a Page. The encoder of the standard library writes embedded structs one after the
// other, so the order would else follow the types and not the reader.
func inOrder() (reflect.Type, [][]int) {
	byName := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Page]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		byName[name] = f
	}
	var fields []reflect.StructField
	var indexes [][]int
	for name := range strings.FieldsSeq(members) {
		f := byName[name]
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		indexes = append(indexes, f.Index)
	}
	return reflect.StructOf(fields), indexes
}

// MarshalJSON writes the page object, its members in the order of members.
func (p Page) MarshalJSON() ([]byte, error) {
	page, object := reflect.ValueOf(p), reflect.New(ordered).Elem()
	for i, index := range from {
		object.Field(i).Set(page.FieldByIndex(index))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the encoder that calls this escapes where it must
	err := enc.Encode(object.Interface())
	return b.Bytes(), err
}
