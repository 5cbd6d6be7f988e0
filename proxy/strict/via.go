package strict

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Via is our part of the Via field (RFC 9110 §7.6.3), by which the proxy knows its own messages when they come back.
type Via struct {
	pseudonym string // our name; new with each process, so that two readthrus in a chain are no loop
	v11       string // our entry for HTTP/1.1, the most frequent one
}

// NewVia returns the entry in Via of a new process of the proxy, with a random name. A proxy has one for as long as it
// runs.
func NewVia() Via {
	id := make([]byte, 4)
	rand.Read(id)
	name := "readthru-" + hex.EncodeToString(id)
	return Via{name, "1.1 " + name}
}

// entry returns our entry in Via for a message received with this protocol version. HTTP/2 and later have no minor
// version there.
func (v Via) entry(major, minor int) string {
	switch {
	case major == 1 && minor == 1:
		return v.v11
	case major >= 2:
		return fmt.Sprintf("%d %s", major, v.pseudonym)
	}
	return fmt.Sprintf("%d.%d %s", major, minor, v.pseudonym)
}

// Add appends our entry to the Via field of a message that is forwarded, received with this protocol version. It never
// writes into the slice of values that the message came with, which other copies of the header may share.
func (v Via) Add(h http.Header, major, minor int) {
	lines := h["Via"]
	h["Via"] = append(slices.Clip(lines), v.entry(major, minor))
}

// Looped refuses a request that this proxy has already forwarded: its Via field has our entry. Without this, two
// proxies that are configured to use each other send one request around until no connection is left.
func (v Via) Looped(h http.Header) *Refusal {
	for _, line := range h["Via"] {
		for entry := range strings.SplitSeq(line, ",") {
			if words := strings.Fields(entry); len(words) >= 2 && words[1] == v.pseudonym {
				return &Refusal{
					Status: http.StatusLoopDetected, Title: "Loop", ProxyError: "proxy_loop_detected",
					Detail: "Proxy loop: the request came back to the proxy that forwarded it. " +
						"Another proxy on its way is configured to use this one.",
				}
			}
		}
	}
	return nil
}
