package service

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

// written begins the first line of a unit, which has a sum of the other lines.
const written = "# readthru wrote this unit ("

// signed returns a unit, which somebody may have edited later, with a line before it that says where changes belong,
// and by which [CheckUnchanged] knows them.
func signed(unit, text string) string {
	return written + sum(text) + "). For changes of your own: systemctl --user edit " + unit + "\n" + text
}

// sum returns the hash by which edited units are known.
func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}

// CheckUnchanged returns an error if somebody changed one of the manager's files since it was written: writing it again
// would lose the change. A file that has no sum is not looked at.
func CheckUnchanged(m Manager) error {
	for _, name := range m.Files() {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it is not there, or whoever writes it says what is wrong
		}
		first, rest, _ := strings.Cut(string(text), "\n")
		was, found := strings.CutPrefix(first, written)
		if was, _, _ = strings.Cut(was, ")"); found && was != sum(rest) {
			return fmt.Errorf("%s was changed since readthru wrote it", name)
		}
	}
	return nil
}
