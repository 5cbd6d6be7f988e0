package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// newTerminal opens a terminal. What is written to it ends up in shown, which must be read after the terminal is
// closed.
func newTerminal(t *testing.T) (tty *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(master) // it ends with an error when the terminal is closed
		text <- string(b)
	}()
	return tty, func() string {
		_ = tty.Close()
		return <-text
	}
}

func TestATerminalGetsNoControlCharacters(t *testing.T) {
	const hostile = "KEEP \x1b]0;title\a\x1b[2J\u009b31m\u202e\U000e0041\x07\x7f\b"
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("X-Odd", "KEEP \u009b31m")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>%[1]s</title><h1>%[1]s</h1><p>%[2]s</p>", hostile,
			strings.Repeat("Words of a page that has some. ", 20))
	}))
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	t.Setenv("READTHRU_DATA_DIR", filepath.Join(dir, "data"))
	t.Setenv("READTHRU_CONFIG", filepath.Join(dir, "config.yaml"))
	config := "fetch:\n  allow_private: true\nmarkdown_new:\n  mode: \"off\"\nrender:\n  mode: never\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "hostile.txt")
	if err := os.WriteFile(file, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"fetch --format html " + origin.URL, "fetch " + origin.URL, "fetch --json " + origin.URL, "pages", "visits",
		"search words", "search --json words", "pages show " + origin.URL, "cache get " + origin.URL,
		"context show", "context list", "detect https://a.test/\x1b[2J\u202e KEEP", "nosuch\x1b[2J\u202e", "convert " + file,
		"kb list\x1b[2J",
	} {
		tty, shown := newTerminal(t)
		run(context.Background(), append([]string{"readthru"}, strings.SplitN(args, " ", 4)...),
			terminal.Streams{In: strings.NewReader(""), Out: terminal.OnScreen(tty), Err: terminal.OnScreen(tty)})
		text := strings.ReplaceAll(shown(), "\r\n", "\n") // a terminal's own line ends
		if terminal.Printable(text) != text {
			t.Errorf("readthru %+q shows %+q", args, text)
		}
		if text == "" {
			t.Errorf("readthru %+q shows nothing", args)
		}
	}
}

func TestACharacterMayBeWrittenInPieces(t *testing.T) {
	tty, shown := newTerminal(t)
	s := terminal.OnScreen(tty)
	for _, b := range []byte("aé–\U0001f600\u202ez\x1b\n") {
		if n, err := s.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := shown(); got != "aé–\U0001f600z\r\n" {
		t.Errorf("shown %+q", got)
	}
}
