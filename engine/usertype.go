package engine

import (
	"context"
	"slices"

	"github.com/tidemarkdb/tidemark/catalog"
	"github.com/tidemarkdb/tidemark/plan"
	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
	"github.com/tidemarkdb/tidemark/tablet"
	"github.com/tidemarkdb/tidemark/vec"
)

// userTypes are the types of a snapshot as a session finds them. It implements plan.TypeCatalog.
type userTypes struct {
	session  *Session
	snapshot *catalog.Snapshot
}

// UserType implements plan.TypeCatalog.
func (u userTypes) UserType(schema, name string) (vec.Type, bool) {
	path := []string{schema}
	if schema == "" {
		path = u.session.searchPath()
	}
	for _, schema := range path {
		if t, err := u.snapshot.UserType(known(u.snapshot, schema), name); err == nil {
			return t.Type(), true
		}
	}
	return vec.Type{}, false
}

// UserType implements plan.TypeCatalog.
func (r *relations) UserType(schema, name string) (vec.Type, bool) {
	return userTypes{r.session, r.snapshot}.UserType(schema, name)
}

// UserType implements plan.TypeCatalog.
func (n namedRelations) UserType(schema, name string) (vec.Type, bool) {
	if types, ok := n.Catalog.(plan.TypeCatalog); ok {
		return types.UserType(schema, name)
	}
	return vec.Type{}, false
}

// typeOf returns the type that a statement names.
func (s *Session) typeOf(n sql.TypeName) (vec.Type, error) {
	snapshot, release := s.snapshot()
	defer release()
	return plan.TypeIn(userTypes{s, snapshot}, n)
}

// createType runs CREATE TYPE ... AS ENUM.
func (s *Session) createType(ctx context.Context, snapshot *catalog.Snapshot, t *sql.CreateType) error {
	o, err := s.target(snapshot, t.Name)
	if err != nil {
		return err
	}
	if _, err := plan.TypeOf(sql.TypeName{Name: o.name}); err == nil {
		return sqlerr.New(sqlerr.DuplicateObject, "type %q already exists", o.name).Hintf("it is built in: choose another name").At(t.Name.Position())
	}
	return s.commit(ctx, &catalog.CreateType{Type: catalog.UserType{Schema: o.schema, Name: o.name, Labels: t.Labels}, IfNotExists: t.IfNotExists})
}

// userType finds a type of CREATE TYPE.
func (s *Session) userType(snapshot *catalog.Snapshot, n sql.Name) (*catalog.UserType, error) {
	o, err := split(n)
	if err != nil {
		return nil, err
	}
	path := []string{o.schema}
	if o.schema == "" {
		path = s.searchPath()
	}
	for _, schema := range path {
		if t, err := snapshot.UserType(known(snapshot, schema), o.name); err == nil {
			return t, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "type %q does not exist", o.name).Hintf("CREATE TYPE makes it").At(n.Position())
}

// dropTypes runs DROP TYPE. With CASCADE the columns of the type go too.
func (s *Session) dropTypes(ctx context.Context, t *sql.Drop) error {
	return s.atomically(ctx, func() error {
		for _, name := range t.Names {
			snapshot, release := s.snapshot()
			found, err := s.userType(snapshot, name)
			release()
			if err != nil {
				if t.IfExists && missingOK(err) {
					continue
				}
				return err
			}
			if t.Cascade {
				if err := s.dropColumnsOf(ctx, snapshot, found); err != nil {
					return err
				}
			}
			if err := s.commit(ctx, &catalog.DropType{Schema: found.Schema, Name: found.Name}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Session) dropColumnsOf(ctx context.Context, snapshot *catalog.Snapshot, t *catalog.UserType) error {
	for table := range snapshot.Tables("") {
		for _, c := range t.Columns(table) {
			now, err := s.tableNow(table.ID)
			if err != nil {
				return err
			}
			columns := slices.DeleteFunc(slices.Clone(now.Columns), func(k tablet.Column) bool { return k.FieldID == c.FieldID })
			if err := s.putColumns(ctx, now, columns, now.PrimaryIndex, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// alterEnum runs ALTER TYPE.
func (s *Session) alterEnum(ctx context.Context, snapshot *catalog.Snapshot, t *sql.AlterEnum) error {
	found, err := s.userType(snapshot, t.Name)
	if err != nil {
		return err
	}
	if t.RenameTo.Name != "" || t.SetSchema.Name != "" {
		return s.atomically(ctx, func() error { return s.renameType(ctx, found, t) })
	}
	missing := func(label string) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "%q is not an existing enum label", label).
			Hintf("enum_range(NULL::%s) lists those there are", found.Name).At(t.Pos)
	}
	if t.Old != "" {
		if !slices.Contains(found.Labels, t.Old) {
			return missing(t.Old)
		}
		if slices.Contains(found.Labels, t.Label) {
			return sqlerr.New(sqlerr.DuplicateObject, "enum label %q already exists", t.Label).Hintf("choose another").At(t.Pos)
		}
		return s.atomically(ctx, func() error { return s.renameLabel(ctx, found, t.Old, t.Label) })
	}
	if slices.Contains(found.Labels, t.Label) {
		if t.IfNotExists {
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateObject, "enum label %q already exists", t.Label).Hintf("choose another").At(t.Pos)
	}
	at := len(found.Labels)
	switch {
	case t.Before != "":
		if at = slices.Index(found.Labels, t.Before); at < 0 {
			return missing(t.Before)
		}
	case t.After != "":
		if at = slices.Index(found.Labels, t.After) + 1; at == 0 {
			return missing(t.After)
		}
	}
	altered := *found
	altered.Labels = slices.Insert(slices.Clone(found.Labels), at, t.Label)
	return s.commit(ctx, &catalog.AlterType{Type: altered})
}
