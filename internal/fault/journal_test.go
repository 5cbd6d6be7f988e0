package fault_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// crashIn names, in the environment, the directory in which this program crashes while it does a job.
const crashIn = "READTHRU_TEST_CRASH_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashIn); dir != "" {
		j, err := fault.OpenJournal(dir, time.Now())
		if err != nil {
			panic(err)
		}
		done := j.Begin("work", "a", "b")
		debug.SetMaxStack(1 << 20)
		_ = recurse(1)
		done()
	}
	os.Exit(m.Run())
}

// recurse ends the process by a fatal error, from which no goroutine recovers.
func recurse(n int) int {
	defer func() { _ = recover() }()
	return recurse(n+1) + 1
}

// crash runs this program in a directory until it crashes.
func crash(t *testing.T, dir string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), crashIn+"="+dir)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "stack overflow") {
		t.Fatalf("the program did not crash: %v\n%.300s", err, out)
	}
}

func openJournal(t *testing.T, dir string) *fault.Journal {
	t.Helper()
	j, err := fault.OpenJournal(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A job during which the process crashes is a suspect; after a second crash it is poison.
func TestAJobThatCrashesTheProcessTwiceIsPoison(t *testing.T) {
	dir := t.TempDir()
	crash(t, dir)
	j := openJournal(t, dir)
	last := j.Last()
	if last.Clean || !last.Crashed || !last.Soon || !strings.Contains(last.Cause(), "fault_test.recurse") ||
		!last.In("fault_test") || last.In("store") {
		t.Errorf("last end %+v, want a crash in this package soon after the start", last)
	}
	if trace, err := os.ReadFile(last.File); err != nil || !strings.Contains(string(trace), "recurse") {
		t.Errorf("the file of the crash: %v, %.100s", err, trace)
	}
	for _, id := range []string{"a", "b"} {
		if suspect, poison := j.Suspect("work", id); !suspect || poison {
			t.Errorf("after one crash %s is a suspect: %t, poison: %t", id, suspect, poison)
		}
	}
	j.Begin("work", "b")() // it is done
	if suspect, _ := j.Suspect("work", "b"); suspect {
		t.Error("what was done is still a suspect")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j = openJournal(t, dir); j.Last().Crashed {
		t.Error("a clean end is told as a crash")
	}
	if suspect, _ := j.Suspect("work", "a"); !suspect {
		t.Error("a clean end forgot a suspect that was not done")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	crash(t, dir)
	j = openJournal(t, dir)
	defer j.Close() //nolint:errcheck // nothing of it is needed again
	if _, poison := j.Suspect("work", "a"); !poison {
		t.Error("after two crashes a is no poison")
	}
	if suspect, poison := j.Suspect("work", "b"); !suspect || poison {
		t.Error("b was done between the crashes and is poison")
	}
	j.Forget("work", "a")
	if suspect, _ := j.Suspect("work", "a"); suspect {
		t.Error("what was forgotten is still a suspect")
	}
}

// A process that is killed says nothing; a job that was being done three times in a row is poison then, too.
func TestAJobThatIsKilledThriceIsPoison(t *testing.T) {
	dir := t.TempDir()
	for n := range 4 {
		j := openJournal(t, dir)
		if j.Last().Crashed {
			t.Fatal("a kill is told as a crash")
		}
		if _, poison := j.Suspect("work", "a"); poison != (n == 3) {
			t.Errorf("after %d deaths poison: %t", n, poison)
		}
		j.Begin("work", "a") // and the process is gone
	}
}

// A file that cannot be understood is no reason not to start.
func TestADamagedJournalIsNone(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"jobs":7}`, "\x00\xff"} {
		if err := os.WriteFile(filepath.Join(dir, "doing.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := openJournal(t, dir).Close(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
