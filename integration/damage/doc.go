// Package damage proves that a damaged, missing or failing file is an error that names it, and never a wrong answer.
//
// # Concepts
//
// [TestEveryFileOfARoot] makes a root that has every kind of file, flips bytes of each file in turn or takes it away,
// and queries and checks the root. The other tests make writes fail under a running worker.
//
// # Invariants
//
// A query of a damaged root answers rightly or fails with an error that names the file.
//
// # Adding a kind of file
//
// Make the root of [TestEveryFileOfARoot] have one, and add it to kinds.
package damage
