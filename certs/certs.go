// Package certs signs for intercepted hosts.
//
// An [Authority] lives in one directory: a key that only its user can read, the certificate that clients are told to
// trust, and a bundle of the system's roots with ours for clients whose trust store can only be replaced. It is made on
// first use and is like no other: nothing here is shared between installations. [Authority.Leaf] gives the certificate
// for one host; [Authority.Install] hands ours to the trust stores of this system.
//
// Revocation is not checked by anybody here: leaves live seven days at most, and a lost key is answered by
// [Authority.Renew].
package certs
