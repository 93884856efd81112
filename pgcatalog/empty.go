package pgcatalog

func emptyRelations() []Relation {
	return []Relation{
		none("pg_inherits", "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool"),
		none("pg_partitioned_table", "partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs int2[], partclass oid[], partcollation oid[], partexprs text"),
		none("pg_trigger", `oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, tgenabled char, tgisinternal bool,
			tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable bool, tginitdeferred bool, tgnargs int2, tgattr int2[],
			tgargs text, tgqual text, tgoldtable name, tgnewtable name`),
		none("pg_rewrite", "oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, is_instead bool, ev_qual text, ev_action text"),
		none("pg_policy", "oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles oid[], polqual text, polwithcheck text"),
		none("pg_policies", "schemaname name, tablename name, policyname name, permissive text, roles text[], cmd text, qual text, with_check text"),
		none("pg_depend", "classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4, deptype char"),
		none("pg_shdescription", "objoid oid, classoid oid, description text"),
		none("pg_seclabel", "objoid oid, classoid oid, objsubid int4, provider text, label text"),
		none("pg_extension", "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, extversion text, extconfig oid[], extcondition text[]"),
		none("pg_foreign_table", "ftrelid oid, ftserver oid, ftoptions text[]"),
		none("pg_foreign_server", "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, srvacl text[], srvoptions text[]"),
		none("pg_foreign_data_wrapper", "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl text[], fdwoptions text[]"),
		none("pg_matviews", "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, ispopulated bool, definition text"),
		none("pg_rules", "schemaname name, tablename name, rulename name, definition text"),
		none("pg_range", "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid, rngcanonical text, rngsubdiff text"),
		none("pg_opclass", "oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid, opcintype oid, opcdefault bool, opckeytype oid"),
		none("pg_statistic_ext", "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget int4, stxkeys int2[], stxkind text[], stxexprs text"),
		none("pg_publication", "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate bool, pubdelete bool, pubtruncate bool, pubviaroot bool"),
		none("pg_publication_rel", "oid oid, prpubid oid, prrelid oid, prqual text, prattrs int2[]"),
		none("pg_publication_namespace", "oid oid, pnpubid oid, pnnspid oid"),
		none("pg_auth_members", "roleid oid, member oid, grantor oid, admin_option bool"),
		none("pg_locks", "locktype text, database oid, relation oid, pid int4, mode text, granted bool"),
		none("pg_prepared_statements", "name text, statement text, prepare_time timestamptz, parameter_types text[], from_sql bool"),
	}
}
