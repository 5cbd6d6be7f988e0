package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
)

// standardLog sends the standard log and slog's default to l. The standard library's messages, mostly about connections
// that misbehave, have level debug.
func standardLog(l *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(l)
}

// askedLog returns the log of a command that uses standard error, w, for other things: it discards messages unless
// log.level is set. It becomes the standard log.
func askedLog(w io.Writer, s *settings) *slog.Logger {
	log := slog.New(slog.DiscardHandler)
	if s.source["log.level"] != "default" {
		log = logger(w, s, levelOf(s))
	}
	standardLog(log)
	return log
}

// logger returns a log that writes to w in log.format from level on: colours on a terminal, else key=value or JSON.
func logger(w io.Writer, s *settings, level slog.Leveler) *slog.Logger {
	switch {
	case s.Log.Format == "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	case s.Log.Format == "auto" && terminal(w) && os.Getenv("NO_COLOR") == "":
		return slog.New(tint.NewTextHandler(unfiltered(w), &tint.Options{Level: level, TimeFormat: "15:04:05"}))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// levelOf returns log.level.
func levelOf(s *settings) slog.Level {
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
