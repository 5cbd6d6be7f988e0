package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Params says where the fields of an operation's In stand in a request. A field has one of these tags:
//
//	path:"name"                   a part of the path
//	query:"name" doc:"…"          a query parameter; a []string may be repeated, a *string is nil if it is absent
//	query:"limit" range:"1,500"   a number within bounds; the second may be left out
//	header:"Name"                 a header field; with a tag for the query or JSON too it is the default
//	json:"name"                   a member of the content, which is a JSON object then
type Params struct {
	fields []field
	query  []Param
	body   reflect.Type // In, if it has fields for the content
}

// commonParams describes query parameters that mean the same wherever no doc tag says otherwise.
var commonParams = map[string]string{
	"limit":  "how many at most, 1 to 500; default 50",
	"cursor": "the value of next in the list before",
	"trait": "only this trait: negotiates, markdown-off, strict-accept, markdown-twins, needs-browser, loads-in-vain, " +
		"silent-events, vain-workers or rejects-ca",
	"session": "name of the session; default: that of the field X-Readthru-Session, else default",
}

// field is one field of an In.
type field struct {
	index               []int
	path, query, header string
	inBody              bool
	low, high           int // of a number: 0, 0 is unbounded
}

// fromRequest is an In that takes more from a request than its tags say, or refuses the request.
type fromRequest interface {
	from(r *http.Request) error
}

func paramsOf(in reflect.Type) *Params {
	p := new(Params)
	for _, f := range reflect.VisibleFields(in) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			p.body = in
		}
		at := field{
			index: f.Index, path: f.Tag.Get("path"), query: f.Tag.Get("query"), header: f.Tag.Get("header"),
			inBody: name != "" && name != "-",
		}
		if at.path == "" && at.query == "" && at.header == "" {
			continue
		}
		low, high, _ := strings.Cut(f.Tag.Get("range"), ",")
		at.low, _ = strconv.Atoi(low)
		at.high, _ = strconv.Atoi(high)
		p.fields = append(p.fields, at)
		if at.query != "" {
			about := cmp.Or(f.Tag.Get("doc"), commonParams[at.query])
			p.query = append(p.query, Param{at.query, about, f.Type, at.low, at.high})
		}
	}
	return p
}

// Decode reads a request into in, a pointer to an In. Query parameters that no field has are refused where some are
// known: a misspelt filter must not become an answer without a filter.
func (p *Params) Decode(r *http.Request, in any) error {
	if p.body != nil {
		if err := readJSON(r, in); err != nil {
			return err
		}
	}
	v, q := reflect.ValueOf(in).Elem(), r.URL.Query()
	for _, f := range p.fields {
		to, values := v.FieldByIndex(f.index), []string(nil)
		switch {
		case f.path != "":
			if text := r.PathValue(f.path); text != "" {
				values = []string{text}
			}
		case f.query != "":
			values = q[f.query]
			delete(q, f.query)
		}
		if f.header != "" && to.IsZero() && (len(values) == 0 || values[0] == "") {
			values = r.Header.Values(f.header)
		}
		if err := f.set(to, cmp.Or(f.path, f.query, f.header), values); err != nil {
			return err
		}
	}
	if len(p.query) > 0 {
		for name := range q {
			return Problem(http.StatusBadRequest, "unknown query parameter %q", name)
		}
	}
	if in, ok := in.(fromRequest); ok {
		return in.from(r)
	}
	return nil
}

// set reads values into a field. Empty text is the zero value.
func (f field) set(to reflect.Value, name string, values []string) (err error) {
	if len(values) == 0 {
		return nil
	}
	text := values[0]
	switch v := to.Addr().Interface().(type) {
	case *string:
		*v = text
	case **string:
		*v = &text
	case *[]string:
		*v = values
	case *int:
		if text != "" {
			*v, err = f.number(name, text)
		}
	case *bool:
		if text != "" {
			if *v, err = strconv.ParseBool(text); err != nil {
				err = Problem(http.StatusBadRequest, "%s is 1 or 0, not %q", name, text)
			}
		}
	case *time.Duration:
		if text != "" {
			if *v, err = time.ParseDuration(text); err != nil {
				err = Problem(http.StatusBadRequest, "%s %q is not a duration like 200ms", name, text)
			}
		}
	case *time.Time:
		*v, err = Since(text, time.Now())
	default:
		panic(fmt.Sprintf("parameter %s has type %T", name, v))
	}
	return err
}

func (f field) number(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case f.high != 0 && (err != nil || n < f.low || n > f.high):
		return 0, Problem(http.StatusBadRequest, "%s %q is not a number from %d to %d", name, text, f.low, f.high)
	case f.low != 0 && (err != nil || n < f.low):
		return 0, Problem(http.StatusBadRequest, "%s %q is not a number above %d", name, text, f.low-1)
	case err != nil:
		return 0, Problem(http.StatusBadRequest, "%s %q is not a number", name, text)
	}
	return n, nil
}

// encode writes in, an In, into a request for path: the reverse of decode, but for the content.
func (p *Params) encode(in any, path string, header http.Header) (target string, err error) {
	v, q := reflect.ValueOf(in), url.Values{}
	for _, f := range p.fields {
		from := v.FieldByIndex(f.index)
		switch {
		case f.path != "":
			place := "{" + f.path + "}"
			if from.String() == "" && strings.Contains(path, place) {
				return "", Problem(http.StatusBadRequest, "%s is empty", f.path)
			}
			path = strings.Replace(path, place, escape(from.String()), 1)
		case f.query != "" && !from.IsZero():
			q[f.query] = textOf(from.Interface())
		case f.query == "" && !f.inBody && !from.IsZero():
			header[f.header] = textOf(from.Interface())
		}
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return path, nil
}

// escape is [url.PathEscape], and keeps "." and ".." from being taken for a way through folders.
func escape(part string) string {
	if part == "." || part == ".." {
		return strings.ReplaceAll(part, ".", "%2E")
	}
	return url.PathEscape(part)
}

// textOf writes a field that is not zero as decode reads it.
func textOf(v any) []string {
	switch v := v.(type) {
	case []string:
		return v
	case *string:
		return []string{*v}
	case bool:
		return []string{"1"}
	case time.Time:
		return []string{v.UTC().Format(time.RFC3339Nano)}
	}
	return []string{fmt.Sprint(v)}
}

// readJSON reads the JSON content of a request into v. It refuses unknown fields and a second value.
func readJSON(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return err
		}
		if errors.Is(err, io.EOF) {
			return Problem(http.StatusBadRequest, "the request has no content: send a JSON object")
		}
		return Problem(http.StatusBadRequest, "read the request's JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Problem(http.StatusBadRequest, "the request's content has more than one JSON value")
	}
	return nil
}
