// Package pmap is an immutable ordered map whose versions share structure.
//
// # Concepts
//
// A [Map] never changes. [Map.Edit] starts a changed copy in constant time; the [Editor] copies only the nodes on the
// paths it touches, and [Editor.Map] ends it.
//
// # Invariants
//
// Reading a Map needs no lock, whatever editors of it are doing. An Editor belongs to one goroutine.
//
// # Adding an operation
//
// Add reads to Map and writes to Editor; a write never reaches a node it did not copy.
package pmap

import (
	"cmp"
	"iter"
	"sync"

	"github.com/tidwall/btree"
)

// Map is an immutable map in key order. The zero Map is empty.
type Map[K cmp.Ordered, V any] struct{ tree *btree.Map[K, V] }

// Editor is a Map being changed.
type Editor[K cmp.Ordered, V any] struct{ tree *btree.Map[K, V] }

// copying serialises the copies, which mark their source as shared; readers do not look at the mark.
var copying sync.Mutex

// Len returns the number of entries.
func (m Map[K, V]) Len() int {
	if m.tree == nil {
		return 0
	}
	return m.tree.Len()
}

// Get returns the value of a key and whether there is one.
func (m Map[K, V]) Get(key K) (V, bool) {
	if m.tree == nil {
		var none V
		return none, false
	}
	return m.tree.Get(key)
}

// All yields the entries in key order.
func (m Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m.tree != nil {
			m.tree.Scan(yield)
		}
	}
}

// From yields the entries whose key is at least the given one, in key order.
func (m Map[K, V]) From(key K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m.tree != nil {
			m.tree.Ascend(key, yield)
		}
	}
}

// Max returns the entry with the largest key and whether there is one.
func (m Map[K, V]) Max() (key K, value V, ok bool) {
	if m.tree == nil {
		return key, value, false
	}
	return m.tree.Max()
}

// Same reports whether m and o are the same version: cheap, and false for equal maps built apart.
func (m Map[K, V]) Same(o Map[K, V]) bool { return m.tree == o.tree }

// Edit starts a changed copy.
func (m Map[K, V]) Edit() *Editor[K, V] {
	if m.tree == nil {
		return &Editor[K, V]{new(btree.Map[K, V])}
	}
	copying.Lock()
	defer copying.Unlock()
	return &Editor[K, V]{m.tree.Copy()}
}

// Get returns the value of a key and whether there is one.
func (e *Editor[K, V]) Get(key K) (V, bool) { return e.tree.Get(key) }

// Len returns the number of entries.
func (e *Editor[K, V]) Len() int { return e.tree.Len() }

// Set adds or replaces an entry.
func (e *Editor[K, V]) Set(key K, value V) { e.tree.Set(key, value) }

// Append adds an entry; it is fastest when the key sorts after all others.
func (e *Editor[K, V]) Append(key K, value V) { e.tree.Load(key, value) }

// Delete removes an entry and returns its value and whether it was there.
func (e *Editor[K, V]) Delete(key K) (V, bool) { return e.tree.Delete(key) }

// Map returns the changed map; the editor must not be used afterwards.
func (e *Editor[K, V]) Map() Map[K, V] {
	m := Map[K, V]{e.tree}
	e.tree = nil
	return m
}
