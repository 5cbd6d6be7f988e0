// Package setup has the commands that set up this machine, its agents and its system, look whether all works, and undo
// it; and the hook that agents call.
//
// # Who owns what
//
//   - how a program that was installed is upgraded: upgradeOf (upgrade.go)
//   - what readthru did on this machine, and how it is undone: program.undoings (uninstall.go)
//   - what an agent reads when its session begins: program.sessionStart (hookstart.go)
package setup
