package service

import (
	"net/netip"
	"path/filepath"
	"strings"
)

// Systemd is a user's manager of systemd. A socket unit holds the daemon's addresses, so that no client is turned away
// while the daemon starts, is restarted or replaced by another version.
type Systemd struct {
	// Dir is the folder of the user's units, $XDG_CONFIG_HOME/systemd/user.
	Dir string
}

const (
	serviceUnit = "readthru.service"
	socketUnit  = "readthru.socket"
)

// Name implements [Manager].
func (Systemd) Name() string { return "systemd" }

// Files implements [Manager].
func (s Systemd) Files() []string {
	return []string{filepath.Join(s.Dir, socketUnit), filepath.Join(s.Dir, serviceUnit)}
}

// Install implements [Manager].
func (s Systemd) Install(d Daemon, installed bool) (steps []Step) {
	var units []string
	if installed { // a socket does not change while its service runs
		steps = append(steps, Step{Run: []string{"systemctl", "--user", "stop", socketUnit, serviceUnit}, Tries: true})
	}
	socket := socketText(d)
	if socket != "" {
		units = append(units, socketUnit)
		steps = append(steps, Step{Write: filepath.Join(s.Dir, socketUnit), Text: socket})
	} else if installed {
		steps = append(steps,
			Step{Run: []string{"systemctl", "--user", "disable", socketUnit}, Tries: true},
			Step{Remove: filepath.Join(s.Dir, socketUnit)})
	}
	units = append(units, serviceUnit)
	return append(steps,
		Step{Write: filepath.Join(s.Dir, serviceUnit), Text: serviceText(d, socket != "")},
		Step{Run: []string{"systemctl", "--user", "daemon-reload"}},
		Step{Run: append([]string{"systemctl", "--user", "enable", "--now"}, units...)})
}

// Uninstall implements [Manager].
func (s Systemd) Uninstall() []Step {
	return []Step{
		{Run: []string{"systemctl", "--user", "disable", "--now", socketUnit, serviceUnit}, Tries: true},
		{Remove: filepath.Join(s.Dir, socketUnit)},
		{Remove: filepath.Join(s.Dir, serviceUnit)},
		// Without a manager, disable has left these links.
		{Remove: filepath.Join(s.Dir, "sockets.target.wants", socketUnit)},
		{Remove: filepath.Join(s.Dir, "default.target.wants", serviceUnit)},
		{Run: []string{"systemctl", "--user", "daemon-reload"}},
		{Run: []string{"systemctl", "--user", "reset-failed", serviceUnit}, Tries: true},
		{Remove: filepath.Join(s.Dir, "sockets.target.wants")},
		{Remove: filepath.Join(s.Dir, "default.target.wants")},
		{Remove: s.Dir},
		{Remove: filepath.Dir(s.Dir)},
	}
}

// Restart implements [Manager].
func (Systemd) Restart() []string { return []string{"systemctl", "--user", "restart", serviceUnit} }

// Status implements [Manager].
func (Systemd) Status() []string { return []string{"systemctl", "--user", "is-active", serviceUnit} }

// Logs implements [Manager].
func (Systemd) Logs(_ string, follow bool) []string {
	args := []string{"journalctl", "--user", "--unit", serviceUnit, "--lines", "200", "--no-pager"}
	if follow {
		args = append(args, "--follow")
	}
	return args
}

// socketText returns the socket unit of systemd, or "" if the manager can hold no address of the daemon.
func socketText(d Daemon) string {
	var streams strings.Builder
	for _, addr := range d.Listen {
		if at, err := netip.ParseAddrPort(addr); err == nil && at.Port() != 0 {
			streams.WriteString("ListenStream=" + at.String() + "\n")
		}
	}
	if streams.Len() == 0 {
		return ""
	}
	return signed(socketUnit, `[Unit]
Description=Addresses of readthru

[Socket]
`+streams.String()+`NoDelay=true

[Install]
WantedBy=sockets.target
`)
}

// serviceText returns the service unit of systemd. Chromium and the grammars' compiler need memory that is written and
// run, and namespaces, so that these are not forbidden.
func serviceText(d Daemon, socket bool) string {
	needs := ""
	if socket {
		needs = "Requires=" + socketUnit + "\nAfter=" + socketUnit + "\n"
	}
	words := make([]string, len(d.Command))
	for i, arg := range d.Command {
		words[i] = unitWord(arg)
	}
	return signed(serviceUnit, `[Unit]
Description=readthru, a caching proxy that gives agents the web as markdown
StartLimitIntervalSec=60
StartLimitBurst=20
`+needs+`
[Service]
Type=notify
ExecStart=`+strings.Join(words, " ")+`
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
TimeoutStopSec=60
UMask=0077
NoNewPrivileges=true
LockPersonality=true
RestrictRealtime=true
RestrictSUIDSGID=true
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`)
}

// unitWord quotes a word of a command line in a unit (systemd.service(5), "Command lines").
func unitWord(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$", "\n", `\n`).Replace(word)
	if word == "" || strings.ContainsAny(word, " \t';\\\"") {
		return `"` + word + `"`
	}
	return word
}
