"""A database's schema as PostgreSQL's own catalogs tell it, to be compared."""

from __future__ import annotations

from sqlalchemy import Connection, text

_COLUMNS = """
    SELECT format('column %s.%s', c.relname, a.attname) AS what,
           concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                     nullif(a.attidentity, ''), pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)) AS how
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"""
_NAMES = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped"
_TABLES = """
    SELECT format('table %s', relname), concat_ws(' ', relpersistence, reloptions::text, obj_description(oid), pg_get_partkeydef(oid),
                                              pg_get_expr(relpartbound, oid))
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"""
_INDEXES = """
    SELECT format('index %s', indexname), indexdef FROM pg_indexes WHERE schemaname = 'public'"""
_CONSTRAINTS = """
    SELECT format('constraint %s.%s', conrelid::regclass, conname), pg_get_constraintdef(oid)
      FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0"""
_SEQUENCES = """
    SELECT format('sequence %s', sequencename), concat_ws(' ', data_type, start_value, increment_by, cycle)
      FROM pg_sequences WHERE schemaname = 'public'"""
_ENUMS = """
    SELECT format('enum %s', typname), string_agg(enumlabel, ' ' ORDER BY enumsortorder)
      FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid GROUP BY typname"""
_FUNCTIONS = """
    SELECT format('function %s(%s)', proname, pg_get_function_identity_arguments(oid)), pg_get_functiondef(oid)
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace"""
_TRIGGERS = """
    SELECT format('trigger %s.%s', tgrelid::regclass, tgname), pg_get_triggerdef(oid)
      FROM pg_trigger WHERE NOT tgisinternal"""
_VIEWS = """
    SELECT format('view %s', viewname), definition FROM pg_views WHERE schemaname = 'public'"""
_ALL = (_COLUMNS, _TABLES, _VIEWS, _INDEXES, _CONSTRAINTS, _SEQUENCES, _ENUMS, _FUNCTIONS, _TRIGGERS)


def schema_of(connection: Connection, *, prefixes: tuple[str, ...] = ("",)) -> dict[str, str]:
    """What is there -> how it is defined.  prefixes: of the names that count."""
    rows = [row for statement in _ALL for row in connection.execute(text(statement))]
    return {what: how for what, how in rows if what.split(" ", 1)[1].startswith(prefixes)}


def enum_values(connection: Connection, name: str) -> list[str]:
    """Labels of an enum in their order."""
    return schema_of(connection)[f"enum {name}"].split()


def columns_of(connection: Connection, table: str) -> set[str]:
    """Names of the columns of a table or view."""
    return set(connection.execute(text(_NAMES), {"table": table}).scalars())
