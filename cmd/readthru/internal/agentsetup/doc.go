// Package agentsetup sets agents up: what their settings are to say, the change to each file, and the record by which
// it is undone to the byte.
package agentsetup
