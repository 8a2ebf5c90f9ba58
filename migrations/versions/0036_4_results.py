"""Results: what is stored by content, specifications with their documents, words and links, and bookmarks."""

from pathlib import Path

from alembic import op

revision = "0036.4"
down_revision = "0036.3"


def upgrade() -> None:
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("""
        DROP VIEW job_records, analysis_files;
        DROP TABLE bookmarks, spec_shares, spec_words, spec_features, spec_documents, spec_requests,
            analysis_file_lists, file_list_entries, file_lists, file_inventories, blob_facts""")
