// Package meaning finds the passages whose meaning is near to that of a text, by vectors that a model makes of both.
//
// [New] makes [Vectors] over the passages of an index, [Vectors.Run] keeps them up to date behind every request, and
// [Vectors.Meaning] ranks passages by them: near ones by package vector, and the best exactly. A model is tried on
// sentences of the passages themselves and trusted as far as it finds them (trial.go).
package meaning
