// Package cascade folds what ingest staged into the base, in the background, and keeps the base well-shaped.
//
// # Concepts
//
// A cascade takes the staging tablets of one snapshot and their resolved masks, writes the masks down as committed
// ones, merges small staging tablets into well-sized ones, and moves all of them into the base in one commit that
// edits the log only ([Cascade.Run]). Afterwards, within a budget, [Cascade.Maintain] vacuums tablets with many masked
// rows, merges small base tablets, and merges the runs of the key index.
//
//	staging  --retired-->  nothing            every row superseded
//	         --adopted-->  base               well-sized: a re-parent, no row rewritten
//	         --consolidated--> base           small ones, merged in sort order
//
// # Invariants
//
//   - Appends never wait for a cascade: the commit stays valid when more of them land meanwhile.
//   - Nothing but commits makes an append wait: rewriting takes half of the cores at most, one at two, and lets an append
//     that is under way pass at its seams, commits included, for a bounded time.
//   - Maintenance keeps its budget, as [Cascade.Maintain] says.
//   - A query sees the state before a step or after it, and both hold the same live rows.
//   - A step that fails has changed nothing; its files are orphans that a sweep removes.
//
// # Adding a kind of maintenance
//
// Choose its candidates in policy.go, where the choice is a function of descriptions alone, and give it a step in
// maintain.go that ends in one commit.
package cascade
