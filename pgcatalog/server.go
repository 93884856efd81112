package pgcatalog

import (
	"github.com/tidemarkdb/tidemark/vec"
)

func serverRelations() []Relation {
	roleColumns := `rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, rolreplication bool,
		rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, rolbypassrls bool, rolconfig text[], oid oid`
	return []Relation{
		relation("pg_database", `oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool,
			datconnlimit int4, datfrozenxid int8, datminmxid int8, dattablespace oid, datcollate text, datctype text, daticulocale text,
			datcollversion text, datacl text[]`, func(_ *View, add func(values ...any)) {
			add(databaseOid, Database, ownerOid, 6, "c", false, true, -1, 0, 1, 1663, "C.UTF-8", "C.UTF-8", nil, nil, nil)
		}),
		relation("pg_roles", roleColumns, func(v *View, add func(values ...any)) {
			change := !v.Session.ReadOnly()
			add(v.Session.User(), change, true, false, false, true, false, -1, "********", nil, false, nil, ownerOid)
		}),
		relation("pg_user", `usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text,
			valuntil timestamptz, useconfig text[]`, func(v *View, add func(values ...any)) {
			add(v.Session.User(), ownerOid, false, !v.Session.ReadOnly(), false, false, "********", nil, nil)
		}),
		relation("pg_settings", `name text, setting text, unit text, category text, short_desc text, extra_desc text, context text,
			vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, sourcefile text,
			sourceline int4, pending_restart bool`, fillSettings),
		relation("pg_stat_activity", `datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text,
			client_addr text, client_hostname text, client_port int4, backend_start timestamptz, xact_start timestamptz,
			query_start timestamptz, state_change timestamptz, wait_event_type text, wait_event text, state text, backend_xid int8,
			backend_xmin int8, query_id int8, query text, backend_type text`, fillActivity),
		relation("pg_tablespace", "oid oid, spcname name, spcowner oid, spcacl text[], spcoptions text[]", func(_ *View, add func(values ...any)) {
			add(1663, "pg_default", ownerOid, nil, nil)
		}),
		relation("pg_am", "oid oid, amname name, amhandler text, amtype char", func(_ *View, add func(values ...any)) {
			add(2, "heap", "heap_tableam_handler", "t")
			add(403, "btree", "bthandler", "i")
		}),
		relation("pg_language", "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool", func(_ *View, add func(values ...any)) {
			add(12, "internal", ownerOid, false, false)
			add(14, "sql", ownerOid, false, true)
		}),
		relation("pg_collation", `oid oid, collname name, collnamespace oid, collowner oid, collprovider char, collisdeterministic bool,
			collencoding int4, collcollate text, collctype text, colliculocale text, collversion text`, func(_ *View, add func(values ...any)) {
			add(100, "default", catalogSchemaOid, ownerOid, "d", true, -1, nil, nil, nil, nil)
			add(950, "C", catalogSchemaOid, ownerOid, "c", true, -1, "C", "C", nil, nil)
		}),
	}
}

func fillSettings(v *View, add func(values ...any)) {
	for _, s := range v.Session.Settings() {
		context, source := "user", "default"
		if s.Server {
			context = "superuser"
		}
		if s.Value != s.Initial {
			source = "session"
		}
		add(s.Name, s.Value, nil, "Tidemark", s.Description, nil, context, "string", source, nil, nil, nil, s.Initial, s.Initial, nil, nil, false)
	}
}

func fillActivity(v *View, add func(values ...any)) {
	for _, s := range v.Session.Statements() {
		at := vec.IntValue(vec.TimestampTZType, s.StartedMicros)
		add(databaseOid, Database, s.ID, nil, ownerOid, s.User, nil, nil, nil, nil, at, at, at, at, nil, nil, "active", nil, nil, nil, s.Text,
			"client backend")
	}
}
