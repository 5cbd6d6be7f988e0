package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/readthru/readthru/internal/wholefile"
)

// journalFile returns the file of the record. Each directory of settings that an agent is told to use has its own, so
// that the setup of a second one does not take the first one's back.
func (in *installation) journalFile() string {
	if in.record != "" {
		return in.record
	}
	name, m := string(in.agent), thisMachine()
	plain := m
	plain.Getenv = func(string) string { return "" }
	if dir := m.Dir(in.agent); dir != plain.Dir(in.agent) {
		sum := sha256.Sum256([]byte(dir))
		name += "-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(in.settings.dataDir, "setup", name+".json")
}

// journal reads the record of an earlier setup.
func (in *installation) journal() (j setupRecord, err error) {
	text, err := os.ReadFile(in.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	if err != nil {
		return j, withHint(fmt.Errorf("read the record of the earlier setup: %w", err),
			"remove "+in.journalFile()+": setup then recognises its own settings by their text")
	}
	return j, nil
}

// keep writes the record of a setup.
func (in *installation) keep(j setupRecord) error {
	text, err := json.MarshalIndent(j, "", "  ")
	if err == nil {
		err = makeDataDir(in.settings.dataDir)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(in.journalFile()), 0o700)
	}
	if err != nil {
		return fmt.Errorf("record the setup: %w", err)
	}
	return wholefile.Write(in.journalFile(), append(text, '\n'), 0o600)
}
