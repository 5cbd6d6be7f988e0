package api

import (
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

// operation is one method of one path: a row of the table in operations.go. The mux, the requests of a [Client], the
// index page and /openapi.json are made from these rows.
type operation struct {
	id           string // operationId: stable, unique
	method, path string
	summary      string
	in           *params // nil if only others than Client ask
	query        []param
	body, result reflect.Type // what goes in and comes out as JSON; nil if it is not JSON
	content      string       // media type of what goes in
	media        string       // media type of a result that is not JSON
	limit        int64        // largest content of a request, in bytes
	open         bool         // strangers are answered too: it reveals nothing that they may not know
	role         users.Role   // that a user needs
}

// param is a query parameter.
type param struct {
	name, about string
	of          reflect.Type // nil: text
	low, high   int          // of a number: 0, 0 is unbounded
}

// typed is an operation whose parameters and answer are Go values. In is a struct with tags as [params] reads them, Out
// is what the answer's JSON holds.
type typed[In, Out any] struct{ *operation }

// streamed is an operation that writes its answer itself.
type streamed[In any] struct{ *operation }

// none is the In of an operation without parameters.
type none struct{}

// operations lists the rows in the order in which they are declared.
var operations []*operation

// op adds a row for an operation whose answer is a value. role is what a user needs, pattern the HTTP method and the
// path.
func op[In, Out any](role users.Role, id, pattern, summary string, options ...func(*operation)) typed[In, Out] {
	o := row[In](role, id, pattern, summary, options)
	o.result = reflect.TypeFor[Out]()
	return typed[In, Out]{o}
}

// stream adds a row for an operation that writes its answer, of type media, itself.
func stream[In any](role users.Role, id, pattern, summary, media string, options ...func(*operation)) streamed[In] {
	o := row[In](role, id, pattern, summary, options)
	o.media = media
	return streamed[In]{o}
}

// row adds a row to the table.
func row[In any](role users.Role, id, pattern, summary string, options []func(*operation)) *operation {
	in := paramsOf(reflect.TypeFor[In]())
	o := &operation{
		role: role, id: id, summary: summary, in: in, query: in.query, body: in.body,
		content: "application/json", limit: maxRequest,
	}
	o.method, o.path, _ = strings.Cut(pattern, " ")
	for _, set := range options {
		set(o)
	}
	operations = append(operations, o)
	return o
}

// The largest contents of requests over the network, in bytes.
const (
	maxRequest = 1 << 20
	maxMCP     = 4 << 20  // also enough for the URLs of a batch
	maxIngest  = 64 << 20 // a text of 32 MiB, escaped as JSON
	maxPack    = 4 << 30  // goes to a file
	maxFiles   = 64 << 30 // likewise: a large collection
)

// openToAll answers strangers too.
func openToAll(o *operation) { o.open = true }

// takes sets the largest content of a request, in bytes.
func takes(limit int64) func(*operation) { return func(o *operation) { o.limit = limit } }

// takesBytes sets the media type of the content to that of bytes.
func takesBytes(o *operation) { o.content = "application/octet-stream" }

// exchanges says that JSON goes in and comes out although the operation reads and writes it itself.
func exchanges[In, Out any](o *operation) {
	o.body, o.result = reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

// answers says that JSON comes out although the operation writes it itself.
func answers[Out any](o *operation) { o.result = reflect.TypeFor[Out]() }
