// Package annotation keeps what passages say: statements about them, made by a model or from the text alone, with
// look-ups by frame and by subject. It knows neither bases nor the index: [Options] says which documents are described,
// and who wants to know that a passage is gone.
//
// An [Annotator] works through a queue in the background, see [Job]; search never needs it.
package annotation
