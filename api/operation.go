package api

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/readthru/readthru/internal/users"
)

// The roles that operations need of users.
const (
	reads  = users.Read
	writes = users.Write
	admins = users.Admin
)

// Operation is one method of one path: a row of the table in operations.go. The mux, the requests of a [Client], the
// index page and /openapi.json are made from these rows.
type Operation struct {
	ID           string // operationId: stable, unique
	Method, Path string
	Summary      string
	In           *Params // nil if only others than Client ask
	Query        []Param
	Body, Result reflect.Type // what goes in and comes out as JSON; nil if it is not JSON
	Content      string       // media type of what goes in
	Media        string       // media type of a result that is not JSON
	Limit        int64        // largest content of a request, in bytes
	Open         bool         // strangers are answered too: it reveals nothing that they may not know
	Role         users.Role   // that a user needs
	Act          bool         // it is recorded who did it
}

// Acted is implemented by parameters of operations of which it is recorded who did them. About says, for people, what
// is done to what, and tells no secret.
type Acted interface{ About() string }

// Param is a query parameter.
type Param struct {
	Name, About string
	Of          reflect.Type // nil: text
	Low, High   int          // of a number: 0, 0 is unbounded
}

// typed is an operation whose parameters and answer are Go values. In is a struct with tags as [params] reads them, Out
// is what the answer's JSON holds.
type typed[In, Out any] struct{ *Operation }

// streamed is an operation that writes its answer itself.
type streamed[In any] struct{ *Operation }

// None is the In of an operation without parameters.
type None struct{}

// Operations lists the rows in the order in which they are declared.
var Operations []*Operation

// op adds a row for an operation whose answer is a value. role is what a user needs, pattern the HTTP method and the
// path.
func op[In, Out any](role users.Role, id, pattern, summary string, options ...func(*Operation)) typed[In, Out] {
	o := row[In](role, id, pattern, summary, options)
	o.Result = reflect.TypeFor[Out]()
	return typed[In, Out]{o}
}

// stream adds a row for an operation that writes its answer, of type media, itself.
func stream[In any](role users.Role, id, pattern, summary, media string, options ...func(*Operation)) streamed[In] {
	o := row[In](role, id, pattern, summary, options)
	o.Media = media
	return streamed[In]{o}
}

// row adds a row to the table.
func row[In any](role users.Role, id, pattern, summary string, options []func(*Operation)) *Operation {
	in := paramsOf(reflect.TypeFor[In]())
	o := &Operation{
		Role: role, ID: id, Summary: summary, In: in, Query: in.query, Body: in.body,
		Content: "application/json", Limit: MaxRequest,
	}
	o.Method, o.Path, _ = strings.Cut(pattern, " ")
	o.Act = role == admins && o.Method != http.MethodGet
	for _, set := range options {
		set(o)
	}
	Operations = append(Operations, o)
	return o
}

// The largest contents of requests over the network, in bytes.
const (
	MaxRequest = 1 << 20
	MaxMCP     = 4 << 20  // also enough for the URLs of a batch
	maxIngest  = 64 << 20 // a text of 32 MiB, escaped as JSON
	MaxPack    = 4 << 30  // goes to a file
	maxFiles   = 64 << 30 // likewise: a large collection
)

// openToAll answers strangers too.
func openToAll(o *Operation) { o.Open = true }

// act has it recorded who did an operation; notAct does not.
func act(o *Operation)    { o.Act = true }
func notAct(o *Operation) { o.Act = false }

// takes sets the largest content of a request, in bytes.
func takes(limit int64) func(*Operation) { return func(o *Operation) { o.Limit = limit } }

// takesBytes sets the media type of the content to that of bytes.
func takesBytes(o *Operation) { o.Content = "application/octet-stream" }

// exchanges says that JSON goes in and comes out although the operation reads and writes it itself.
func exchanges[In, Out any](o *Operation) {
	o.Body, o.Result = reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

// answers says that JSON comes out although the operation writes it itself.
func answers[Out any](o *Operation) { o.Result = reflect.TypeFor[Out]() }
