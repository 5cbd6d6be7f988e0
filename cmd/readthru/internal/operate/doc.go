// Package operate has the commands for who runs a daemon: it and its switches, what is on disk, and users.
package operate
