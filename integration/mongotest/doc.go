// Package mongotest starts a server that speaks MongoDB's protocol, change streams included, for tests.
//
// # Concepts
//
// No MongoDB server can be installed where the tests run, so CdcServer.java makes one of mongo-java-server: a replica
// set of one member with change streams over collections, databases and the deployment, resume tokens, images of
// documents, transactions, split events, invalidation and a trimmed oplog. It follows MongoDB's documentation; it has
// never been compared with a real server. Commands that begin with test bring about what a test cannot wait for.
//
// [Database] gives a test a database of its own on the server that the tests of a package share. Maven fetches the
// libraries once into .cache/mongodb in the repository, where the compiled class lies too.
//
// # Invariants
//
//   - The server listens on 127.0.0.1 only, on a free port, keeps everything in memory and ends with the tests.
//   - Known to differ from MongoDB: writes of a transaction show at once, an aborted one keeps its data and only loses
//     its events, nothing survives a restart, and read concerns are ignored.
//
// # Adding a command
//
// Add a case to handle in CdcServer.java; names of what MongoDB does not have begin with test.
package mongotest
