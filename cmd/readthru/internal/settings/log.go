package settings

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// StandardLog sends the standard log and slog's default to l. The standard library's messages, mostly about connections
// that misbehave, have level debug.
func StandardLog(l *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(l)
}

// AskedLog returns the log of a command that uses standard error, w, for other things: it discards messages unless
// log.level is set. It becomes the standard log.
func AskedLog(w io.Writer, s *Settings) *slog.Logger {
	log := slog.New(slog.DiscardHandler)
	if s.Source["log.level"] != "default" {
		log = Logger(w, s, Level(s))
	}
	StandardLog(log)
	return log
}

// Logger returns a log that writes to w in log.format from level on: colours on a terminal, else key=value or JSON.
func Logger(w io.Writer, s *Settings, level slog.Leveler) *slog.Logger {
	switch {
	case s.Log.Format == "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	case s.Log.Format == "auto" && terminal.Is(w) && os.Getenv("NO_COLOR") == "":
		return slog.New(tint.NewTextHandler(terminal.Unfiltered(w), &tint.Options{Level: level, TimeFormat: "15:04:05"}))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// Level returns log.level; info for a value that is none.
func Level(s *Settings) slog.Level {
	switch s.Log.Level {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}
