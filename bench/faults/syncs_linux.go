package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel stops every thread of a program that makes one of these calls until a supervisor has seen it (seccomp
// user notifications). What is in the file at that moment is what survives a power cut; everything later may not.
var synced = []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_MSYNC}

// notification and response are the kernel's struct seccomp_notif and struct seccomp_notif_resp.
type notification struct {
	ID    uint64
	PID   uint32
	Flags uint32
	Call  int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

type response struct {
	ID    uint64
	Value int64
	Error int32
	Flags uint32
}

const (
	receive  = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	send     = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
	proceed  = 1          // SECCOMP_USER_NOTIF_FLAG_CONTINUE
	listener = 1 << 3     // SECCOMP_FILTER_FLAG_NEW_LISTENER
	notify   = 0x7fc00000 // SECCOMP_RET_USER_NOTIF
	allow    = 0x7fff0000 // SECCOMP_RET_ALLOW
	filter   = 1          // SECCOMP_SET_MODE_FILTER
	socket   = 3          // the descriptor over which the listener is sent
)

// launch makes this process one whose syncs are supervised, and turns it into the command given. It returns only if it
// cannot.
func launch(command []string) error {
	// the thread that is filtered is the one that becomes the command
	runtime.LockOSThread()
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for n, call := range synced {
		code = append(code, unix.SockFilter{
			Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call,
			Jt: uint8(len(synced) - n),
		})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: allow},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: notify})
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	//nolint:gosec // the call takes an address
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, filter, listener, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return fmt.Errorf("send the listener: %w", err)
	}
	unix.Close(int(fd))                                    //nolint:errcheck // the supervisor has it
	unix.Close(socket)                                     //nolint:errcheck // it was used
	return syscall.Exec(command[0], command, os.Environ()) //nolint:gosec // the command under test
}

// disk is what a power cut would leave of a directory: of each file what it held when it was last synced, under the
// names that were there when their directory or they were. Nothing else is certain to be there.
type disk struct {
	live, kept string // the directory, and one for what is synced

	mu    sync.Mutex
	names map[string]map[string]uint64 // by directory: inodes by name
	files map[uint64]bool              // inodes whose content is kept
	syncs int
	err   error
}

// newDisk returns a disk on which everything that is in a directory now has been synced.
func newDisk(live, kept string) (*disk, error) {
	p := &disk{live: live, kept: kept, names: map[string]map[string]uint64{}, files: map[uint64]bool{}}
	if err := os.Mkdir(kept, 0o700); err != nil {
		return nil, err
	}
	return p, filepath.WalkDir(live, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			p.names[name] = map[string]uint64{}
			return nil
		}
		return p.syncFile(name)
	})
}

func inode(name string) (uint64, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}

// syncFile keeps what a file holds, and its name.
func (p *disk) syncFile(name string) error {
	number, err := inode(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was deleted
	}
	if err != nil {
		return err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p.files[number] = true
	p.names[filepath.Dir(name)][filepath.Base(name)] = number
	return os.WriteFile(filepath.Join(p.kept, strconv.FormatUint(number, 10)), content, 0o600)
}

// syncDir keeps which names a directory has.
func (p *disk) syncDir(name string) error {
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	clear(p.names[name])
	for _, e := range entries {
		if number, err := inode(filepath.Join(name, e.Name())); err == nil && !e.IsDir() {
			p.names[name][e.Name()] = number
		}
	}
	return nil
}

// supervise starts a command's syncs being noted. done is to be called when it has ended.
func (p *disk) supervise(cmd *exec.Cmd) (done func(), err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "listener")
	cmd.ExtraFiles = []*os.File{theirs}
	var wg sync.WaitGroup
	wg.Go(func() {
		ours := os.NewFile(uintptr(pair[0]), "listener")
		defer ours.Close() //nolint:errcheck // it was only read
		c, err := net.FileConn(ours)
		if err != nil {
			p.fail(err)
			return
		}
		defer c.Close() //nolint:errcheck // it was only read
		oob := make([]byte, 64)
		_, n, _, _, err := c.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), oob)
		if err != nil || n == 0 {
			p.fail(fmt.Errorf("the command was not supervised: %w", err))
			return
		}
		messages, err := unix.ParseSocketControlMessage(oob[:n])
		if err != nil {
			p.fail(err)
			return
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil {
			p.fail(err)
			return
		}
		defer unix.Close(fds[0]) //nolint:errcheck // its processes have ended
		p.watch(fds[0])
	})
	return func() {
		theirs.Close() //nolint:errcheck // the command has its own
		wg.Wait()
	}, nil
}

func (p *disk) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = errors.Join(p.err, err)
}

// watch notes syncs until the processes have ended.
func (p *disk) watch(fd int) {
	for {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			return // all have ended
		}
		var n notification
		//nolint:gosec // the call takes an address
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), receive, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // the thread was killed
		}
		if err := p.note(&n); err != nil {
			p.fail(err)
		}
		r := response{ID: n.ID, Flags: proceed}
		//nolint:errcheck,gosec // the thread may have been killed
		unix.Syscall(unix.SYS_IOCTL, uintptr(fd), send, uintptr(unsafe.Pointer(&r)))
	}
}

// note keeps what a call syncs.
func (p *disk) note(n *notification) error {
	var name string
	var err error
	if n.Call == unix.SYS_MSYNC {
		name, err = mapped(n.PID, n.Args[0])
	} else {
		name, err = os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.PID, n.Args[0]))
	}
	if err != nil || !strings.HasPrefix(name, p.live) { // the process was killed, or it is no file of ours
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.syncs++
	if _, dir := p.names[name]; dir {
		return p.syncDir(name)
	}
	return p.syncFile(strings.TrimSuffix(name, " (deleted)"))
}

// mapped returns the file that a process has mapped at an address.
func mapped(pid uint32, at uint64) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil && from <= at && at < to {
			if i := strings.IndexByte(line, '/'); i >= 0 {
				return strings.TrimSpace(line[i:]), nil
			}
		}
	}
	return "", fs.ErrNotExist
}

// after writes to a directory what a power cut leaves. What was written and not synced is lost, or, if torn, each
// page of it is there or not, as the kernel may have written some back.
func (p *disk) after(to string, torn bool, rnd *rand.Rand) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for dir, names := range p.names {
		copied := filepath.Join(to, strings.TrimPrefix(dir, p.live))
		if err := os.MkdirAll(copied, 0o700); err != nil {
			return err
		}
		for name, number := range names {
			var content []byte
			if p.files[number] {
				var err error
				if content, err = os.ReadFile(filepath.Join(p.kept, strconv.FormatUint(number, 10))); err != nil {
					return err
				}
			}
			if live := filepath.Join(dir, name); torn {
				if now, err := inode(live); err == nil && now == number {
					later, err := os.ReadFile(live)
					if err != nil {
						return err
					}
					content = tear(content, later, rnd)
				}
			}
			if err := os.WriteFile(filepath.Join(copied, name), content, 0o600); err != nil {
				return err
			}
		}
	}
	return p.err
}

// tear returns the content of a file of which some pages are as they were when it was synced, and some as they are.
func tear(synced, now []byte, rnd *rand.Rand) []byte {
	const page = 4096
	size := len(now)
	if rnd.IntN(2) == 0 {
		size = len(synced)
	}
	torn := make([]byte, size)
	copy(torn, synced)
	for at := 0; at < min(size, len(now)); at += page {
		if rnd.IntN(2) == 0 {
			end := min(at+page, size)
			clear(torn[at:end])
			copy(torn[at:end], now[at:])
		}
	}
	return torn
}
