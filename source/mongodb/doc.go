// Package mongodb streams a MongoDB collection by its change stream: first a copy, then every change in the stream's
// order.
//
// # Concepts
//
// A snapshot notes the cluster's operation time, then reads ranges of _id side by side, each from the index in its
// order, so that a document is read once whatever writers do. The stream begins after that time. What it repeats of the
// changes made during the copy it delivers as one unit, so that readers of the table never see a document go back.
//
// A position is a resume token, or before the first one the operation time, with the collection's UUID. Nothing is kept
// at the source for a stream; the oplog must reach back to the position.
//
// Inserts, replacements and updates carry the document: as it was after the change where the collection keeps such
// images, else as it is when the server looks it up, and then a document that is gone by then counts as deleted. Events
// larger than 16 MB arrive in fragments that [assembly] puts together.
//
// Documents have no schema: a column takes the field of its name, or one at a path, and one column may take the whole
// document as extended JSON. One decoder serves the copy and the stream ([decoder]). An _id of any type makes a TEXT
// key: equal for those that MongoDB holds equal, different for others (key.go).
//
// A goroutine of its own reads the server's answers ahead ([feed]). After an election or a lost connection the driver
// opens the cursor again where it was.
//
// # Invariants
//
//   - Nothing at the source is changed.
//   - A boundary never cuts a transaction or a split event, and never lies within what overlaps with the snapshot.
//   - The position moves past what the server has searched, changes or not, so that an idle stream's position does not
//     fall out of the oplog.
//   - A collection that was dropped, renamed or made anew, and a position the oplog has forgotten, are permanent errors;
//     events of a drop are believed only when the collection is gone.
//   - A value is stored exactly, or the stream stops with an error that names its column, or with on_misfit = 'null'
//     it becomes NULL and is counted: nothing is rounded or cut. A key is never NULL.
//   - After an error the stream yields what came whole before it, and then the error for ever.
//   - At most three answers of the server (16 MB each) and one run of rows are held.
//
// # Adding a type
//
// Say in decode.go which BSON types a column of it takes and when a value fits, in docs/sources/mongodb.md the same, and
// add cases to TestEveryTypeIntoEveryColumn.
package mongodb
