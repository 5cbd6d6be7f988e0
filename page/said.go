package page

import (
	"strings"

	"github.com/readthru/readthru/internal/clip"
)

// maxSaid is how much is told of a server's message, in characters.
const maxSaid = 300

// Said returns what a server that got a key says in an error, as logs and error texts may have it: a short line, with
// the mask wherever the key stands. The key is masked first, for what is cut may end within it.
func Said(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, SecretMask)
	}
	return clip.Line(text, maxSaid)
}
