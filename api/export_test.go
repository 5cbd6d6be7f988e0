package api

// Routes returns the method and path of every route.
func (s *Server) Routes() (list [][2]string) {
	for _, rt := range s.routes {
		list = append(list, [2]string{rt.method, rt.path})
	}
	return list
}

// Public reports whether a path asks for no token.
func Public(path string) bool { return public(path) }

// CutChars is cutChars.
func CutChars(s string, limit int) (string, bool) { return cutChars(s, limit) }

// AsError is asError.
func AsError(err error) *Error { return asError(err) }

// WaitHooks waits until the work that hooks left is done.
func (s *Server) WaitHooks() { s.hooks.running.Wait() }
