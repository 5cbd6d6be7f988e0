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
// Its packages, each of which may use those before it: terminal says things to people; settings is the configuration;
// daemon finds, starts and stops the daemon; agentsetup changes agents' settings; wiring makes a program of the parts;
// command is what commands share; and read, remember, watch, setup and operate have the commands, as the help groups
// them. This one has the table of commands.
package main
