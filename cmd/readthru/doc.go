// Readthru is a local caching forward proxy for agents.
//
// An agent that uses it as its proxy reads the web as markdown: every page is cleaned and converted, cached as HTTP
// allows (RFC 9111), and stored with its versions and visits. Everything else passes unchanged.
//
//	readthru run -- curl -s https://go.dev/doc/     one command through the proxy, nothing to set up
//	readthru serve                                  the daemon: proxy on 127.0.0.1:7887, admin on 127.0.0.1:7888
//	eval "$(readthru env)"                          the environment that makes a shell use it
//	readthru fetch https://go.dev/doc/              one page, no proxy settings needed
//	readthru stop                                   end the daemon
//	readthru doctor                                 what works on this machine, and remedies
//
// Commands that read the store ask the running daemon; if none runs, they open the store themselves.
//
// Data goes to standard output and everything else to standard error. The exit status is 0 for success, 1 for failure
// and 2 for a mistake in the command line or the configuration; run exits with the status of the command it ran.
//
// # Who owns what
//
//   - which rules there are, and which comes first: core.rules (wire.go)
//   - whether everything is passed on, or no origin is contacted: core (wire.go), core.apply (wire.go)
//   - which keys of the configuration change while the daemon runs: liveKeys (config_live.go)
//   - whether the environment names the network's proxy, and not ours: environmentProxy (config_environment.go)
//   - how much memory the parts may use: planMemory (memory.go)
//   - which daemon a command uses, and when it starts or replaces one: openOrShare (share.go)
//   - the token of the admin port, and where commands find it: adminToken (admintoken.go), findDaemon (daemon.go)
//   - how a program that was installed is upgraded: upgradeOf (upgrade.go)
//   - what readthru did on this machine, and how it is undone: program.undoings (uninstall.go)
//   - what an agent reads when its session begins: program.sessionStart (hookstart.go), keptPages (kept.go)
//   - what a terminal may receive: screen (screen.go), as standard output and standard error
//   - how cells of a table are cut: cut (table.go)
package main
