package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
)

// standardLog sends what packages write to the standard log, and to slog's default, to l. What the standard library has
// to say, of connections that misbehave for the most part, is for who debugs.
func standardLog(l *slog.Logger) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(l)
}

// askedLog is the log of a command whose standard error is for other things: one that discards, unless log.level was
// set. It is the standard log, too.
func (p *program) askedLog(s *settings) *slog.Logger {
	log := slog.New(slog.DiscardHandler)
	if s.source["log.level"] != "default" {
		log = logger(p.err, s)
	}
	standardLog(log)
	return log
}

// logger writes to w as log.format and log.level say: colours on a terminal, else key=value lines, or JSON.
func logger(w io.Writer, s *settings) *slog.Logger {
	var level slog.Level
	switch s.Log.Level {
	case "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	switch {
	case s.Log.Format == "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	case s.Log.Format == "auto" && terminal(w) && os.Getenv("NO_COLOR") == "":
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: "15:04:05"}))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
