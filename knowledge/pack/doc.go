// Package pack is the form of a knowledge base in one signed file. It knows no knowledge bases: who packs one gives the
// documents to a [Writer]; who unpacks one calls [Verify] first, decides about the signer, and then reads a [Reader].
package pack
