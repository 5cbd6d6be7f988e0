// Package terminal is what a command says: lines, tables and progress on a terminal that gets no control characters,
// questions, and mistakes with the hint that says what to do about them.
//
// # Who owns what
//
//   - what a terminal may receive: screen (screen.go), as standard output and standard error
//   - how cells of a table are cut: Cut (table.go)
//   - which remedy an error has: HintOf (hint.go)
package terminal
