package fleet

// RenditionID is what a rendition has as its id in the database.
var RenditionID = renditionID
