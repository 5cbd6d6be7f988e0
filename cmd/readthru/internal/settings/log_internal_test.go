package settings

import (
	"log"
	"log/slog"
	"strings"
	"testing"
)

func TestTheStandardLogIsForWhoDebugs(t *testing.T) {
	before, out, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(before)
		slog.SetLogLoggerLevel(slog.LevelInfo)
		log.SetOutput(out)
		log.SetFlags(flags)
	})
	for _, tt := range []struct {
		level, format, want string
	}{
		{"info", "text", ""},
		{"debug", "text", `level=DEBUG msg="Unsolicited response received on idle HTTP channel"`},
		{"debug", "json", `"level":"DEBUG","msg":"Unsolicited response received on idle HTTP channel"`},
	} {
		var b strings.Builder
		s := &Settings{Config: Defaults()}
		s.Log.Level, s.Log.Format = tt.level, tt.format
		StandardLog(Logger(&b, s, Level(s)))
		log.Print("Unsolicited response received on idle HTTP channel")
		if got := b.String(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s, %s: %q, want %q", tt.level, tt.format, got, tt.want)
		}
	}
}
