// Package judge decides which blocks of text on a page are its content, by a model that was learnt from pages.
//
// Its door is [Choose]. The outline of a page has its blocks and the boxes they stand in (outline.go); each block has
// features (features.go), of which the model makes a chance (model.go); what is alike on the page is kept or dropped
// together (items.go, frame.go and others). [PlacesOf] says where that leaves the content.
//
// TestTrainModel makes the model; see train_internal_test.go.
//
// # Who owns what
//
//   - which blocks are the price of what a page sells: keepPrice (price.go)
//   - which lines and links around an article belong to its site: frame.go
package judge
