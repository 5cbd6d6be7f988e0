package journal

import "cmp"

// Reader says who got the answer, as well as is known: the session, else the user, the agent, or the address of the
// client.
func (e *Entry) Reader() string { return cmp.Or(e.Session, e.User, e.Agent, e.Client) }

// Unusual reports whether Why says more than the outcome does: hits are fresh, and of what is missed nothing was
// stored. What failed at its origin says so.
func (e *Entry) Unusual() bool {
	return e.Failed() || (e.Outcome != "hit" || e.Section != "RFC 9111 §4.2") &&
		(e.Outcome != "miss" || e.Section != "RFC 9111 §4")
}
