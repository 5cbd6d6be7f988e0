//go:build linux || darwin

package pace

import (
	"net"
	"syscall"
)

// ask asks the kernel about the socket of c. It returns -1 if c has none, or the kernel does not answer.
func ask(c net.Conn, about func(fd int) (int, error)) int {
	answer := -1
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			//nolint:errcheck // then there is no answer
			raw.Control(func(fd uintptr) {
				if n, err := about(int(fd)); err == nil {
					answer = n
				}
			})
		}
	}
	return answer
}
