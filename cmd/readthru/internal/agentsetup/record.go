package agentsetup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/wholefile"
)

// JournalFile returns the file of the record. Each directory of settings that an agent is told to use has its own, so
// that the setup of a second one does not take the first one's back.
func (in *Setup) JournalFile() string {
	if in.Record != "" {
		return in.Record
	}
	name, m := string(in.Agent), thisMachine()
	plain := m
	plain.Getenv = func(string) string { return "" }
	if dir := m.Dir(in.Agent); dir != plain.Dir(in.Agent) {
		sum := sha256.Sum256([]byte(dir))
		name += "-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(in.Settings.DataDir, "setup", name+".json")
}

// journal reads the record of an agent's earlier setup; an empty one if there was none.
func (in *Setup) journal() (j setupRecord, err error) {
	text, err := os.ReadFile(in.JournalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	if err != nil {
		return j, terminal.WithHint(fmt.Errorf("read the record of the earlier setup: %w", err),
			"remove "+in.JournalFile()+": setup then recognises its own settings by their text")
	}
	return j, nil
}

// keep writes the record of an agent's setup, by which it can be taken back to the byte.
func (in *Setup) keep(j setupRecord) error {
	text, err := json.MarshalIndent(j, "", "  ")
	if err == nil {
		err = settings.MakeDataDir(in.Settings.DataDir)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(in.JournalFile()), 0o700)
	}
	if err != nil {
		return fmt.Errorf("record the setup: %w", err)
	}
	return wholefile.Write(in.JournalFile(), append(text, '\n'), 0o600)
}
