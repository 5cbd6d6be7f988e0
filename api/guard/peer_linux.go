package guard

import (
	"encoding/binary"
	"net/netip"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ownedByUs reports whether the other end of a connection within this machine is a socket of the user that this process
// runs as. The kernel is asked for that one socket (sock_diag(7)), which takes 10 µs however many there are; the
// tables in /proc/net take 40 ms on a machine with some ten thousand. If the kernel cannot tell, the answer is no.
//
// A socket that no process holds any more is owned by root, as far as the kernel tells. So who sends a request and
// hangs up at once is nobody's.
func ownedByUs(local, remote netip.AddrPort) bool {
	const (
		header   = unix.SizeofNlMsghdr
		askSize  = header + 56 // struct inet_diag_req_v2
		tellSize = header + 72 // struct inet_diag_msg
		anything = 1<<32 - 1   // in place of a state or a cookie
	)
	if euid() < 0 {
		return false
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return false
	}
	defer unix.Close(fd) //nolint:errcheck // it was only read

	order := binary.NativeEndian
	ask := make([]byte, askSize)
	order.PutUint32(ask, askSize)
	order.PutUint16(ask[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(ask[6:], unix.NLM_F_REQUEST)
	q := ask[header:]
	q[0], q[1] = unix.AF_INET6, unix.IPPROTO_TCP
	from, to := remote.Addr().Unmap(), local.Addr().Unmap()
	if from.Is4() {
		q[0] = unix.AF_INET
	}
	order.PutUint32(q[4:], anything)
	binary.BigEndian.PutUint16(q[8:], remote.Port())
	binary.BigEndian.PutUint16(q[10:], local.Port())
	copy(q[12:28], from.AsSlice())
	copy(q[28:44], to.AsSlice())
	order.PutUint32(q[48:], anything)
	order.PutUint32(q[52:], anything)
	if err := unix.Sendto(fd, ask, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return false
	}
	var buffer [1024]byte
	n, sender, err := unix.Recvfrom(fd, buffer[:], unix.MSG_DONTWAIT) // it was answered while it was sent
	if err != nil || n < tellSize || order.Uint16(buffer[4:]) != unix.SOCK_DIAG_BY_FAMILY {
		return false
	}
	if kernel, ok := sender.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 {
		return false
	}
	told := buffer[header:n]
	if binary.BigEndian.Uint16(told[4:]) != remote.Port() || binary.BigEndian.Uint16(told[6:]) != local.Port() {
		return false // not this connection but one that listens
	}
	uid, inode := order.Uint32(told[64:]), order.Uint32(told[68:])
	return inode != 0 && int64(uid) == euid()
}

// overflowUID is how users show that a user namespace does not map (user_namespaces(7)), and often the user "nobody".
const overflowUID = 65534

// euid returns the user that this process runs as. It returns -1 if the kernel shows other users the same way.
var euid = sync.OnceValue(func() int64 {
	id := int64(os.Geteuid())
	if id == overflowUID {
		maps, err := os.ReadFile("/proc/self/uid_map")
		if err != nil || strings.Join(strings.Fields(string(maps)), " ") != "0 0 4294967295" {
			return -1
		}
	}
	return id
})
