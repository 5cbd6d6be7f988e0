package server

import (
	"reflect"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/users"
)

// Routes returns the method and path of every operation.
func (s *Server) Routes() (list [][2]string) {
	for _, o := range s.table {
		list = append(list, [2]string{o.Method, o.Path})
	}
	return list
}

// Open reports whether strangers are answered on a path.
func (s *Server) Open(path string) bool { return s.open[path] }

// AsError is AsError.
func AsError(err error) *api.Error { return api.AsError(err) }

// ID returns the operationId of a method and path that Routes lists.
func (s *Server) ID(route [2]string) string { return s.operation(route).ID }

func (s *Server) operation(route [2]string) *api.Operation {
	for _, o := range s.table {
		if route == [2]string{o.Method, o.Path} {
			return o.Operation
		}
	}
	return &api.Operation{}
}

// Role returns the role that an operation needs.
func (s *Server) Role(route [2]string) users.Role { return s.operation(route).Role }

// OpenToAll reports whether strangers may do an operation.
func (s *Server) OpenToAll(route [2]string) bool { return s.operation(route).Open }

// JSONTypes returns the types that operations read and write as JSON.
func (s *Server) JSONTypes() (list []reflect.Type) {
	list = append(list, reflect.TypeFor[api.Error]())
	for _, o := range s.table {
		for _, typ := range []reflect.Type{o.Body, o.Result} {
			if typ != nil {
				list = append(list, typ)
			}
		}
	}
	return list
}
