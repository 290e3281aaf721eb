"""Reads a folder of Parquet files with DuckDB, and prints its rows as `concord index export` prints them: lines of JSON.

usage: parquet_rows.py FOLDER
"""

import json
import sys

import duckdb

EXPECTED = [
    ("position", "VARCHAR"),
    ("chain", "VARCHAR"),
    ("identityRegistry", "VARCHAR"),
    ("registry", "VARCHAR"),
    ("block", "BIGINT"),
    ("transaction", "VARCHAR"),
    ("time", "BIGINT"),
    ("event", "VARCHAR"),
    ("agent", "VARCHAR"),
    ("client", "VARCHAR"),
    ("fields", "VARCHAR"),
]


def main(folder: str) -> None:
    connection = duckdb.connect()
    rows = connection.read_parquet(f"{folder}/*.parquet")
    found = list(zip(rows.columns, map(str, rows.types)))
    assert found == EXPECTED, found
    for values in rows.order("position").fetchall():
        row = dict(zip(rows.columns, values))
        row["fields"] = json.loads(row["fields"])
        for name in ("agent", "client"):
            column = row.pop(name)
            assert column == row["fields"].get(name), (name, column)
        row["block"] = str(row["block"])
        print(json.dumps(row))
    check_statistics(connection, folder)


def check_statistics(connection: duckdb.DuckDBPyConnection, folder: str) -> None:
    """Readers skip groups of rows by minima and maxima: they must be those of the rows."""
    files = f"'{folder}/*.parquet'"
    groups = "path_in_schema, stats_min_value, stats_max_value, stats_null_count"
    statistics = connection.execute(f"SELECT {groups} FROM parquet_metadata({files})").fetchall()
    for name, kind in EXPECTED:
        of_column = [row[1:] for row in statistics if row[0] == name]
        read = int if kind == "BIGINT" else str
        nulls = connection.execute(f"SELECT count(*) - count({name}) FROM {files}").fetchall()[0][0]
        assert sum(row[2] for row in of_column) == nulls, name
        bounded = [(read(row[0]), read(row[1])) for row in of_column if row[0] is not None]
        if name == "fields" or len(bounded) < len(of_column):
            continue  # long texts, or groups of nothing but nulls, have none
        whole = connection.execute(f"SELECT min({name}), max({name}) FROM {files}").fetchall()[0]
        assert (min(it[0] for it in bounded), max(it[1] for it in bounded)) == whole, name


if __name__ == "__main__":
    main(sys.argv[1])
