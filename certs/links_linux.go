package certs

import (
	"path/filepath"

	"github.com/smallstep/truststore"
)

// leaveNoLinks makes update-ca-certificates build /etc/ssl/certs anew, in which it otherwise leaves links to what was
// removed, until undo is called.
func leaveNoLinks() (undo func()) {
	command := truststore.SystemTrustCommand
	if len(command) == 1 && filepath.Base(command[0]) == "update-ca-certificates" {
		truststore.SystemTrustCommand = []string{command[0], "--fresh"}
	}
	return func() { truststore.SystemTrustCommand = command }
}
