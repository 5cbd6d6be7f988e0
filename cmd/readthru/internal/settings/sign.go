package settings

import (
	"path/filepath"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/botauth"
)

// Signer returns what signs own requests, or nil if nothing does. Without fetch.sign.key its key is in the data
// directory.
func (s *Settings) Signer(dir string) (*botauth.Signer, error) {
	if s.Fetch.Sign.Directory == "" {
		return nil, nil
	}
	file := s.Fetch.Sign.Key
	if file == "" {
		file = filepath.Join(dir, "bot.key")
	}
	signer, err := botauth.New(file, s.Fetch.Sign.Directory)
	if err != nil {
		return nil, terminal.WithHint(err,
			"fetch.sign.key names the file of an Ed25519 key, which is made if there is none; "+
				"without fetch.sign.directory nothing is signed")
	}
	return signer, nil
}
