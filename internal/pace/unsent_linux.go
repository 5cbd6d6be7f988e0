package pace

import (
	"net"

	"golang.org/x/sys/unix"
)

// unsent returns how many bytes written to c its peer has not taken, or -1 if that is unknown.
func unsent(c net.Conn) int {
	return ask(c, func(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.SIOCOUTQ) })
}
