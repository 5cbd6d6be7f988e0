package fleet

// RenditionID is what a rendition has as its id in the database.
var RenditionID = renditionID

// ShareableURI reports whether nodes may learn of a URI.
var ShareableURI = shareableURI
