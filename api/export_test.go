package api

// Routes returns the method and path of every operation.
func (s *Server) Routes() (list [][2]string) {
	for _, o := range s.table {
		list = append(list, [2]string{o.method, o.path})
	}
	return list
}

// Public reports whether a path is answered without the token.
func (s *Server) Public(path string) bool { return s.public[path] }

// CutChars is cutChars.
func CutChars(s string, limit int) (string, bool) { return cutChars(s, limit) }

// AsError is asError.
func AsError(err error) *Error { return asError(err) }

// WaitHooks waits until the work that hooks left is done.
func (s *Server) WaitHooks() { s.hooks.running.Wait() }
