package service

import (
	"path/filepath"
	"strings"
)

// Tasks is the task scheduler of Windows. The task runs when the user signs in, without a window, as the user.
type Tasks struct {
	Dir  string // a folder of ours, in which the task's description is kept
	User string // the user's name, DOMAIN\name
}

// Name implements [Manager].
func (Tasks) Name() string { return "the task scheduler" }

// Files implements [Manager].
func (t Tasks) Files() []string { return []string{filepath.Join(t.Dir, "task.xml")} }

// Install implements [Manager].
func (t Tasks) Install(d Daemon, _ bool) []Step {
	return []Step{
		{Write: t.Files()[0], Text: taskText(d, t.User)},
		{Run: []string{"schtasks", "/Create", "/F", "/TN", label, "/XML", t.Files()[0]}},
		{Run: []string{"schtasks", "/Run", "/TN", label}},
	}
}

// Uninstall implements [Manager].
func (t Tasks) Uninstall() []Step {
	return []Step{
		{Run: []string{"schtasks", "/End", "/TN", label}, Tries: true},
		{Run: []string{"schtasks", "/Delete", "/F", "/TN", label}, Tries: true},
		{Remove: t.Files()[0]},
	}
}

// Restart implements [Manager]. The scheduler has one command to end a task and another to run it.
func (Tasks) Restart() []string {
	return []string{"cmd", "/c", "schtasks /End /TN " + label + " & schtasks /Run /TN " + label}
}

// Status implements [Manager].
func (Tasks) Status() []string { return []string{"schtasks", "/Query", "/TN", label} }

// Logs implements [Manager].
func (Tasks) Logs(log string, follow bool) []string {
	command := "Get-Content -Tail 200 -LiteralPath '" + strings.ReplaceAll(log, "'", "''") + "'"
	if follow {
		command += " -Wait"
	}
	return []string{"powershell", "-NoProfile", "-Command", command}
}

// taskText returns the description of our task. The command runs under conhost without a window; cmd sends its log to
// a file.
func taskText(d Daemon, user string) string {
	words := make([]string, len(d.Command))
	for i, arg := range d.Command {
		words[i] = `"` + arg + `"` // a file name holds no quotation mark there
	}
	arguments := `--headless cmd /c "` + strings.Join(words, " ") + ` 2>>"` + d.Log + `""`
	return `<?xml version="1.0"?>
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>readthru, a caching proxy that gives agents the web as markdown</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>` + escapeXML(user) + `</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal>
      <UserId>` + escapeXML(user) + `</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
    <Hidden>true</Hidden>
  </Settings>
  <Actions>
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>` + escapeXML(arguments) + `</Arguments>
    </Exec>
  </Actions>
</Task>
`
}
