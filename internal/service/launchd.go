package service

import (
	"encoding/xml"
	"path/filepath"
	"strconv"
	"strings"
)

// Launchd is a user's launchd on macOS.
type Launchd struct {
	Dir string // the folder of the user's agents, ~/Library/LaunchAgents
	UID int
}

// label is the name of our agent.
const label = "readthru"

// Name implements [Manager].
func (Launchd) Name() string { return "launchd" }

// Files implements [Manager].
func (l Launchd) Files() []string { return []string{filepath.Join(l.Dir, label+".plist")} }

func (l Launchd) domain() string { return "gui/" + strconv.Itoa(l.UID) }

// Install implements [Manager].
func (l Launchd) Install(d Daemon, installed bool) (steps []Step) {
	if installed {
		steps = append(steps, Step{Run: []string{"launchctl", "bootout", l.domain() + "/" + label}, Tries: true})
	}
	return append(steps,
		Step{Write: l.Files()[0], Text: agentText(d)},
		Step{Run: []string{"launchctl", "bootstrap", l.domain(), l.Files()[0]}})
}

// Uninstall implements [Manager].
func (l Launchd) Uninstall() []Step {
	return []Step{
		{Run: []string{"launchctl", "bootout", l.domain() + "/" + label}, Tries: true},
		{Remove: l.Files()[0]},
	}
}

// Restart implements [Manager].
func (l Launchd) Restart() []string {
	return []string{"launchctl", "kickstart", "-k", l.domain() + "/" + label}
}

// Status implements [Manager].
func (l Launchd) Status() []string { return []string{"launchctl", "print", l.domain() + "/" + label} }

// Logs implements [Manager].
func (Launchd) Logs(log string, follow bool) []string {
	if follow {
		return []string{"tail", "-n", "200", "-f", log}
	}
	return []string{"tail", "-n", "200", log}
}

// agentText returns the property list of our agent (launchd.plist(5)).
func agentText(d Daemon) string {
	var args strings.Builder
	for _, arg := range d.Command {
		args.WriteString("\t\t<string>" + escapeXML(arg) + "</string>\n")
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ExitTimeOut</key>
	<integer>60</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>StandardErrorPath</key>
	<string>` + escapeXML(d.Log) + `</string>
</dict>
</plist>
`
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
	return b.String()
}
