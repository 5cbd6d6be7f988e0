package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// handedOver returns the listeners that systemd opened for this process (sd_listen_fds(3)), once.
var handedOver = sync.OnceValues(activation.Listeners)

// Listen listens at addr, or takes the listener there that systemd handed over. With anyPort it takes a free port if
// that of addr is in use.
func Listen(ctx context.Context, addr string, anyPort bool) (net.Listener, error) {
	given, err := handedOver()
	if err != nil {
		return nil, fmt.Errorf("take over listeners from systemd: %w", err)
	}
	if n := slices.IndexFunc(given, func(l net.Listener) bool { return l != nil && l.Addr().String() == addr }); n >= 0 {
		return given[n], nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if anyPort && errors.Is(err, syscall.EADDRINUSE) {
		host, _, _ := net.SplitHostPort(addr)
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		if sys, ok := errors.AsType[*os.SyscallError](err); ok {
			op = &net.OpError{Op: op.Op, Err: sys.Err}
		}
		return nil, fmt.Errorf("listen %s: %w", addr, op.Err)
	}
	return l, err
}

// TellReady tells a manager that waits for it that the daemon answers (sd_notify(3)).
func TellReady() error {
	_, err := systemd.SdNotify(true, systemd.SdNotifyReady)
	return err
}
