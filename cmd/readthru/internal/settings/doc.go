// Package settings is the configuration: its keys, where each value comes from, and what follows from it alone: where
// the data directory and the authority are, the environment that sends clients through the proxy, the log.
//
// # Who owns what
//
//   - which keys of the configuration change while the daemon runs: liveKeys (live.go)
//   - whether the environment names the network's proxy, and not ours: EnvironmentProxy (environment.go)
package settings
