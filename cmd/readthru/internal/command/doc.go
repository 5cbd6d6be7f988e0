// Package command is what the commands share: a program with its flags, a client of the daemon or of the store, flags
// that several have, and what follows a job or fetches several pages.
package command
