package engine

import (
	"context"

	"github.com/tidemarkdb/tidemark/sql"
	"github.com/tidemarkdb/tidemark/sqlerr"
)

// inert are settings of PostgreSQL and DuckDB that scripts set and that change no result: they are kept and shown.
var inert = []string{
	// DuckDB
	"arrow_large_buffer_size", "checkpoint_threshold", "debug_window_mode", "default_collation", "default_order",
	"disabled_optimizers", "enable_external_access", "enable_http_metadata_cache", "enable_object_cache",
	"enable_profiling", "enable_progress_bar", "errors_as_json", "explain_output", "external_threads",
	"force_compression", "immediate_transaction_mode", "integer_division", "max_memory", "max_temp_directory_size",
	"memory_limit", "nested_loop_join_threshold", "merge_join_threshold", "ordered_aggregate_threshold",
	"perfect_ht_threshold", "pivot_filter_threshold", "prefer_range_joins", "preserve_insertion_order",
	"profiling_mode", "scalar_subquery_error_on_multiple_rows", "storage_compatibility_version", "temp_directory",
	"threads", "wal_autocheckpoint", "worker_threads", "autoinstall_known_extensions", "autoload_known_extensions",
	"enable_verification", "verify_external", "verify_parallelism", "log_query_path",
	// PostgreSQL
	"bytea_output", "check_function_bodies", "client_min_messages", "cpu_tuple_cost", "default_table_access_method",
	"default_tablespace", "default_transaction_read_only", "effective_cache_size", "enable_bitmapscan",
	"enable_hashagg", "enable_hashjoin", "enable_indexonlyscan", "enable_indexscan", "enable_material",
	"enable_memoize", "enable_mergejoin", "enable_nestloop", "enable_parallel_append", "enable_parallel_hash",
	"enable_partition_pruning", "enable_seqscan", "enable_sort", "enable_tidscan", "escape_string_warning",
	"force_parallel_mode", "from_collapse_limit", "geqo", "idle_in_transaction_session_timeout", "jit",
	"join_collapse_limit", "lc_messages", "lc_monetary", "lc_numeric", "lc_time", "lock_timeout",
	"max_parallel_workers", "max_parallel_workers_per_gather", "min_parallel_table_scan_size",
	"parallel_leader_participation", "parallel_setup_cost", "parallel_tuple_cost", "plan_cache_mode",
	"random_page_cost", "role", "row_security", "seq_page_cost", "session_authorization", "session_replication_role",
	"synchronous_commit", "transaction_isolation", "transaction_read_only", "work_mem", "xmloption",
}

func init() {
	for _, name := range inert {
		if _, known := settings[name]; !known {
			settings[name] = setting{SessionScope, "", "accepted from clients; without effect here", anyText}
		}
	}
	// NULLs sort as in PostgreSQL. Asking for that is fine, asking for another order must not pass in silence.
	nulls := setting{SessionScope, "nulls_last_on_asc_first_on_desc", "place of NULLs where ORDER BY does not say it: PostgreSQL's only",
		oneOf("nulls_last_on_asc_first_on_desc", "postgres")}
	settings["default_null_order"], settings["null_order"] = nulls, nulls
}

// pragma sets the setting of that name where there is one. Others tune DuckDB and are accepted without effect; those
// that return rows are not.
func (s *Session) pragma(ctx context.Context, t *sql.Pragma) (*Result, error) {
	switch t.Name {
	case "show_tables":
		return s.show(ctx, &sql.Show{Kind: sql.ShowTables, Pos: t.Pos})
	case "table_info", "show", "show_tables_expanded", "storage_info", "database_list", "database_size", "collations",
		"functions", "version", "platform", "user_agent", "metadata_info", "show_databases":
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "PRAGMA %s is not supported", t.Name).
			Hintf("use DESCRIBE, SHOW or information_schema").At(t.Pos)
	}
	if _, known := settings[t.Name]; known && len(t.Values) == 1 {
		if _, err := s.configure(ctx, &sql.Set{Name: t.Name, Values: t.Values, Pos: t.Pos}); err != nil {
			return nil, err
		}
	}
	return done("PRAGMA"), nil
}
